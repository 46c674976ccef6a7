// Number formats of a workbook: whether a person sees the number that is stored, and what stands beside it.

/** No format has more characters: a spreadsheet takes 255. */
const FORMAT_CHARACTERS_MOST = 1_000

/**
 * What a format makes of a number. `whole`: an integer of at most 15 digits, of which it shows every digit and nothing else.
 * `rescaled`: a person sees another number. The later one is the stricter.
 */
const NUMBER_STYLES = ['whole', 'number', 'rescaled', 'date'] as const
export type NumberStyle = (typeof NUMBER_STYLES)[number]

interface Shown {
  readonly style: NumberStyle
  /** Words and signs that the format adds to the number: `€`, `CHF`, `Cr`, `-`. */
  readonly marks: readonly string[]
}

/** Every format that goes by the number that a style names: more than one where a workbook gives a number twice. */
export type NumberFormat = readonly (readonly Section[] | 'date')[]

/** A format has up to three for numbers, each for numbers of one sign or of a condition. */
interface Section {
  /** null: the number's sign chooses. */
  readonly condition: ((number: number) => boolean) | null
  /** It shows the digits of the number, in their places, and nothing that changes what they say. */
  readonly isPlain: boolean
  /** `0`, `@` and General: one place for all digits, and nothing beside it. */
  readonly isBare: boolean
  /** It adds a minus or brackets. */
  readonly isSigned: boolean
  readonly isPercentage: boolean
  readonly decimals: number
  /** In scientific notation: how many digits of the number are shown. */
  readonly significant: number
  readonly marks: readonly string[]
}

// ───────────────────────────────────────────────────────────── What a number looks like

/** `plain`: digits, a minus and a point at most. */
export function showNumber(format: NumberFormat, plain: string): Shown {
  const shown = format.map((sections) => showBy(sections, plain))
  return {
    style: shown.map(({ style }) => style).reduce(stricter, 'whole'),
    marks: shown.length === 1 ? (shown[0] as Shown).marks : shown.flatMap(({ marks }) => marks),
  }
}

function stricter(a: NumberStyle, b: NumberStyle): NumberStyle {
  return NUMBER_STYLES.indexOf(a) < NUMBER_STYLES.indexOf(b) ? b : a
}

const AS_IT_IS: Shown = { style: 'number', marks: [] }

function showBy(sections: readonly Section[] | 'date', plain: string): Shown {
  if (sections === 'date') return { style: 'date', marks: [] }
  const number = Number(plain)
  if (number === 0) return AS_IT_IS // no amount, whatever it looks like
  // LibreOffice shows some numbers as a percentage because another section is one.
  const used = sections.some(({ isPercentage }) => isPercentage) ? sections : sectionsFor(sections, number)
  if (sections.length === 1 && sections[0]?.isBare === true && isWhole(number)) return { style: 'whole', marks: [] }
  const isShown = used.length > 0 && used.every((section) => shows(section, plain, number))
  return {
    style: isShown ? 'number' : 'rescaled',
    marks: used.flatMap((section) => (addsSign(section, number) ? [...section.marks, MINUS] : section.marks)),
  }
}

/** Up to 15 digits a spreadsheet keeps every one. */
function isWhole(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number < 1e15
}

/** Stands for whatever the format shows of the kind. */
const MINUS = '-'

function addsSign({ isSigned }: Section, number: number): boolean {
  return isSigned && number > 0
}

function shows(section: Section, plain: string, number: number): boolean {
  const { isPlain, decimals, significant } = section
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.')
  const digits = (whole + fraction).replace(/^0+|0+$/g, '')
  return isPlain && !addsSign(section, number) && fraction.length <= decimals && digits.length <= significant
}

/** Where spreadsheet programs may choose differently, all that may be chosen. */
function sectionsFor(sections: readonly Section[], number: number): readonly Section[] {
  const isConditional = sections.some(({ condition }) => condition !== null)
  const found: Section[] = []
  for (const [i, section] of sections.entries()) {
    const isUsed =
      section.condition === null ? isForSign(number, i, sections.length, isConditional) : section.condition(number)
    if (isUsed !== false) found.push(section)
    if (isUsed === true) break
  }
  return found
}

function isForSign(number: number, i: number, count: number, isConditional: boolean): boolean | 'perhaps' {
  if (i === count - 1) return true
  const isFor = (i === 0) === number > 0
  return isFor && i === 0 ? true : isConditional ? 'perhaps' : isFor
}

