// What people call the three or four digits on a card, in one list for names of columns, keys of messages and free text. Written
// in small letters without accents; a space is any separator or none.

/** They mean nothing else. CSC is missing: "CSC 101" is a course. */
export const CARD_CODES = [
  '(?:(?:card|cc) )?(?:cvv|cvc|cvn|cvd|ccv)[123]?(?: (?:cvv|cvc)[123]?)?',
  'cav2',
  '(?:card|cvv|cvc) verification (?:code|value|number|no|nr)',
  'karten (?:prue?f|sicherheits) (?:nummer|ziffern?|zahl|code|nr|no|z)',
  'cryptogramme(?: visuel)?',
  '[34] digits? on (?:the )?(?:back|reverse)',
] as const

/** They mean that, or a check digit, or what opens a door. */
export const CHECK_CODES = [
  'sec code',
  '(?<!social )security (?:code|number|nr|num)',
  'prue?f (?:nummer|ziffern?|zahl|code|nr|z)',
  'sicherheits (?:nummer|ziffern?|zahl|code|nr)',
  'code (?:de )?securite',
  'codigo (?:de )?(?:seguridad|seguranca)',
  'codice (?:di )?sicurezza',
  '(?:beveiligings|veiligheids) code',
  '(?:sikkerheds|sikkerhets|sakerhets) kode?',
  'turva koodi',
  'kod (?:bezpieczenstwa|zabezpieczajacy)',
  'bezpecnostni kod',
  'код безопасности',
  'guvenlik kodu',
  '(?:信用卡|卡)?安全[码碼]',
  '(?:カート)?セキュリティコート',
  '[34] digits? (?:security )?code',
] as const

const LETTERS: Readonly<Record<string, string>> = {
  a: 'aáàâäãå',
  c: 'cçćč',
  e: 'eéèêëęě',
  i: 'iíìîïıİ',
  n: 'nñńň',
  o: 'oóòôöõő',
  s: 'sśşš',
  u: 'uúùûüű',
  y: 'yý',
  z: 'zżźž',
  ト: 'トド',
}

/** Such words as a person writes them: with accents or without, and with what parts them. */
function asWritten(words: string): string {
  return words
    .replace(/[aceinosuyzト]/g, (letter) => String.raw`(?:[${LETTERS[letter] ?? letter}]\p{M}?)`)
    .replaceAll(' ', String.raw`[\p{Zs}_./-]{0,2}`)
}

const ANY = String.raw`[^\p{L}\p{N}\r\n]`
/** What ends a field or a thought ends the search: the digits behind it are another field's. */
const WITHIN = String.raw`[^\p{L}\p{N}\r\n&,;|/*\]}]`
const SAID = 'code|number|value|no|nr|is|ist|est|es|è|lautet|was|war|是'
const WORD = String.raw`(?:\p{L}{1,20}|[34](?!\p{N}))`
const BETWEEN = `(?:(?:${ANY}{0,8}(?:${SAID})){0,2}${ANY}{0,8}|(?:${WITHIN}{1,8}${WORD}){1,2}${WITHIN}{0,8})`

/**
 * A pattern of such a name, unless a tag ends with it, of what may stand behind it, and of what the caller takes for digits.
 * `more`: names beside the shared ones. Made at its first use: most processes never need it, and V8 takes 10 ms to read it.
 */
export function codeBehindName(digits: string, more: readonly string[] = []): () => RegExp {
  const make = () => {
    const names = [...CARD_CODES, ...CHECK_CODES, ...more].map(asWritten).join('|')
    return new RegExp(String.raw`(?<![\p{L}\p{N}]|<\\?/)(?:${names})${BETWEEN}${digits}`, 'giu')
  }
  let pattern: RegExp | null = null
  return () => {
    pattern ??= make()
    return pattern
  }
}
