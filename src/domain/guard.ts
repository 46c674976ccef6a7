// The guard against formula injection: a spreadsheet must never run a cell that came from a file or from the gateway.
// It adds exactly one apostrophe where it must, and `unguardCell` takes exactly that one away again.

// Blanks and invisible characters before the sign count too: some spreadsheets trim them and then see a formula.
const FORMULA = /^(?:[\t\r\n\0]|[\s\p{Cc}\p{Cf}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/u

// Digits and separators alone cannot name a cell or a function, so an amount is never altered, whatever its sign.
const PLAIN_NUMBER = /^[ \u00A0]*[+-]?(?:\d+(?:[.,'’ \u00A0\u2009\u202F]\d+)*[.,]?|[.,]\d+)[ \u00A0]*$/

export function guardCell(text: string): string {
  return needsGuard(text) ? `'${text}` : text
}

/** The inverse of `guardCell`, for every text. */
export function unguardCell(text: string): string {
  return text.startsWith("'") && needsGuard(text) ? text.slice(1) : text
}

/** Apostrophes in front do not change the answer: a cell that already looks guarded gets one more, so that none is lost. */
function needsGuard(text: string): boolean {
  const bare = text.replace(/^'+/, '')
  return FORMULA.test(bare) && !PLAIN_NUMBER.test(bare)
}
