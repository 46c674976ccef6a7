// Text that is shown: whatever a terminal would obey, or would hide, is seen instead. Text from anywhere may pass through here.

/** All control and format characters but the joiners, without which Persian, Hindi and many emoji are misspelled. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu
/** JSON escapes the control characters of seven bits by itself. */
const UNSEEN_IN_JSON = /[\x7f-\x9f\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu
const LINE_ENDING = /[\p{Cc}\p{Zl}\p{Zp}]/u

/** One line, whatever is in it: `␛` for an escape, `␊` for a line feed, `<U+202E>` for what has no picture. */
export function visible(text: string): string {
  return text.replace(UNSEEN, pictureOf)
}

function pictureOf(character: string): string {
  const code = character.codePointAt(0) as number
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** The same JSON, written so that a terminal obeys nothing in it. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, i) => `\\u${hexOf(character.charCodeAt(i))}`).join(''),
  )
}

function hexOf(code: number): string {
  return code.toString(16).padStart(4, '0')
}

/** Whether it is more than one line to a terminal, or not text alone. */
export function holdsControls(text: string): boolean {
  return LINE_ENDING.test(text)
}
