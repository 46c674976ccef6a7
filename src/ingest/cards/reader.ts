// The reading of a file that gives card details: row by row, as they are asked for, and nothing is held of the others.
//
// CSV is read in chunks. A workbook is held in memory as a whole while it is read, as it is at every reading; neither is
// ever put into temporary space (zip.ts inflates from that memory piece by piece), so that no card gets there.

import type { FileHandle } from 'node:fs/promises'
import type { CardDetails } from '../../domain/card.ts'
import { Fault } from '../../domain/fault.ts'
import type { CardReader } from '../../ports/cards.ts'
import { readCard } from '../card-of-row.ts'
import { type CsvRecord, oneByOne } from '../csv/records.ts'
import type { Survey } from '../inspect-file.ts'
import type { ReadingOptions } from '../inspect-records.ts'
import { type NumberedRecord, readAgain } from '../read-again.ts'
import { cardColumnsOf, fieldsIn } from '../row-cells.ts'
import { RowReading } from '../row-reading.ts'
import { readRows } from '../rows.ts'
import type { Seals } from './seals.ts'

type Answer = CardDetails | 'changed'

interface Asked {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

type Rows = AsyncGenerator<NumberedRecord>

/**
 * Of a file whose rows were sealed while a draft was made of them; where none was made, as of a batch that is recorded
 * already, they are sealed now. Throws a fault where the bytes are not those of the survey. The file stays open when
 * the reader is closed.
 */
export async function openCardReader(
  file: FileHandle,
  survey: Survey,
  options: ReadingOptions,
  seals: Seals,
): Promise<CardReader> {
  if (!seals.isWhole) for await (const _ of readRows(file, survey, options, seals));
  return new Elevator(file, survey, cardOfRow(survey, options), seals)
}

/**
 * Of a row that was checked: its cells are those of an instruction. null: it has no card. One that has expired since then
 * is the gateway's to decline: the row is recorded, and the file has not changed.
 */
function cardOfRow({ header, numericIds }: Survey, options: ReadingOptions): (record: CsvRecord) => CardDetails | null {
  const asked = cardColumnsOf(header, options)
  const columns = asked === null ? null : { ...asked, nowMs: null }
  return (record) => {
    const { cellOf, storedOf } = fieldsIn(header, record, numericIds)
    const row = new RowReading(cellOf, storedOf)
    const card = readCard(row, columns)
    return row.faults.length === 0 ? card : null
  }
}

/**
 * Goes through the file from its first row to its last and stops where it is asked for a row; who asks for one behind it
 * waits for the next pass. After the first row that is not as it was checked no row gets its card.
 */
class Elevator implements CardReader {
  readonly #file: FileHandle
  readonly #survey: Survey
  readonly #cardIn: (record: CsvRecord) => CardDetails | null
  readonly #seals: Seals
  readonly #asked = new Map<number, Asked[]>()
  #rows: Rows | null = null
  /** The row that was read last in this pass. */
  #at = 0
  #isChanged: boolean = false
  #running: Promise<void> | null = null

  constructor(file: FileHandle, survey: Survey, cardIn: (record: CsvRecord) => CardDetails | null, seals: Seals) {
    this.#file = file
    this.#survey = survey
    this.#cardIn = cardIn
    this.#seals = seals
  }

  cardOf(rowNo: number): Promise<Answer> {
    if (this.#isChanged || !this.#seals.cover(rowNo)) return Promise.resolve('changed')
    return new Promise((resolve, reject) => {
      this.#asked.set(rowNo, [...(this.#asked.get(rowNo) ?? []), { resolve, reject }])
      this.#running ??= this.#run()
    })
  }

  async close(): Promise<void> {
    this.#giveUp()
    await this.#running
    await this.#endPass()
    this.#seals.drop()
  }

  async #run(): Promise<void> {
    try {
      while (this.#asked.size > 0 && !this.#isChanged) {
        if (this.#nextAhead() === null) await this.#startPass()
        await this.#goOn()
      }
    } catch (error) {
      if (!(error instanceof Fault)) this.#refuseAll(error)
      this.#giveUp()
    } finally {
      this.#running = null
      if (this.#isChanged) await this.#endPass()
    }
  }

  /** The nearest row that is asked for and was not passed; null: all are behind. */
  #nextAhead(): number | null {
    if (this.#rows === null) return null
    let next: number | null = null
    for (const rowNo of this.#asked.keys()) if (rowNo > this.#at && (next === null || rowNo < next)) next = rowNo
    return next
  }

  async #startPass(): Promise<void> {
    await this.#endPass()
    this.#rows = oneByOne((await readAgain(this.#file, this.#survey)).rows)
  }

  async #endPass(): Promise<void> {
    const rows = this.#rows
    this.#rows = null
    this.#at = 0
    await rows?.return(undefined)
  }

  /** One row further. The record is in no scope that outlives the step. */
  async #goOn(): Promise<void> {
    const read = await this.#rows?.next()
    if (read === undefined || read.done === true) return this.#giveUp()
    const { record, rowNo } = read.value
    this.#at = rowNo
    const asked = this.#asked.get(rowNo)
    if (asked === undefined || this.#isChanged) return
    if (!this.#seals.fits(rowNo, record)) return this.#giveUp()
    this.#asked.delete(rowNo)
    const card = this.#cardIn(record) ?? 'changed'
    for (const { resolve } of asked) resolve(card)
  }

  #giveUp(): void {
    this.#isChanged = true
    for (const { resolve } of this.#take()) resolve('changed')
  }

  #refuseAll(error: unknown): void {
    for (const { reject } of this.#take()) reject(error)
  }

  #take(): readonly Asked[] {
    const all = [...this.#asked.values()].flat()
    this.#asked.clear()
    return all
  }
}
