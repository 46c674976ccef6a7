// Whether a file that is refused for its columns holds card data as well: then nothing of it may be kept.

import type { CsvRecord } from '../csv/records.ts'
import type { Header } from '../header.ts'
import { DoubtfulColumns } from './columns.ts'
import { CardEvidence } from './evidence.ts'
import { findCardData } from './record.ts'

export class CardWatch {
  readonly #header: Header
  readonly #evidence: CardEvidence
  readonly #doubtful: DoubtfulColumns
  #hasSeen: boolean = false

  constructor(header: Header) {
    this.#header = header
    this.#evidence = new CardEvidence(header)
    this.#doubtful = new DoubtfulColumns(header)
  }

  see(record: CsvRecord, rowNo: number): void {
    this.#hasSeen ||= findCardData(this.#header, record, rowNo, null) !== null
    this.#evidence.see(record, rowNo)
    this.#doubtful.see(record, rowNo)
  }

  hasSeen(): boolean {
    return this.#hasSeen || 'kind' in this.#evidence.judge() || this.#doubtful.decide() !== null
  }
}
