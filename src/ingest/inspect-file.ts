// The first reading of a file: what kind of file it is, and whether it is whole. A structural fault refuses all of it.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { assert, Fault } from '../domain/fault.ts'
import { FIELD_RULES, type Operation } from '../domain/instruction.ts'
import { isProblem, type Problem, refuse, type StructuralFault, shown, spelled } from '../domain/problem.ts'
import type { FileRefusal } from '../domain/submission.ts'
import { type Text, words } from '../domain/words.ts'
import { type Encoding, readHead, sniffBinary, sniffEncoding, type Weighed, weighUtf8 } from './csv/bytes.ts'
import { findAbove, findHeaderBelow, type Layout, sniffLayout } from './csv/delimiter.ts'
import { inGroups, readRecords } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { parseRunKey } from './fields/reference.ts'
import type { Header } from './header.ts'
import { findCardAbove } from './header-faults.ts'
import { knownWith, type ReadingOptions, type RecordsFound, surveyRecords } from './inspect-records.ts'
import { LIMITS } from './limits.ts'
import { notToSendStatement } from './statements/above.ts'
import { refusalOf } from './statements/statement.ts'
import { saysNotToSend } from './statements/words.ts'
import type { Comment } from './workbook/comments.ts'
import type { Unseen } from './workbook/sheet.ts'
import { openWorkbook, startsAsZip, type Workbook } from './workbook/workbook.ts'

export type Survey = Surveyed & (CsvPlace | WorkbookPlace)

interface CsvPlace extends Layout {
  readonly encoding: Encoding
  /** Some cell has quotation marks in its middle. */
  readonly patient: boolean
  readonly sheet: null
}

interface WorkbookPlace {
  readonly encoding: null
  readonly delimiter: null
  readonly sheet: string
  /** Of the sheet: the first row that is read. */
  readonly firstLine: number
}

interface Surveyed extends RecordsFound {
  /** By line: a comment of a workbook that says that the row is not to be sent. */
  readonly noted?: ReadonlyMap<number, { readonly place: number; readonly text: string }>
  readonly kind: 'survey'
  /** Of the bytes of the file, in hex. */
  readonly sha256: string
  /** The file is results of this program: references come from there, and it may send nothing by itself. */
  readonly fedBack: boolean
}

/** A wrong run key is a fault of usage; whatever is wrong with the file is an answer. */
export async function surveyFile(file: FileHandle, options: ReadingOptions): Promise<Survey | FileRefusal> {
  const found = await surveyAny(file, options)
  return found.kind === 'refused' ? { ...found, ...spelled(found, options.spelling) } : found
}

async function surveyAny(file: FileHandle, options: ReadingOptions): Promise<Survey | StructuralFault> {
  const { operation, cards, nowMs } = options
  assert(cards !== 'taken' || nowMs !== undefined, 'cards are taken by a clock')
  if (operation !== undefined && FIELD_RULES[operation].card === 'required' && cards !== 'taken')
    return refuse(needsCards(operation))
  const runKeyGiven = runKeyOf(options) !== null
  const { size } = await file.stat()
  if (size > LIMITS.fileBytes) return refuse(TOO_LARGE)
  const head = await readHead(file)
  const found = startsAsZip(head) ? await surveyWorkbook(file, options) : await surveyCsv(file, head, options)
  if (found.kind === 'survey' && found.fedBack && runKeyGiven) {
    throw new Fault(
      'usage',
      words`The file is results fed back: its references have their run key already. Run it without ${{ set: 'run-key', to: null }}. Nothing was recorded, nothing was sent.`,
    )
  }
  return found
}

function needsCards(operation: Operation): Problem<Text> {
  const to = operation === 'VAULT_UPDATE' ? 'update' : 'create'
  return {
    problem: `the file is declared to be ${operation}, and card details are not taken here`,
    remedy: words`they are sent by the process that reads the file${{ act: 'use-vault', to, lead: ': ' }}`,
  }
}

