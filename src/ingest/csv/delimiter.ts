// Which character parts the cells: what a `sep=` line says, else what the header line shows outside its quotes.

import type { Problem } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { fieldOf } from '../columns.ts'

const DELIMITERS = [';', ',', '\t', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

export interface Layout {
  readonly delimiter: Delimiter
  /** Before the line that names the columns: a `sep=` line, and the lines that a person said are above it. */
  readonly skippedCharacters: number
  /** Of the file, from 1: the first line that is read. */
  readonly firstLine: number
}

/** Which names are known decides between delimiters; the mapping may know others than everybody. */
export type IsKnown = (column: string) => boolean

const everybodyKnows: IsKnown = (column) => fieldOf(column) !== undefined

/** `headerRow`: the line that names the columns, where a person said it. */
export function sniffLayout(
  head: string,
  isKnown: IsKnown = everybodyKnows,
  headerRow: number | undefined = undefined,
): Layout | Problem<Text> {
  const sep = /^"?sep=([^\r\n]?)"?[;,|\t ]*(?:\r\n|\r|\n|$)/i.exec(head)
  const above = headerRow === undefined ? null : charactersAbove(head, headerRow)
  if (headerRow !== undefined && above === null) return noSuchLine(headerRow)
  const skipped = { skippedCharacters: above ?? sep?.[0].length ?? 0, firstLine: headerRow ?? (sep === null ? 1 : 2) }
  if (sep === null) {
    const delimiter = sniffDelimiter(headerLine(head.slice(skipped.skippedCharacters)), isKnown)
    return typeof delimiter === 'string' ? { delimiter, ...skipped } : delimiter
  }
  const delimiter = DELIMITERS.find((candidate) => candidate === sep[1])
  return delimiter === undefined ? NOT_A_DELIMITER : { delimiter, ...skipped }
}

/** Up to a line of the file, whatever quotation marks stand above it; null: the file has no such line near its start. */
function charactersAbove(head: string, line: number): number | null {
  if (line === 1) return 0
  let at = 1
  for (const { index, 0: lineEnd } of head.matchAll(/\r\n|\r|\n/g)) {
    at += 1
    if (at === line) return index + lineEnd.length
  }
  return null
}

export function noSuchLine(line: number): Problem<Text> {
  return {
    problem: words`line ${line} is empty or not there, and ${{ set: 'header-row', to: null }} says that it names the columns`,
    remedy: 'count the lines as a text editor or the spreadsheet numbers them, empty ones too',
  }
}

const NOT_A_DELIMITER: Problem = {
  problem: 'the sep= line names a character that cannot separate cells',
  remedy: 'use a comma, a semicolon, a tab or |',
}

/** The candidate under which most columns are known, then the one that parts the header most often. */
function sniffDelimiter(written: string, isKnown: IsKnown): Delimiter | Problem {
  const header = withoutWrap(written)
  let best: { delimiter: Delimiter; known: number; cells: number; rival: Delimiter | null } | null = null
  for (const delimiter of DELIMITERS) {
    const cells = split(header, delimiter)
    if (cells.length === 1) continue
    const known = cells.filter(isKnown).length
    if (best === null || known > best.known || (known === best.known && cells.length > best.cells)) {
      best = { delimiter, known, cells: cells.length, rival: null }
    } else if (known === best.known && cells.length === best.cells) best.rival = delimiter
  }
  if (best !== null && best.rival !== null && best.known > 0) {
    return {
      problem: `the first line could be separated by ${NAMES[best.delimiter]} or by ${NAMES[best.rival]}`,
      remedy: `write sep= and the delimiter in a line of its own above it, for example sep=${best.delimiter === '\t' ? ';' : best.delimiter}`,
    }
  }
  return best?.delimiter ?? ','
}

const NAMES: Readonly<Record<Delimiter, string>> = { ';': 'a semicolon', ',': 'a comma', '\t': 'a tab', '|': '|' }

/** A header that stands in quotation marks as a whole is read as what stands between them. */
function withoutWrap(header: string): string {
  const whole = /^\s*"((?:[^"]|"")*)"\s*$/.exec(header)?.[1]
  return whole === undefined ? header : whole.replaceAll('""', '"')
}

/** A line further down that looks more like column names than the first one does; null: none does. */
export function findHeaderBelow(head: string, firstLine: number, isKnown: IsKnown = everybodyKnows): number | null {
  const lines = head.split(/\r\n|\r|\n/).slice(0, TITLE_LINES_MOST)
  const knownIn = (line: string) =>
    Math.max(...DELIMITERS.map((delimiter) => split(withoutWrap(line), delimiter).filter(isKnown).length))
  return lineOfNames(lines.map(knownIn), firstLine)
}

/** Of the lines above this one, the first whose cells fit; null: none do. */
export function findAbove(
  head: string,
  line: number,
  delimiter: Delimiter,
  fits: (cells: readonly string[]) => boolean,
): number | null {
  const lines = head.split(/\r\n|\r|\n/, line - 1)
  const place = lines.findIndex((above) => fits(split(withoutWrap(above), delimiter)))
  return place === -1 ? null : place + 1
}

/** By line: how many known names stand in it. */
export function lineOfNames(known: readonly number[], firstLine: number): number | null {
  const most = Math.max(0, ...known.slice(firstLine))
  return most >= 2 && most > (known[firstLine - 1] ?? 0) ? known.indexOf(most, firstLine) + 1 : null
}

export const TITLE_LINES_MOST = 40

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
