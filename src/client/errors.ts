// Why an instruction was not taken, or why that is not known. The two are never mixed up.

/** The ledger refused it: nothing of it was recorded, and nothing will be sent. Mend it and hand it in again. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    super(`refused: ${reasons.join('; ')}`)
    this.reasons = reasons
  }
}

/** Whether it was recorded is not known. Hand the same reference in again: it is not executed twice. */
export class UnsureError extends Error {
  override readonly name = 'UnsureError'
  /** Of the answer, where one came: an HTTP status and the code of its problem. */
  readonly status: number | null
  readonly code: string | null

  constructor(why: string, { cause, status = null, code = null }: UnsureBecause = {}) {
    super(
      `${why}. It may have been recorded, or may yet be: hand the same reference in again, it is not executed twice`,
      { cause },
    )
    this.status = status
    this.code = code
  }
}

interface UnsureBecause {
  readonly cause?: unknown
  readonly status?: number | null
  readonly code?: string | null
}
