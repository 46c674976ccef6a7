// The columns that a reconciliation adds behind those of its input. Readers find them by name; their order is promised.

export const RESULT_COLUMNS = [
  'result_status',
  'result_reason',
  'result_transaction_id',
  'result_order_id',
  'result_record_id',
  'result_amount',
  'result_currency',
  'result_vault_id',
  'result_xtl_order_id',
  'result_warning',
  'result_attempts',
  'result_sent_at',
  'result_completed_at',
  'result_row',
  'result_reference',
  'result_batch',
  'result_reason_category',
] as const

/** Behind those, where the file was one of the customer vault. */
export const VAULT_RESULT_COLUMNS = [
  'result_customer_id',
  'result_card_bin',
  'result_card_last4',
  'result_card_expiry',
] as const

/** The last one, where the rows are those of several batches. */
export const FAMILY_RESULT_COLUMN = 'result_family'

/** What a file of rejects adds behind the columns of its input. Mended and handed in again, these are passed over. */
export const REJECT_COLUMNS = [
  'reject_line',
  'reject_row',
  'reject_column',
  'reject_value',
  'reject_error',
  'reject_remedy',
] as const
