// A file of rejects: what is asked of it, and what became of it.

export interface WrittenRejects {
  readonly path: string
  readonly rows: number
  /** `emptied`: nothing is bad, and what an earlier run left there has only its column names now. */
  readonly kind: 'written' | 'replaced' | 'emptied' | 'nothing'
}

/** What the same run will write. */
export interface ResultsBeside {
  readonly out: string
  readonly exceptions: string | null
  readonly report: string | null
  readonly sandbox: boolean
}