// ───────────────────────────────────────────────────────────── Formats as they are written

/**
 * Whether a number format shows days or times. In doubt it does: a date taken for a number would be an amount of some
 * 46,000, and a number taken for a date is only a fault to mend.
 */
export function showsDate(format: string): boolean {
  if (format.length > FORMAT_CHARACTERS_MOST) return true
  const bare = format
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .replace(/general|standard/gi, '')
  return /[dmyhs]|[年月日]/i.test(bare)
}

const SECTIONS_FOR_NUMBERS = 3

export function parseFormat(format: string): readonly Section[] | 'date' {
  if (showsDate(format)) return 'date'
  const sections: Token[][] = [[]]
  for (const token of tokensOf(format === '' ? 'General' : format)) {
    if (token.kind === 'end') sections.push([])
    else sections.at(-1)?.push(token)
  }
  return sections.slice(0, SECTIONS_FOR_NUMBERS).map(toSection)
}

/** `number`: a place for digits (0), the point, a comma, the E, or a place for all of it (G). */
interface Token {
  readonly kind: 'number' | 'text' | 'condition' | 'end'
  readonly text: string
}

const TOKEN = /"[^"]*"?|\\.?|_.?|\*.?|\[[^\]]*\]?|E[+-]|general|standard|./gisu

