// The ledger, proved: whether the record agrees with itself and with what was written down of it.

/** One thing in the record that does not fit with another. */
export interface Disagreement {
  /** The table, the reference or the link of the chain. */
  readonly where: string
  /** What does not fit, what it means for the money and what to do: a sentence or two. */
  readonly means: string
}

export interface AuditLedger {
  /**
   * Whether the record agrees with itself, from one read transaction that holds up no writer. `head`: one that was written
   * down earlier is compared as well; null: none.
   */
  audit(head: string | null): AsyncIterable<Disagreement>
  /** The end of the chain over all that was recorded, as `LINK:HASH`. Written down elsewhere, it proves what was here. */
  head(): Promise<string>
}

/** What came of proving it. */
export type Verified =
  /** `head`: of the chain, up to which everything agrees. */
  | { readonly kind: 'whole'; readonly head: string }
  | { readonly kind: 'disagrees'; readonly disagreements: readonly Disagreement[] }
  /** It came to no end: nothing is known. */
  | { readonly kind: 'unknown' }

/** `anchor`: a head that was written down earlier, which the record must have had; null: none. */
export type Verify = (anchor: string | null) => Promise<Verified>
