// Why an instruction is refused by what is recorded, in a word for programs: its reason begins with it. Pure.

/** Questions about one instruction that its producer answers with `accept`, by their codes. */
export const ACCEPTABLE = ['execute_at', 'above_limit'] as const
export type Acceptable = (typeof ACCEPTABLE)[number]

/** `lookalike` is answered with `allow_lookalike_of`; the others of its line with nothing. */
export const REFUSAL_CODES = [
  ...(['lookalike', 'over_capture', 'over_refund', 'other_currency', 'after_void', 'after_refund'] as const),
  ...ACCEPTABLE,
] as const

export function isRefusalCode(word: string): boolean {
  return REFUSAL_CODES.some((code) => code === word)
}