function* tokensOf(format: string): Generator<Token> {
  for (const [part] of format.matchAll(TOKEN)) {
    if (part === ';') yield { kind: 'end', text: '' }
    else if (/^[0#?]$/.test(part)) yield { kind: 'number', text: '0' }
    else if (/^[.,]$/.test(part)) yield { kind: 'number', text: part }
    else if (/^E[+-]$/i.test(part)) yield { kind: 'number', text: 'E' }
    else if (/^(?:general|standard|@)$/i.test(part)) yield { kind: 'number', text: 'G' }
    else if (/^\[[<>=]/.test(part)) yield { kind: 'condition', text: part.slice(1, -1) }
    else yield { kind: 'text', text: literalOf(part) }
  }
}

function literalOf(part: string): string {
  switch (part.length > 1 ? part[0] : '') {
    case '"':
      return part.replaceAll('"', '')
    case '\\':
    case '*': // fills the cell with the character
      return part.slice(1)
    case '_':
      return ' '
    case '[': // `[$€-407]`: a currency and a language. Colours and the like show nothing.
      return /^\[\$(.*?)(?:-[\da-f]*(?:,\d+)?)?\]$/isu.exec(part)?.[1] ?? ''
    default:
      return part
  }
}

/** Thousands parted by commas or by blanks, decimals, an exponent. */
const PLACES = /^(?:0(?:,?0)*|0+(?: 000)+)?(?:\.(0*))?(E0+)?$/
/** A blank or an apostrophe, which part thousands. */
const PARTS_THOUSANDS = /^[\s'’]$/u
const LETTERS_OR_SIGN = /[\p{L}\p{M}]*\p{Sc}[\p{L}\p{M}]*|[\p{L}\p{M}]+/gu
/** Hyphens, dashes, minuses and brackets. */
const SIGNS = /[\p{Pd}\u00ad\u02d7\u2043\u2052\u207b\u208b\u2212\u2796\p{Ps}\p{Pe}<>]/gu
/** Blanks, and the marks for right-to-left that go with some currencies. */
const SAYS_NOTHING = /^[\s:*'’\u061c\u200e\u200f]*$/u
/** `5.–`: no cents. */
const NO_CENTS = /^(\P{L}*)[.,]\s?\p{Pd}+/u
/** `5.` is 5. */
const LONE_POINT = /^[.,]/

function toSection(tokens: readonly Token[]): Section {
  const first = tokens.findIndex(isPlace)
  const last = tokens.findLastIndex(({ kind }) => kind === 'number')
  const textOf = (some: readonly Token[]) => some.flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])).join('')
  const start = tokens[first - 1]?.text === '.' ? first - 1 : first
  const before = tokens.slice(0, Math.max(start, 0))
  const places = first === -1 ? '' : placesOf(tokens.slice(start, last + 1))
  const [matched, decimals = '', exponent] = PLACES.exec(places) ?? []
  const after = `${places.endsWith('.') ? '.' : ''}${textOf(tokens.slice(last + 1))}`
  const words = `${textOf(before)} ${after.replace(NO_CENTS, '$1').replace(LONE_POINT, '')}`
  const bare = words.replace(new RegExp(`(?:${LETTERS_OR_SIGN.source})\\.?`, 'gu'), '')
  const isAll = places === 'G'
  return {
    condition: conditionOf(tokens.find(({ kind }) => kind === 'condition')?.text),
    isPlain:
      (isAll || (places !== '' && matched !== undefined)) &&
      !before.some(({ kind }) => kind === 'number') &&
      SAYS_NOTHING.test(bare.replace(SIGNS, '')),
    isBare: tokens.length === 1 && isPlace(tokens[0] as Token),
    isSigned: bare.search(SIGNS) !== -1,
    isPercentage: tokens.some(({ kind, text }) => kind === 'text' && text === '%'),
    decimals: isAll || exponent !== undefined ? Number.POSITIVE_INFINITY : decimals.length,
    significant: exponent === undefined ? Number.POSITIVE_INFINITY : decimals.length + 1,
    marks: words.match(LETTERS_OR_SIGN) ?? [],
  }
}

function isPlace({ kind, text }: Token): boolean {
  return kind === 'number' && (text === '0' || text === 'G')
}

/** What stands between the first digit and the last, a character for each. */
function placesOf(tokens: readonly Token[]): string {
  return tokens
    .filter(({ kind, text }) => kind === 'number' || text !== '')
    .map(({ kind, text }) => (kind === 'number' ? text : PARTS_THOUSANDS.test(text) ? ' ' : 'x'))
    .join('')
}

/** One that cannot be read is met by every number: what its section adds is looked at. */
function conditionOf(text: string | undefined): Section['condition'] {
  if (text === undefined) return null
  const match = /^(<=|>=|<>|<|>|=)\s*([+-]?[\d.]+(?:E[+-]?\d+)?)$/i.exec(text)
  const limit = Number(match?.[2])
  switch (match?.[1]) {
    case '<':
      return (number) => number < limit
    case '<=':
      return (number) => number <= limit
    case '>':
      return (number) => number > limit
    case '>=':
      return (number) => number >= limit
    case '=':
      return (number) => number === limit
    case '<>':
      return (number) => number !== limit
    default:
      return () => true
  }
}

// ───────────────────────────────────────────────────────────── Formats by number

const DOLLARS = '"$"#,##0'
/** ECMA-376, 18.8.30, without the dates. Those in dollars have the currency of the machine where a workbook spells out none. */
const BUILT_IN: Readonly<Record<number, string>> = {
  ...{ 0: 'General', 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00' },
  ...{ 5: DOLLARS, 6: DOLLARS, 7: `${DOLLARS}.00`, 8: `${DOLLARS}.00`, 9: '0%', 10: '0.00%' },
  ...{ 11: '0.00E+00', 12: '# ?/?', 13: '# ??/??' },
  ...{ 37: '#,##0;(#,##0)', 38: '#,##0;(#,##0)', 39: '#,##0.00;(#,##0.00)', 40: '#,##0.00;(#,##0.00)' },
  ...{ 41: '#,##0;(#,##0)', 42: DOLLARS, 43: '#,##0.00;(#,##0.00)', 44: `${DOLLARS}.00` },
  ...{ 48: '##0.0E+0', 49: '@' },
  ...{ 59: '0', 60: '0.00', 61: '#,##0', 62: '#,##0.00', 67: '0%', 68: '0.00%', 69: '# ?/?', 70: '# ??/??' },
}
const PER_CENT = [9, 10, 67, 68]

export const GENERAL: NumberFormat = [parseFormat('General')]

/** By the number of a built-in format. */
export function builtInFormat(id: number): NumberFormat {
  return isBuiltInDate(id) ? ['date'] : [parseFormat(BUILT_IN[id] ?? 'General')]
}

/** A workbook may spell a built-in format out, as in another currency. A date and a per cent stay what they are. */
export function spelledOut(id: number, format: string, before: NumberFormat | undefined): NumberFormat {
  const isFixed = isBuiltInDate(id) || PER_CENT.includes(id)
  return [...(before ?? (isFixed ? builtInFormat(id) : [])), parseFormat(format)]
}

function isBuiltInDate(id: number): boolean {
  const within = (from: number, to: number) => id >= from && id <= to
  return within(14, 22) || within(27, 36) || within(45, 47) || within(50, 58) || within(71, 81)
}
