// Which character parts the cells: what a `sep=` line says, else what the header line shows outside its quotes.

import { fieldOf } from './columns.ts'

const DELIMITERS = [';', ',', '\t', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

export interface Layout {
  readonly delimiter: Delimiter
  /** Characters of a leading `sep=` line with its line end, 0 where there is none. */
  readonly sepLineLength: number
}

/** null: a `sep=` line names something that is not a delimiter here. */
export function sniffLayout(head: string): Layout | null {
  const sep = /^"?sep=([^\r\n]?)"?[;,|\t ]*(?:\r\n|\r|\n|$)/i.exec(head)
  if (sep === null) return { delimiter: sniffDelimiter(head), sepLineLength: 0 }
  const delimiter = DELIMITERS.find((candidate) => candidate === sep[1])
  return delimiter === undefined ? null : { delimiter, sepLineLength: sep[0].length }
}

/** The candidate under which most columns are known, then the one that parts the header most often. */
function sniffDelimiter(head: string): Delimiter {
  const header = headerLine(head)
  let best: { delimiter: Delimiter; known: number; cells: number } | null = null
  for (const delimiter of DELIMITERS) {
    const cells = split(header, delimiter)
    if (cells.length === 1) continue
    const known = cells.filter((cell) => fieldOf(cell) !== undefined).length
    const better = best === null || known > best.known || (known === best.known && cells.length > best.cells)
    if (better) best = { delimiter, known, cells: cells.length }
  }
  return best?.delimiter ?? ','
}

/** The first line, quoted line breaks included, that has more in it than delimiters. */
function headerLine(head: string): string {
  let quoted = false
  let start = 0
  for (let i = 0; i < head.length; i++) {
    const character = head[i]
    if (character === '"') quoted = !quoted
    if (quoted || (character !== '\n' && character !== '\r')) continue
    const line = head.slice(start, i)
    if (/[^\s;,|"]/.test(line)) return line
    start = i + 1
  }
  return head.slice(start)
}

function split(line: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  let cell = ''
  let quoted = false
  for (const character of line) {
    if (character === '"') quoted = !quoted
    else if (character === delimiter && !quoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  cells.push(cell)
  return cells
}
