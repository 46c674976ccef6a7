// Where a cell of a sheet is: `AB12`.

/** The last row and column of a sheet in any spreadsheet program. */
export const ROWS_MOST = 1_048_576
export const COLUMNS_MOST = 16_384

/** From 1. */
export interface Address {
  readonly column: number
  readonly line: number
}

/** null: it is none. */
export function parseAddress(text: string): Address | null {
  const match = /^\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})$/.exec(text)
  if (match === null) return null
  const letters = (match[1] as string).toUpperCase()
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
  const line = Number(match[2])
  return column > COLUMNS_MOST || line > ROWS_MOST ? null : { column, line }
}

/** `A1:B2`, from the upper left to the lower right; one cell alone is a range too. null: it is none. */
export function parseRange(text: string): { readonly first: Address; readonly last: Address } | null {
  const [from, to = from, more] = text.split(':')
  const first = parseAddress(from ?? '')
  const last = parseAddress(to ?? '')
  if (first === null || last === null || more !== undefined) return null
  return first.column > last.column || first.line > last.line ? null : { first, last }
}

export function lettersOf(column: number): string {
  let letters = ''
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}
