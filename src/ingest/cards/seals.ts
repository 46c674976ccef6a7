// Proof that a row read again is the row that was checked: a keyed hash of its cells, which says nothing of them.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { assert } from '../../domain/fault.ts'
import type { CsvRecord } from '../csv/records.ts'

const SEAL_BYTES = 16

/** Of one reading, under a key that is in this process only. 16 bytes a row, and nothing else of it. */
export class Seals {
  #key = randomBytes(32)
  #seals = Buffer.alloc(0)
  #rows = 0
  #isWhole: boolean = false

  /** The last reading came to its end, and was of the bytes that were surveyed. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** A reading begins, and an earlier one no longer counts. `rows`: as many as the survey found. */
  begin(rows: number): void {
    this.drop()
    this.#key = randomBytes(32)
    this.#seals = Buffer.alloc(rows * SEAL_BYTES)
  }

  /** In the order of the rows, each once. */
  add(rowNo: number, record: CsvRecord): void {
    assert(rowNo === this.#rows + 1, `row ${rowNo} is sealed after row ${this.#rows}`)
    const at = this.#rows * SEAL_BYTES
    // Longer than it was surveyed: the reading ends in a fault, and until then it must not fail otherwise.
    if (at === this.#seals.length) this.#seals = Buffer.concat([this.#seals], 2 * at + SEAL_BYTES)
    this.#sealOf(rowNo, record).copy(this.#seals, at)
    this.#rows = rowNo
  }

  finish(): void {
    this.#isWhole = true
  }

  /** Whether there is a row of that number. */
  cover(rowNo: number): boolean {
    return this.#isWhole && Number.isInteger(rowNo) && rowNo >= 1 && rowNo <= this.#rows
  }

  /** Whether it is the row that was sealed, to the last sign of every cell. */
  fits(rowNo: number, record: CsvRecord): boolean {
    if (!this.cover(rowNo)) return false
    const at = (rowNo - 1) * SEAL_BYTES
    return timingSafeEqual(this.#seals.subarray(at, at + SEAL_BYTES), this.#sealOf(rowNo, record))
  }

  /** Nothing fits any more. */
  drop(): void {
    this.#key.fill(0)
    this.#isWhole = false
    this.#rows = 0
    this.#seals = Buffer.alloc(0)
  }

  #sealOf(rowNo: number, { cells, kinds, marks }: CsvRecord): Buffer {
    const row = JSON.stringify([rowNo, cells, kinds, marks])
    return createHmac('sha256', this.#key).update(row).digest().subarray(0, SEAL_BYTES)
  }
}
