// Why an instruction is refused by what is recorded, in a word for programs: its reason begins with it. Pure.

/** Questions about one instruction that its producer answers with `accept`, by their codes. */
export const ACCEPTABLE = ['execute_at', 'above_limit'] as const
export type Acceptable = (typeof ACCEPTABLE)[number]

/** `lookalike` is answered with `allow_lookalike_of`; the others of its line with nothing. */
export const REFUSAL_CODES = [
  ...([
    'lookalike',
    'over_capture',
    'over_refund',
    'over_void',
    'other_currency',
    'after_void',
    'after_refund',
  ] as const),
  ...(['other_content', 'xtl_order_id_taken', 'other_target', 'transaction_id'] as const),
  ...ACCEPTABLE,
  ...(['amount_decimals', 'merchant_missing', 'environment_missing', 'other_environment'] as const),
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** The field that a code is about; null: none alone. */
export function fieldOf(code: RefusalCode): string | null {
  switch (code) {
    case 'other_content':
      return 'reference'
    case 'xtl_order_id_taken':
      return 'xtl_order_id'
    case 'amount_decimals':
      return 'amount'
    case 'merchant_missing':
      return 'merchant'
    case 'environment_missing':
    case 'other_environment':
      return 'environment'
    case 'execute_at':
      return code
    default:
      return null
  }
}

/** How a question is answered, as its refusal says it. */
export function answerTo(code: Acceptable): string {
  return `accept: ["${code}"]`
}

/** The code of a reason that begins with `word`; null: that is a field. A question may have the name of one. */
export function codeOf(word: string, detail: string): RefusalCode | null {
  const question = ACCEPTABLE.find((code) => code === word)
  if (question !== undefined && !detail.includes(answerTo(question))) return null
  return REFUSAL_CODES.find((code) => code === word) ?? null
}
