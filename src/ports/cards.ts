// The card details of the rows of a file, read again when each is sent.

import type { CardDetails } from '../domain/card.ts'

export interface CardReader {
  /**
   * The card details of a row. `changed`: the file is not what was checked, and nothing of the row may be sent; so is every
   * later answer.
   */
  cardOf(rowNo: number): Promise<CardDetails | 'changed'>
  close(): Promise<void>
}