/** The run key as it stands before references; null where none was given. */
export function runKeyOf(options: ReadingOptions): string | null {
  if (options.runKey === undefined) return null
  const key = parseRunKey(options.runKey)
  if (isProblem(key)) throw new Fault('usage', `The run key ${key.problem}: ${key.remedy}.`)
  return key
}

function toSurvey<Place>(found: RecordsFound, sha256: string, place: Place, more: readonly string[]): Surveyed & Place {
  const fedBack = found.header.results !== null
  return { kind: 'survey', ...place, ...found, sha256, fedBack, warnings: [...found.warnings, ...more] }
}

// ───────────────────────────────────────────────────────────── Workbooks

async function surveyWorkbook(file: FileHandle, options: ReadingOptions): Promise<Survey | StructuralFault> {
  const workbook = await openWorkbook(file, options.sheet, options.headerRow)
  if (workbook.kind === 'refused') return workbook
  if (options.sheet === undefined && saysNotToSend(workbook.sheet)) return refuse(sheetNotToSend(workbook.sheet))
  const found = await surveyRecords(inGroups(workbook.records()), options, { ...workbook, delimiter: null })
  if (typeof found === 'string') return refuse(NOT_TEXT)
  if ('kind' in found) return found
  const unseen = hiddenAmountFault(found.header, workbook.unseen, options) ?? hiddenRowsFault(workbook.unseen, options)
  if (unseen !== null) return refuse(unseen)
  const place = { encoding: null, delimiter: null, sheet: workbook.sheet, firstLine: workbook.firstLine }
  const comments = await commentsIn(workbook, found.header)
  const notToSend = comments.filter(isNotToSend)
  const [above] = notToSend.filter(({ line }) => line <= workbook.firstLine)
  if (above !== undefined)
    return refusalOf(notToSendStatement({ line: above.line, cell: inOneLine(above) }), above.line)
  const warnings = [...unseenWarnings(workbook), ...commentWarnings(comments, found.header)]
  const noted = new Map(notToSend.map((one) => [one.line, { place: one.column - 1, text: inOneLine(one) }]))
  return { ...toSurvey(found, workbook.sha256, place, warnings), noted }
}

function sheetNotToSend(sheet: string): Problem<Text> {
  return {
    problem: `the only sheet with rows is called "${shown(sheet)}", as if they were not to be sent`,
    remedy: words`find out whether they are; if they are, name it: ${{ set: 'sheet', to: sheet }}`,
  }
}

/** Who looks at the sheet takes the column that shows for the amount. */
function hiddenAmountFault({ fields, written, rivals }: Header, { columns }: Unseen, { map = [] }: ReadingOptions) {
  const amount = written[fields.amount ?? -1]?.trim()
  const isHidden = (name: string) => columns.some((column) => column.trim() === name.trim())
  const rival = rivals.find((name) => !isHidden(name))?.trim()
  if (amount === undefined || rival === undefined || !isHidden(amount)) return null
  if (map.some(({ field }) => field === 'amount')) return null
  const as = (column: string, field: 'amount' | 'ignore') =>
    words`${{ set: 'map', column: shown(column), field }}` as Text
  return {
    problem: `the column "${shown(amount)}" would be read as the amount and is hidden in the sheet, where "${shown(rival)}" is seen`,
    remedy: words`to read it: ${as(amount, 'amount')}; to read the other: ${as(amount, 'ignore')} ${as(rival, 'amount')}`,
  }
}

/** A filter hides rows as often as not because they are done. */
function hiddenRowsFault({ rows }: Unseen, { allowHidden = 0 }: ReadingOptions): Problem<Text> | null {
  if (rows === 0 || rows === allowHidden) return null
  const [are, them] =
    rows === 1 ? ['row of the sheet is hidden', 'it is'] : ['rows of the sheet are hidden', 'they are']
  return {
    problem: `${rows} ${are}, as by a filter, and would be read like any other`,
    remedy: words`if ${them} meant: ${{ set: 'allow-hidden', to: `${rows}` }}; if not, show all rows and delete what is not meant`,
  }
}

