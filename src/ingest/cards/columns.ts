// What the name of a column says of card data, by its words in whatever writing. Some names are certain. Others may mean it
// and often do not: those are judged by what stands below them.

import { CARD_CODES, CHECK_CODES } from '../../domain/card-words.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words as text } from '../../domain/words.ts'
import type { CsvRecord } from '../csv/records.ts'
import type { Header } from '../header.ts'

/**
 * `certain`: it means nothing else, and the column may hold nothing that can be it. `code`: a security code or PIN perhaps; `card`: that or a
 * card number; `expiry`: a card's, an invoice's or a voucher's.
 */
export type CardMeaning = 'certain' | 'code' | 'card' | 'expiry'

const ISSUED = 'credit|debit|bank|payment|charge|visa|mastercard|maestro|amex|kredit|zahlungs?|giro|ec|kk'
const OF_WHICH = 'bancaire|bancaria|de credit|de credito|di credito|de debito|di debito|bleue'
const CARD = `(?:(?:${ISSUED}) ?)?(?:cards?|cc|karten?|carte|tarjeta|carta|cartao|kaart)(?: (?:${OF_WHICH}))?`
/** Of these languages only: "no card" is not the number of one. */
const FOREIGN_CARD = `(?:(?:${ISSUED}) ?)?(?:karte|carte|tarjeta|carta|cartao)`
const NUMBER = 'numbers?|numb|nbr|num|no|nr|nummer|numero|number'
const OF = '(?: ?(?:of|der|des|de|della|di|da|du|do|d))?(?: ?(?:the|la|sua|ihrer))?'
const CODE = 'code|number|no|nr|num|value|digits?|data|wert|nummer'
const EXPIRY =
  'expir(?:y|es?|ation)|exp|expd|valid ?(?:thru|through|until|till|to)|good ?(?:thru|through)|mm ?(?:yy(?:yy)?|jj(?:jj)?|aa(?:aa)?)|gu?e?ltig ?bis|ablauf|verfalls?|vencimiento|vencimento|caducidad|scadenza|validade|verval'
const EXPIRY_PART = 'date|datum|dt|month|year|mm|yy|yyyy|my|monat|jahr'

/** Whole words; `^` and `$` are their ends. */
function words(pattern: string): RegExp {
  return new RegExp(`(?<=^| )(?:${pattern})(?= |$)`, 'u')
}

/** What such a name may hold: nothing; digits of a code; such, or a check digit; a card number; what a magnetic stripe holds. */
export type CardKind = 'any' | 'code' | 'check' | 'number' | 'track'

/** A space is a separator or none. */
const shared = (names: readonly string[]) => names.map((name) => words(`(?:${name.replaceAll(' ', ' ?')})s?`))

/** Of a person's card whatever it is for: the three or four digits on it, its PIN, what its stripe holds. */
const CODES = [
  ...shared(CARD_CODES),
  words(`(?:${CARD} ?)?(?:cvv|cvc|cvn|cvd|ccv|csc)[123]?(?: ?(?:${CODE}))?`),
  words(`${CARD} ?(?:security|verification|validation|identification|authentication|check) ?(?:${CODE})`),
  words('verification value|signature panel code'),
  words(`${FOREIGN_CARD}n? ?(?:prue?f|sicherheits) ?(?:nummer|ziffern?|zahl|code|nr|no|z)`),
  words(`(?:code (?:de )?verification|codigo (?:de )?verificacion|codice (?:di )?verifica)${OF} ?${FOREIGN_CARD}`),
]
const CHECKS = [...shared(CHECK_CODES), words('(?<!(?:^| )social )security ?no')]
const PIN_BLOCKS = [words('pin ?block|geheimzahl')]
const TRACKS = [
  words('track ?[123](?: ?data)?|track ?data|swipe ?data|magnetstreifen(?: ?daten)?|banda magnetica|pist[ea] [123]'),
  words('mag(?:netic)? ?(?:stripe|strip)s?(?: ?data)?'),
]
const SECRETS: readonly (readonly [CardKind, readonly RegExp[]])[] = [
  ['code', CODES],
  ['check', CHECKS],
  ['any', PIN_BLOCKS],
  ['track', TRACKS],
]
const PINS = [words(`(?:${CARD}|atm) ?pin(?: ?(?:${CODE}))?`), words(`pin${OF} ?${CARD}`)]
const NUMBERS = [
  words(`${CARD} ?(?:${NUMBER})`),
  words(`(?:numero|nummer|num|nr|no|n)${OF} ?${FOREIGN_CARD}n?`),
  words(`primary account (?:${NUMBER})`),
  new RegExp(
    `^(?:(?:full|clear|raw|plain|customer|payment|funding|details|data|${CARD}) )*[fd]?pan(?: (?:${NUMBER}|data|value|full|clear))*$`,
    'u',
  ),
  /^credit ?card$/,
]
/** The gateway's own. */
const FIELDS = /^pmt (?:numb|key|expiry)$/
const EXPIRIES = words(`(?:${EXPIRY})(?: ?(?:${EXPIRY_PART}))*`)
const SPEAKS_OF_CARDS = words(String.raw`${CARD}|cardholder|(?:kredit)?karten\p{L}{1,20}`)
const CARD_EXPIRY = words(`${CARD} ?(?:${EXPIRY})(?: ?(?:${EXPIRY_PART}))*`)
const MAY_BE_CODE = words(
  'pins?|cid|cav|security|code (?:de )?verification|codigo (?:de )?verificacion|codice (?:di )?verifica|securite|sicherheit|seguridad|sicurezza|(?:verification|validation|authentication) ?(?:code|number|no|digits?)|(?:secret|signature) code|clave|geheimnummer',
)

