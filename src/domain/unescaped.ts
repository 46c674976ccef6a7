// Text as it reads once what stands for a character in JSON, scripts, web pages and forms is resolved.

const ESCAPE =
  /\\u\{([\da-f]{1,6})\}|\\u([\da-f]{4})|((?:\\x[\da-f]{2})+)|((?:%[\da-f]{2})+)|&#x([\da-f]{1,8});?|&#(\d{1,8});?|&([a-z][a-z\d]{1,7});/gi
const BEGINS_ESCAPE = /[\\%&]/
/** JSON in JSON in a form. What is escaped more often than that hides something. */
const MOST_PASSES = 4

/** The text with its escapes resolved, also those of escapes; null where there is no end to them. */
export function unescaped(text: string): string | null {
  if (!BEGINS_ESCAPE.test(text)) return text
  let before = text
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const after = before
      // JSON in JSON has as many backslashes as it is deep.
      .replace(/\\+/g, '\\')
      .replace(ESCAPE, resolved)
    if (after === before) return after
    before = after
  }
  return null
}

/** A form has its own blanks, and what is not whole JSON may still be a part of some. */
export function withBlanks(read: string): string {
  return read.replace(/\\[nrtbf]|\+/g, ' ')
}

function resolved(
  all: string,
  long?: string,
  u?: string,
  x?: string,
  percent?: string,
  hex?: string,
  dec?: string,
  name?: string,
) {
  const bytes = x ?? percent
  if (bytes !== undefined) return Buffer.from(bytes.replace(/\\x|%/gi, ''), 'hex').toString('utf8')
  if (u !== undefined) return String.fromCharCode(Number.parseInt(u, 16)) // half of a pair, perhaps
  if (name !== undefined) return NAMED.get(name) ?? all
  const code = dec === undefined ? Number.parseInt((long ?? hex) as string, 16) : Number(dec)
  return code > 0x10ffff ? all : String.fromCodePoint(code)
}

const ASCII_NAMES =
  'Tab:\t NewLine:\n excl:! quot:" QUOT:" num:# dollar:$ percnt:% amp:& AMP:& apos:\' lpar:( rpar:) ast:* plus:+ comma:, period:. sol:/ ' +
  'colon:: semi:; lt:< LT:< equals:= gt:> GT:> quest:? commat:@ lsqb:[ lbrack:[ bsol:\\ rsqb:] rbrack:] Hat:^ lowbar:_ grave:` ' +
  'lcub:{ lbrace:{ verbar:| vert:| rcub:} rbrace:} tilde:~'
/** From U+00A0 on. */
const LATIN_1_NAMES =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil ' +
  'sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute ' +
  'Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc ' +
  'atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide ' +
  'oslash ugrave uacute ucirc uuml yacute thorn yuml'

const NAMED: ReadonlyMap<string, string> = new Map([
  ...ASCII_NAMES.split(' ').map((pair): [string, string] => [pair.slice(0, -2), pair.slice(-1)]),
  ...LATIN_1_NAMES.split(' ').map((name, i): [string, string] => [name, String.fromCharCode(0xa0 + i)]),
])
