// Quotation marks as spreadsheets and people leave them: what may be read as it stands, and what could move a cell.

const QUOTE = '"'

/**
 * Whether quotation marks in the text of a record leave open where a cell ends. A mark in the middle of a cell does not
 * (5" screen); one behind which the cell goes on does, where a delimiter or a line break stands between it and the first.
 */
export function isUnclear(record: string, delimiter: string): boolean {
  if (!record.includes(QUOTE)) return false
  let at = 0
  for (;;) {
    const end = record[at] === QUOTE ? endOfQuoted(record, at, delimiter) : endOfPlain(record, at, delimiter)
    if (end === null) return true
    if (end >= record.length) return false
    at = end + 1
  }
}

/** Where the cell ends that begins with a quotation mark; null: unknown. */
function endOfQuoted(record: string, from: number, delimiter: string): number | null {
  let close = record.indexOf(QUOTE, from + 1)
  while (close !== -1 && record[close + 1] === QUOTE) close = record.indexOf(QUOTE, close + 2)
  if (close === -1) return null
  const end = endOf(record, close + 1, delimiter)
  const behind = record.slice(close + 1, end)
  const inside = record.slice(from + 1, close)
  const holdsEnd = inside.includes(delimiter) || /[\r\n]/.test(inside)
  return holdsEnd && behind.trim() !== '' ? null : end
}

/** Blanks and then a quotation mark were meant to quote: what stands between the marks must not reach beyond the cell. */
function endOfPlain(record: string, from: number, delimiter: string): number | null {
  const end = endOf(record, from, delimiter)
  const cell = record.slice(from, end)
  const wasMeantToQuote = cell.trimStart().startsWith(QUOTE)
  return wasMeantToQuote && cell.split(QUOTE).length % 2 === 0 ? null : end
}

function endOf(record: string, from: number, delimiter: string): number {
  for (let i = from; i < record.length; i++) {
    const character = record[i]
    if (character === delimiter || character === '\n' || character === '\r') return i
  }
  return record.length
}

/** A value without blanks around it and without the quotation marks that were put around all of it, as many as behind it. */
export function unquoted(cell: string): string {
  const text = cell.trim()
  let [lead, trail] = [0, 0]
  while (text[lead] === QUOTE) lead += 1
  if (lead === 0) return text
  // One mark alone means "as above" to some people: it is no empty cell.
  if (lead === text.length) return lead % 2 === 0 ? '' : text
  while (text[text.length - 1 - trail] === QUOTE) trail += 1
  const inner = text.slice(lead, text.length - trail)
  return lead !== trail || inner.includes(QUOTE) ? text : inner.trim()
}