/** What may be kept of a card, and what is said of one. */
const HARMLESS = words(
  [
    'last|last ?(?:4|four|digits)|letzten?|endziffern?|ending|suffix|truncated|masked|maskiert|gekurzt|token|hash|bin|iin|first ?[68]?|prefix',
    'brand|type|typ|tipo|art|scheme|network|issuer|status|result|response|resp|match|matched|check|provided|present|passed|failed|valid',
    'ids?|ref|reference|key|owner|holder|inhaber|titulaire|titular|titolare|name|country',
    'amount|amt|fees?|charges?|cost|price|deposit|balance|limit|total|sum|tax|points|count|qty|quantity|level|category|percent|rate',
    'rank|seat|room|floor|time|year|age|weight|branch|store|terminal|batch|invoice|order|zone|officer|staff|colou?r',
  ].join('|'),
)
/** Cards without a payment number (ISO 7812). */
const OTHER_CARDS = words(
  [
    'gift|geschenk|loyalty|members?|membership|mitglieds?|club|klub|bonus|rewards?|kunden|sim|id|identity|identite|identita|identidad|ausweis',
    'students?|health|gesundheits|versicherten|library|score|report|business|visiting|visiten|fahr|post|stamp|green|residence|access|parking',
    'memory|sd|graphics|sound|vitale|sanitaria|fidelite|fidelity|fidelizacion|fedelta|regalo|cadeau|transit|discount|coupon|voucher|scratch',
    'punch|invitation|christmas|greeting|birthday|time|key|pokemon|trading|playing|collector|baseball',
  ].join('|'),
)

/** Longer ones are sentences. */
const NAME_CHARACTERS = 120

/** null: it means no card data. */
export function cardMeaningOf(column: string): CardMeaning | null {
  if (column.length > NAME_CHARACTERS) return null
  const names = wordsOf(column)
  if (names.some(isCertain)) return 'certain'
  return names.map(meaningOfWords).find((meaning) => meaning !== null) ?? null
}

/** What a name that is certain may mean, in any of its writings; empty: it is not certain. */
export function cardKindsOf(column: string): readonly CardKind[] {
  return column.length > NAME_CHARACTERS ? [] : [...new Set(wordsOf(column).flatMap(kindsOf))]
}

function isCertain(name: string): boolean {
  return kindsOf(name).length > 0
}

function kindsOf(name: string): CardKind[] {
  const isResult = SAYS_A_RESULT.test(name)
  const kinds = isResult ? [] : SECRETS.flatMap(([kind, names]) => (names.some((one) => one.test(name)) ? [kind] : []))
  if (OTHER_CARDS.test(name)) return kinds
  const isExpiry = CARD_EXPIRY.test(name) || (EXPIRIES.test(name) && SPEAKS_OF_CARDS.test(name))
  if (isExpiry || FIELDS.test(name) || PINS.some((pin) => pin.test(name))) kinds.push('any')
  if (!HARMLESS.test(name) && NUMBERS.some((number) => number.test(name))) kinds.push('number')
  return kinds
}

/** What became of a security code that was sent: a letter. */
const SAYS_A_RESULT = words('result|response|resp|match|matched|check|status|provided|present|passed|failed|valid')

function meaningOfWords(name: string): CardMeaning | null {
  if (SECRETS.some(([, names]) => names.some((one) => one.test(name)))) return 'code'
  if (OTHER_CARDS.test(name)) return null
  if (EXPIRIES.test(name)) return 'expiry'
  if (HARMLESS.test(name)) return null
  if (SPEAKS_OF_CARDS.test(name)) return 'card'
  return MAY_BE_CODE.test(name) ? 'code' : null
}

/**
 * The words of a name, in small letters without accents, as one text; with and without parting `cardNumber`, where only one of
 * the two finds `CVVs`. Single letters belong together: C.V.V.
 */
