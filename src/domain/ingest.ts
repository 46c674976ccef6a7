// What a server asks of the process that reads a file for it, and what it is told at the end.

import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'

/** Who asks: by a key, or by the session of a person. */
export interface ShownSecret {
  readonly kind: 'key' | 'person'
  /** As the caller showed it: the process finds out for itself whose it is. */
  readonly secret: string
}

export interface IngestAsked {
  readonly act: 'check' | 'submit'
  readonly caller: ShownSecret
  /** Where the caller is. */
  readonly address: string
  readonly path: string
  /** As the caller calls the file. */
  readonly name: string
  /** Of the bytes that were checked. */
  readonly sha256: string
  /** As the options of the command line: how the file is read and what is expected of it. */
  readonly given: Readonly<Record<string, unknown>>
  /** What a person was told will be sent: nothing else is recorded. Absent: nobody was. */
  readonly told?: ToldToSend
}

/** As it reaches the process. */
export interface IngestOrder extends IngestAsked {
  /** The server is a rehearsal: no money moves. */
  readonly sandbox: boolean
}

export interface ToldToSend {
  readonly rows: number
  readonly totals: readonly ToldTotal[]
  /** That somebody approves it before anything is sent. */
  readonly approval: boolean
  /** The look-alikes that a person looked at and said are meant, one by one (`pairOf`), in file order. Absent: their number was typed. */
  readonly pairs?: readonly string[]
}

/** Texts, so that they cross to another process as they are. */
export interface ToldTotal {
  readonly operation: Operation | ''
  readonly currency: Currency | ''
  readonly count: number
  /** In units of the currency; empty: it has none. */
  readonly amount: string
}

/** How far a check is, before anything is known of the file as a whole. */
export interface IngestProgress {
  /** Rows that were read, of those that the file has. */
  readonly rows: number
  readonly of: number
  readonly first: readonly FirstRow[]
}

/** One of the first rows, as it was understood; texts, as the details of a check have them. `bad`: by itself, whatever the others are. */
export interface FirstRow {
  readonly line: number
  readonly bad: boolean
  readonly reference: string
  readonly operation: Operation | null
  readonly amount: string | null
  readonly currency: Currency | null
  readonly order_id: string | null
  readonly vault_id: string | null
}

/** The last object that it wrote. `exit`: null where it was killed. */
export interface IngestEnded {
  readonly exit: number | null
  readonly said: Readonly<Record<string, unknown>> | null
}
