// By what an xtl_order_id is found that a row has already: see `texts/review/xtl-order-ids.ts`.

export const XTL_INDEX = `
  CREATE INDEX instruction_xtl ON instruction (account_id, ltrim(xtl_order_id, '0')) WHERE xtl_order_id IS NOT NULL;
`
