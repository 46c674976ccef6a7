// The columns of a worklist of doubts.

/** What a worklist shows, and the three columns that a person fills in. `attempt` ties what was found to what was shown. */
export const WORKLIST_COLUMNS = [
  'reference',
  'attempt',
  'operation',
  'amount',
  'currency',
  'order_id',
  'vault_id',
  'card',
  'holder',
  'xtl_order_id',
  'sent_at',
  'reason',
  'merchant',
  'batch',
  'row',
  'resolution',
  'resolution_transaction_id',
  'resolution_reason',
] as const