const COMMENTED: readonly Field[] = ['amount', 'request_ref_po_id', 'customer_vault_id', 'xtl_order_id', 'reference']
const COMMENTS_NAMED = 20

/** Of amounts, ids, column names and what is above them; elsewhere those that say that a row is not to be sent. */
function commentsIn({ comments, firstLine }: Workbook, { fields }: Header): Promise<readonly Comment[]> {
  const places = COMMENTED.flatMap((field) => fields[field] ?? [])
  return comments((one) => one.line <= firstLine || places.includes(one.column - 1) || isNotToSend(one))
}

function inOneLine({ text }: Comment): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Spreadsheets put the name of its author in front. */
function isNotToSend(comment: Comment): boolean {
  const text = inOneLine(comment)
  return saysNotToSend(text) || saysNotToSend(text.replace(/^[^:]{1,60}: /, ''))
}

function commentWarnings(comments: readonly Comment[], { written }: Header): readonly string[] {
  const more = comments.length - COMMENTS_NAMED
  return [
    ...comments.slice(0, COMMENTS_NAMED).map((one) => {
      const name = shown((written[one.column - 1] ?? '').trim())
      return `Line ${one.line}, column "${name}", has a comment: "${shown(inOneLine(one))}".`
    }),
    ...(more > 0 ? [`${more} more cells have comments.`] : []),
  ]
}

/** What a person who looked at the sheet has not seen. */
function unseenWarnings({ sheet, isHidden, unseen: { rows, cells, columns } }: Workbook): string[] {
  const warnings: string[] = []
  if (isHidden)
    warnings.push(
      `The sheet "${shown(sheet)}" is hidden in the workbook and is read like any other. Is it the one that is meant?`,
    )
  if (rows > 0)
    warnings.push(
      `${rows} of the rows ${rows === 1 ? 'is hidden in the sheet and is' : 'are hidden in the sheet and are'} read like any other.`,
    )
  if (columns.length > 0)
    warnings.push(
      columns.length === 1
        ? `The column ${listText(columns)} is hidden in the sheet and is read like any other.`
        : `The columns ${listText(columns)} are hidden in the sheet and are read like any other.`,
    )
  if (cells > 0)
    warnings.push(
      `${cells === 1 ? '1 cell with a value is' : `${cells} cells with values are`} hidden under merged cells. In a column that is understood this is a fault; elsewhere ${cells === 1 ? 'it is' : 'they are'} read like any other.`,
    )
  return warnings
}

const COLUMNS_NAMED = 30

function listText(columns: readonly string[]): string {
  const named = columns.slice(0, COLUMNS_NAMED).map((name) => `"${shown(name.trim())}"`)
  const more = columns.length - named.length
  if (more > 0) return `${named.join(', ')} and ${more} more`
  return named.length === 1 ? (named[0] as string) : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
}

// ───────────────────────────────────────────────────────────── CSV

async function surveyCsv(
  file: FileHandle,
  head: Uint8Array,
  options: ReadingOptions,
): Promise<Survey | StructuralFault> {
  if (options.sheet !== undefined) {
    throw new Fault(
      'usage',
      words`The file is not an Excel workbook and has no sheets. Run it without ${{ set: 'sheet', to: null }}. Nothing was recorded, nothing was sent.`,
    )
  }
  const binary = sniffBinary(head)
  if (binary !== null) {
    return refuse({
      problem: `the file is ${binary}, neither CSV nor .xlsx`,
      remedy: 'save the sheet as .xlsx without a password, or as "CSV UTF-8", and use that file',
    })
  }
  const { encoding, certain } = sniffEncoding(head)
  const found = await surveyAs(file, head, encoding, options)
  if (found !== 'not-text') return found
  return certain ? refuse(notDecodable(encoding)) : surveyAsOld(file, head, options)
}

