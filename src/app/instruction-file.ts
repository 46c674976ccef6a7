// A file of instructions: surveyed once to its end, and its rows read again from the same descriptor.

import { basename } from 'node:path'
import { maskCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import { isTimeZone } from '../domain/instant.ts'
import type { Operation } from '../domain/instruction.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Currency } from '../domain/money.ts'
import { isProblem } from '../domain/problem.ts'
import type { FileRefusal, InstructionFile } from '../domain/submission.ts'
import { type Spelling, words } from '../domain/words.ts'
import type { NumbersPassed } from '../ingest/cards/evidence.ts'
import type { openCardReader } from '../ingest/cards/reader.ts'
import type { CardReader } from '../ports/cards.ts'
import { accountKeyOf } from './accounts.ts'
import { openToRead } from './input-file.ts'

export interface FileOptions {
  /** As its sender calls it; absent: as the path does. */
  readonly name?: string | undefined
  readonly operation: Operation | undefined
  /** Whether rows may have card details: only where this process sends them itself, or sends nothing. */
  readonly cards: 'taken' | 'refused'
  /** Epoch milliseconds: whether a card has expired, and which days are past or to come. */
  readonly nowMs: number
  /** The names of all merchants that are configured, the one that is meant first. */
  readonly merchants?: readonly string[] | undefined
  readonly currency: Currency | undefined
  readonly decimal: '.' | ',' | undefined
  /** Every amount carries a minus, which is taken off. */
  readonly sign?: 'minus' | undefined
  /** Amounts are in minor units of their currency. */
  readonly scale?: 'minor' | undefined
  /** The line that names the columns, where it is not the first. */
  readonly headerRow?: number | undefined
  readonly runKey: string | undefined
  /** IANA name: where moments without an offset are read. */
  readonly timeZone?: string | undefined
  /** What the columns are, where their names do not say it. */
  readonly map?: readonly { readonly column: string; readonly field: string }[] | undefined
  /** Columns whose numbers only look like card numbers, as a person says. */
  readonly notCards?: readonly string[] | undefined
  /** Of a workbook with several. */
  readonly sheet: string | undefined
  readonly allowHidden?: number | undefined
  /** Of the door that asks: what is said of the file is in its words. */
  readonly spelling: Spelling
}

/** A file that could be surveyed, or why it is refused whole. */
export type OpenedFile =
  | {
      readonly kind: 'file'
      readonly file: InstructionFile
      readonly rows: number
      readonly warnings: readonly string[]
      /** Numbers that look like card numbers and were let pass, by column. */
      readonly numbersPassed: readonly NumbersPassed[]
      /** Columns that were understood under another name than the gateway's. */
      readonly mapped: readonly { readonly written: string; readonly field: string }[]
      /** As the whole file was read; null: no amount of it shows one. */
      readonly decimal: '.' | ',' | null
      /** The line that names the columns, where it was said to be another than the first. */
      readonly headerRow: number | undefined
      /** Which of the carried columns names references; null: none does. */
      readonly referencePlace: number | null
      /** Of a workbook, the sheet that the rows come from; null: it is none. */
      readonly sheet: string | null
      /** How its text is written, and what parts its cells; null: a workbook says so itself. */
      readonly encoding: string | null
      readonly delimiter: string | null
      /** Every column that was understood, and those that are only carried through. */
      readonly columns: {
        readonly mapped: readonly { readonly written: string; readonly field: string }[]
        readonly carried: readonly string[]
      }
      /** Columns that speak of an amount beside the one that is read as the amount. */
      readonly rivals: readonly string[]
      /** Columns that the options exclude: no question is asked about them. */
      readonly ignored: readonly string[]
      /** Forms of numbers that its columns have shown to be no card numbers. */
      readonly formsPassed: ReadonlySet<string>
      /** Reads the card details of its rows again; null: they have none. */
      readonly openCards: (() => Promise<CardReader>) | null
      readonly close: () => Promise<void>
    }
  | FileRefusal

export async function openInstructionFile(path: string, merchant: Merchant, options: FileOptions): Promise<OpenedFile> {
  const [
    { surveyFile },
    { readRows },
    { Seals },
    { carriedColumns, understoodColumns },
    { toXtlOrderId },
    { isOfMonths },
  ] = await Promise.all([
    import('../ingest/inspect-file.ts'),
    import('../ingest/rows.ts'),
    import('../ingest/cards/seals.ts'),
    import('../ingest/header.ts'),
    import('../ingest/fields/xtl-order-id.ts'),
    import('../ingest/statements/when.ts'),
  ])
  const said = await parseSaid(options)
  const handle = await openToRead(path)
  const reading = {
    operation: options.operation,
    cards: options.cards,
    nowMs: options.nowMs,
    merchants: options.merchants,
    environment: merchant.environment,
    currency: options.currency ?? merchant.currency ?? undefined,
    decimal: options.decimal ?? merchant.decimal ?? undefined,
    sign: options.sign,
    scale: options.scale,
    headerRow: options.headerRow,
    runKey: options.runKey,
    sheet: options.sheet,
    allowHidden: options.allowHidden,
    notCards: options.notCards,
    accountKey: accountKeyOf(merchant),
    spelling: options.spelling,
    ...said,
  }
  const seals = new Seals()
  try {
    const survey = await surveyFile(handle, reading)
    if (survey.kind === 'refused') {
      await handle.close()
      return survey
    }
    const carried = survey.header.unknown.filter((name) => !survey.header.ignored.includes(name))
    const hasCards = survey.header.cardParts.size > 0
    return {
      kind: 'file',
      rows: survey.rows,
      warnings: survey.warnings,
      numbersPassed: survey.cards.passed,
      mapped: survey.header.mapped,
      decimal: survey.decimal,
      headerRow: options.headerRow,
      referencePlace: placeAmong(survey.header.carried, survey.header.fields.reference),
      columns: { mapped: understoodColumns(survey.header), carried: survey.header.unknown },
      rivals: survey.header.rivals,
      ignored: survey.header.ignored,
      sheet: survey.sheet,
      encoding: survey.encoding,
      delimiter: survey.delimiter,
      formsPassed: survey.cards.forms,
      openCards: hasCards ? () => openCards(handle, survey, reading, seals) : null,
      close: () => handle.close(),
      file: {
        name: maskCardData(options.name ?? basename(path)),
        sha256: survey.sha256,
        columns: carriedColumns(survey.header),
        fedBack: survey.fedBack,
        carried,
        months: { names: [options.name ?? basename(path), survey.sheet ?? ''], columns: carried.filter(isOfMonths) },
        hasCards,
        notCards: survey.header.notCards.map((place) => survey.header.written[place] as string),
        xtlOrderIdOf: (reference) => toXtlOrderId(reading.accountKey, reference),
        rows: () => readRows(handle, survey, reading, hasCards ? seals : null),
      },
    }
  } catch (error) {
    await handle.close().catch(() => {})
    throw error
  }
}

async function openCards(...read: Parameters<typeof openCardReader>): Promise<CardReader> {
  const { openCardReader: open } = await import('../ingest/cards/reader.ts')
  return open(...read)
}

function placeAmong(carried: readonly number[], place: number | undefined): number | null {
  const found = place === undefined ? -1 : carried.indexOf(place)
  return found === -1 ? null : found
}

/** What a person said of columns and moments; what is wrong with it is no fault of the file. */
async function parseSaid({ map, timeZone, operation, cards }: FileOptions) {
  const [{ parseColumnMap }, { vocabularyOf }] = await Promise.all([
    import('../ingest/columns.ts'),
    import('../ingest/vocabulary.ts'),
  ])
  const parsed = parseColumnMap(map ?? [], vocabularyOf({ operation, cards }))
  const nothing = 'Nothing was recorded and nothing was sent.'
  if (isProblem(parsed))
    throw new Fault('usage', words`${{ set: 'map', to: null }}: ${parsed.problem}; ${parsed.remedy}. ${nothing}`)
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new Fault(
      'usage',
      words`${{ set: 'timezone', to: null }} ${timeZone}: write an IANA time zone such as Europe/Berlin. ${nothing}`,
    )
  return { map: parsed, timeZone }
}
