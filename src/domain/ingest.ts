// What a server asks of the process that reads a file for it, and what it is told at the end.

export interface IngestAsked {
  readonly act: 'check' | 'submit'
  /** As the caller showed it: the process finds out for itself whose it is. */
  readonly key: string
  /** Where the caller is. */
  readonly address: string
  readonly path: string
  /** As the caller calls the file. */
  readonly name: string
  /** Of the bytes that were checked. */
  readonly sha256: string
  /** As the options of the command line: how the file is read and what is expected of it. */
  readonly given: Readonly<Record<string, unknown>>
}

/** The last object that it wrote. `exit`: null where it was killed. */
export interface IngestEnded {
  readonly exit: number | null
  readonly said: Readonly<Record<string, unknown>> | null
}