/**
 * As Windows-1252, unless what is wrong shows that it is UTF-8 that was damaged, cut or joined: read as Windows-1252 its
 * references and names would be others than they are.
 */
async function surveyAsOld(
  file: FileHandle,
  head: Uint8Array,
  options: ReadingOptions,
): Promise<Survey | StructuralFault> {
  const weighed = await weighUtf8(file)
  if (weighed.wrong === 0) return refuse(NOT_TEXT)
  const { right, onlyAtEnd, firstWrongLine } = weighed
  if (right > 0 || onlyAtEnd) return refuse(brokenUtf8(weighed), { line: firstWrongLine })
  const found = await surveyAs(file, head, 'windows-1252', options)
  if (found === 'not-text') return refuse(NOT_TEXT, { line: firstWrongLine })
  if (found.kind === 'refused') return found
  return { ...found, warnings: [...found.warnings, asOldWarning(firstWrongLine)] }
}

function brokenUtf8({ right, wrong, firstWrongLine }: Weighed): Problem {
  if (right === 0)
    return {
      problem: 'the last character of the file is cut through, or the file is not UTF-8',
      remedy: 'the file may be incomplete: export it again as "CSV UTF-8"',
    }
  return right >= wrong
    ? {
        problem: `the file is UTF-8 except for some bytes, the first of them in line ${firstWrongLine}`,
        remedy: 'it may be damaged, or joined from files of two encodings: export it again as "CSV UTF-8"',
      }
    : {
        problem: 'the file is not UTF-8, and may be in any of the older encodings',
        remedy: 'those of East Asia and Eastern Europe cannot be told from one another: export it again as "CSV UTF-8"',
      }
}

function asOldWarning(line: number): string {
  return `The file is not UTF-8 and was read as Windows-1252: look at the letters with accents in line ${line} before you go on.`
}

const NOT_TEXT: Problem = {
  problem: 'the file is neither UTF-8 nor Windows-1252 text',
  remedy: 'save it as "CSV UTF-8" and use that file',
}
const TOO_LARGE: Problem = {
  problem: `the file is larger than ${LIMITS.fileBytes / 1024 ** 3} GiB`,
  remedy: 'split it into several files, each with the column names in its first line',
}
function notDecodable(encoding: Encoding): Problem {
  return {
    problem: `the file begins as ${encoding.toUpperCase()} but has bytes that are not`,
    remedy: 'the file may be damaged or joined from two: export it again as "CSV UTF-8"',
  }
}

async function surveyAs(
  file: FileHandle,
  head: Uint8Array,
  encoding: Encoding,
  options: ReadingOptions,
  patient = false,
): Promise<Survey | StructuralFault | 'not-text'> {
  const text = new TextDecoder(encoding).decode(head)
  const layout = sniffLayout(text, knownWith(options), options.headerRow)
  if (isProblem(layout)) return refuse(layout, { line: options.headerRow === undefined ? 1 : null })
  const cardAbove = findCardAbove(text.slice(0, layout.skippedCharacters).split(/\r\n|\r|\n/))
  if (cardAbove !== null) return cardAbove
  const hash = createHash('sha256')
  const records = readRecords(file, { ...layout, encoding, patient }, hash)
  const found = await surveyRecords(records, options, {
    delimiter: layout.delimiter,
    findHeaderBelow: (firstLine, isKnown) => findHeaderBelow(text, firstLine, isKnown),
    findAbove: (line, fits) => findAbove(text, line, layout.delimiter, fits),
  })
  if (found === 'odd-quotes') return surveyAs(file, head, encoding, options, true)
  if (found === 'not-text' || 'kind' in found) return found
  return toSurvey(found, hash.digest('hex'), { ...layout, encoding, patient, sheet: null }, [])
}
