// By what the recorded rows of a card are found, whatever they ask for: see `texts/review/corrections.ts`. Those of an order have an index.

/** As `targetOf` there has it. A migration has it here, so that it stays as it is. */
export const TARGET_INDEX = `
  CREATE INDEX instruction_target ON instruction (
    account_id, coalesce(ltrim(order_id, '0'), '') || ' ' || coalesce(ltrim(vault_id, '0'), '') || ' ' || coalesce(card, ''))
    WHERE order_key IS NULL AND lookalike IS NOT NULL;
`

/** Cards without their expiry. */
export const PLAIN_TARGET_INDEX = `
  DROP INDEX instruction_target;
  CREATE INDEX instruction_target ON instruction (
    account_id, coalesce(ltrim(order_id, '0'), '') || ' ' || coalesce(ltrim(vault_id, '0'), '') || ' ' || coalesce(substr(card, 1, 11), ''))
    WHERE order_key IS NULL AND lookalike IS NOT NULL;
`