function wordsOf(column: string): readonly string[] {
  const text = column
    .replace(/[#№]|[nN][°º]/g, ' no ')
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
  const parted = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  return [...new Set([parted, text])].map((name) =>
    name
      .toLowerCase()
      .replaceAll('ß', 'ss')
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '')
      .join(' ')
      .replace(/(?<= |^)(?:[a-z] ){1,5}[a-z](?= |$)/g, (letters) => letters.replaceAll(' ', '')),
  )
}

/** Whether the name says that something ends: a card, among others. */
export function saysExpiry(column: string): boolean {
  return column.length <= NAME_CHARACTERS && wordsOf(column).some((name) => FIELDS.test(name) || EXPIRIES.test(name))
}

/** Whether the name shows that cards are spoken of in the file. */
export function speaksOfCards(column: string): boolean {
  return wordsOf(column.slice(0, NAME_CHARACTERS)).some((name) => SPEAKS_OF_CARDS.test(name) || isCertain(name))
}

const CODE_LIKE = /^\d{3,4}$/
const NUMBER_LIKE = /^\d(?:[ -]?\d){11,18}$/
/** 12/28, 1228, 12/2028, 2028-12; or the month or the year alone, beside the other. */
const EXPIRY_LIKE =
  /^(?:(?:0?[1-9]|1[0-2]) ?[-/. ]? ?(?:20)?\d\d|20\d\d ?[-/. ] ?(?:0?[1-9]|1[0-2])|0?[1-9]|\d\d|20\d\d)$/

/** Whether a value below such a name looks as what the name may mean. */
export function looksAs(meaning: Exclude<CardMeaning, 'certain'>, value: string): boolean {
  const text = value.trim()
  switch (meaning) {
    case 'code':
      return CODE_LIKE.test(text)
    case 'card':
      return CODE_LIKE.test(text) || NUMBER_LIKE.test(text)
    case 'expiry':
      return EXPIRY_LIKE.test(text)
  }
}

/** Digits alone, for a check digit and a door have other lengths. */
const STANDING_CODE = /(?<!\p{Nd})\p{Nd}(?: ?-?\p{Nd}){2,3}(?!\p{Nd})/u
/** Without separators: no more of a card number than may be shown. */
const MASKED = /^(?:\p{Nd}{0,6}[x*•●#·…]+|\p{Nd}{7,8}[x*•●#·…]{4,})\p{Nd}{0,4}$/iu
const PACKED = /[\p{L}\p{N}+]{16}/u
const CARD_DIGITS_LEAST = 12

/** Whether a value below a name that is certain can be what the name says. In doubt it can. */
export function canBe(kinds: readonly CardKind[], value: string): boolean {
  const text = value.trim()
  return text !== '' && kinds.some((kind) => CAN_BE[kind](text))
}

const CAN_BE: Readonly<Record<CardKind, (text: string) => boolean>> = {
  any: () => true,
  code: (text) => /\p{N}/u.test(text),
  check: (text) => STANDING_CODE.test(text),
  number: (text) => !MASKED.test(text.replace(/[\s\p{Pd}]+/gu, '')) && (!/\p{L}/u.test(text) || holdsMuch(text)),
  track: (text) => /[=^%]/.test(text) || holdsMuch(text),
}

/** As many digits as a card number has, or so much in one piece that they may be packed. */
function holdsMuch(text: string): boolean {
  return text.replace(/\P{N}/gu, '').length >= CARD_DIGITS_LEAST || PACKED.test(text)
}

interface Seen {
  readonly meaning: Exclude<CardMeaning, 'certain'>
  filled: number
  alike: number
  /** The first that looks as it may mean. */
  first: { readonly rowNo: number; readonly line: number } | null
}

/** What stands below the names that may mean card data, over all rows of a file. */
export class DoubtfulColumns {
  readonly #header: Header
  readonly #seen: ReadonlyMap<number, Seen>

  constructor(header: Header) {
    this.#header = header
    const places = header.doubtful.filter(({ meaning }) => meaning !== 'expiry' || header.speaksOfCards)
    this.#seen = new Map(places.map(({ place, meaning }) => [place, { meaning, filled: 0, alike: 0, first: null }]))
  }

  see({ cells, line }: CsvRecord, rowNo: number): void {
    for (const [place, seen] of this.#seen) {
      const cell = cells[place] ?? ''
      if (cell.trim() === '') continue
      seen.filled += 1
      if (!looksAs(seen.meaning, cell)) continue
      seen.alike += 1
      seen.first ??= { rowNo, line }
    }
  }

  /** Most of a column: one "n/a" among a thousand security codes changes nothing. */
  decide(): StructuralFault | null {
    for (const [place, { meaning, filled, alike, first }] of this.#seen) {
      if (first === null || alike * 2 <= filled) continue
      const column = this.#header.written[place] ?? ''
      return refuse(
        {
          problem: `${SAYS[meaning]}, which are not taken there`,
          remedy: text`take the column out of the file; if it holds something else, give it a name that says so${{ set: 'not-a-card', to: shown(column), lead: ', or add ' }}`,
        },
        { code: 'card-data', column, ...first },
      )
    }
    return null
  }
}

const SAYS = {
  code: 'holds 3 or 4 digits under a name that may mean security codes or PINs',
  card: 'holds digits under a name that may mean card numbers or security codes',
  expiry: 'holds what looks like the expiry of cards, beside a column that speaks of cards',
} as const
