// The guard against formula injection: a spreadsheet must never run a cell that came from a file or from the gateway, nor a piece
// of one. In German, French, Spanish and Italian a spreadsheet parts the cells of a CSV file at semicolons; a quotation mark that
// does not begin such a cell is a character to it, and what stands behind a semicolon or a line break inside our quotation
// marks is a cell of its own. So every piece is guarded as a cell is. `unguardCell` takes exactly the same apostrophes away.

/** Where another spreadsheet may begin a cell. Not at a comma: one that parts there knows our quotation marks. */
const SEPARATORS = /([;\t|\r\n])/

const SIGNS = String.raw`[=+\-@\uFF0B\uFF0D\uFF1D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212]`
// Blanks and invisible characters before the sign count too: some spreadsheets trim them and then see a formula.
const FORMULA = new RegExp(String.raw`^[\s\p{Cc}\p{Cf}]*${SIGNS}`, 'u')
/** Behind a separator a quotation mark may open and close a cell, and what follows it belongs to the cell. */
const FORMULA_BEHIND = new RegExp(String.raw`^[\s\p{Cc}\p{Cf}"]*${SIGNS}`, 'u')
/** One piece, and no sign in front of it: most cells are, and need no closer look. */
const HARMLESS = /^(?:[0-9A-Za-z][^;\t|\r\n]*)?$/
/** Without one of these nothing has to be guarded. */
const SUSPECT = new RegExp(String.raw`${SIGNS}|^'*[\t\r\n\0]`, 'u')

// Digits and separators alone cannot name a cell or a function, so an amount is never altered, whatever its sign.
const PLAIN_NUMBER = /^[ \u00A0]*[+-]?(?:\d+(?:[.,'’ \u00A0\u2009\u202F]\d+)*[.,]?|[.,]\d+)[ \u00A0]*$/

export function guardCell(text: string): string {
  return withPieces(text, (piece) => `'${piece}`)
}

/** The inverse of `guardCell`, for every text. */
export function unguardCell(text: string): string {
  return withPieces(text, (piece) => (piece.startsWith("'") ? piece.slice(1) : piece))
}

/** With every piece changed that needs the guard: which ones do is the same before and behind the change. */
function withPieces(text: string, change: (piece: string) => string): string {
  if (HARMLESS.test(text) || !SUSPECT.test(text)) return text
  const parts = text.split(SEPARATORS)
  return parts
    .map((part, i) => (i % 2 === 0 && needsGuard(part, separatorsBefore(parts, i), parts[i + 1]) ? change(part) : part))
    .join('')
}

const BLANK = /^[\s\p{Cc}\p{Cf}"]*$/u

/**
 * Every separator behind which a spreadsheet may begin a cell with this piece: blanks before it are trimmed, and a tab is one.
 * With WHOLE where nothing but blanks stands before it, as the cell read as a whole then begins with it.
 */
function separatorsBefore(parts: readonly string[], i: number): readonly string[] {
  const separators: string[] = []
  for (let at = i - 1; at > 0; at -= 2) {
    const separator = parts[at] as string
    const blank = parts[at - 1] as string
    separators.push(separator)
    if (!/\s/.test(separator) || !BLANK.test(blank)) return separators
    // A first piece that is empty or begins with NUL gets an apostrophe of its own.
    if (at === 1 && blank !== '' && !blank.startsWith('\0')) separators.push(WHOLE)
  }
  return separators
}

/** Parts at no separator: ours, as we write it. */
const WHOLE = ''

/** Apostrophes in front do not change the answer: a cell that already looks guarded gets one more, so that none is lost. */
function needsGuard(piece: string, before: readonly string[], behind: string | undefined): boolean {
  const bare = piece.replace(/^'+/, '')
  if (before.length === 0) {
    if (bare.startsWith('\0') || (bare === '' && behind !== undefined && '\t\r\n'.includes(behind))) return true
    return FORMULA.test(bare) && !(behind === undefined && PLAIN_NUMBER.test(bare))
  }
  return (
    FORMULA_BEHIND.test(bare) && !(PLAIN_NUMBER.test(bare) && before.every((separator) => endsAt(behind, separator)))
  )
}

/** Whether a spreadsheet that parts cells at the one separator ends the cell at the other: else its number goes on. */
function endsAt(behind: string | undefined, before: string): boolean {
  if (behind === undefined) return true
  return before !== WHOLE && (behind === '\r' || behind === '\n' || behind === before)
}
