// What must never be kept or shown, in every writing in which a server may say it, and how a text is searched for it. Shares
// no code with the program.

export const USERNAME = 'contract-key-4711'
/** With all that PHP, .NET, forms and web pages write in another way. */
export const PASSWORD = 'ab/cd+ef<gh>é"x&1'

const CANARIES = {
  credentials: [PASSWORD, `${USERNAME}:${PASSWORD}`],
  'card data': [
    '4111111111111111',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    'cvv=737',
    'CVC2: 737',
    'pmt_key=737',
    'security code 737',
    '"card_cvv":"737"',
  ],
  escapes: [
    '\u001b[31mred',
    '\u001b]52;c;QUJD\u0007',
    '\u009b31m',
    'a\u202eb',
    'a\u2066b\u2069',
    'a\u2028b',
    'a\u200bb',
  ],
} as const

/** What a person types or pastes, or another program writes. The names that only answers use are not among them. */
export const CANARIES_IN = {
  'card data': [
    '4111111111111111',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    'cvv=737',
    'CVC2: 737',
    'security code 737',
    ';4111111111111111=28121010000',
  ],
  escapes: CANARIES.escapes,
} as const

export type Put = 'a cell' | 'a name' | 'an option' | 'a message' | 'the environment'

export type Kind = keyof typeof CANARIES
export const KINDS = Object.keys(CANARIES) as Kind[]

const hex4 = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const inner = (text: string) => JSON.stringify(text).slice(1, -1)
const ascii = (text: string) => text.replace(/[^\x20-\x7e]/g, hex4)
const bytesAs = (text: string, write: (byte: string) => string) =>
  [...Buffer.from(text)].map((byte) => write(byte.toString(16).padStart(2, '0'))).join('')
const NAMED: Readonly<Record<string, string>> = {
  ...{
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '+': '&plus;',
    '/': '&sol;',
    é: '&eacute;',
    ':': '&colon;',
  },
  ...{ '=': '&equals;', '[': '&lbrack;' },
}

/** Escapes of JSON strings: they stand in one as they are. */
const JSON_WRITINGS: Readonly<Record<string, (text: string) => string>> = {
  'JSON escapes': (text) => text.replace(/[\s\S]/g, hex4),
  PHP: (text) => ascii(inner(text)).replaceAll('/', '\\/'),
  '.NET': (text) => ascii(text.replace(/["\\+<>&']/g, (char) => hex4(char).toUpperCase().replace('U', 'u'))),
  'JSON in JSON': (text) => inner(inner(text)),
}

const TEXT_WRITINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent, upper case': (text) => bytesAs(text, (byte) => `%${byte.toUpperCase()}`),
  'percent, lower case': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'HTML names': (text) => text.replace(/[&<>"+/é:=[]/g, (char) => NAMED[char] as string),
  'HTML numbers': (text) =>
    [...text]
      .map((char, i) => (i % 2 ? `&#${char.codePointAt(0)};` : `&#x${char.codePointAt(0)?.toString(16)};`))
      .join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  hexadecimal: (text) => bytesAs(text, (byte) => byte),
}

export const WRITINGS: readonly string[] = [...Object.keys(JSON_WRITINGS), ...Object.keys(TEXT_WRITINGS)]

/** Those that are read as text: a file may hold much that is base64 and no card. */
export const WRITINGS_IN = WRITINGS.filter((writing) => writing !== 'base64' && writing !== 'hexadecimal')

export function writtenAs(writing: string, text: string): string {
  return (JSON_WRITINGS[writing] ?? TEXT_WRITINGS[writing] ?? String)(text)
}

/** All canaries of a kind in that writing, for a body of plain text. */
export function saidIn(writing: string, kind: Kind): string {
  return CANARIES[kind].map((canary) => writtenAs(writing, canary)).join(' ; ')
}

/** The same as a string of JSON. */
export function jsonIn(writing: string, kind: Kind): string {
  const said = saidIn(writing, kind)
  return writing in JSON_WRITINGS ? `"${said}"` : JSON.stringify(said)
}

const NEEDLES = (['credentials', 'card data'] as const).flatMap((kind) =>
  CANARIES[kind].flatMap((canary) =>
    Object.entries({ ...JSON_WRITINGS, ...TEXT_WRITINGS }).flatMap(([writing, write]) =>
      [write(canary), inner(write(canary))].map((needle) => ({ needle, name: `${canary} as ${writing}` })),
    ),
  ),
)

/** What of it stands in a text, in words. */
export function canariesIn(text: string): string[] {
  return [...new Set(NEEDLES.filter(({ needle }) => text.includes(needle)).map(({ name }) => name))]
}

/** What would move a terminal, or the order of what is read on it. Line ends of files and screens are none. */
export function escapesIn(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  const found = text.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]|\p{Cf}/gu) ?? []
  return [...new Set(found.map((char) => `U+${char.codePointAt(0)?.toString(16)}`))]
}
