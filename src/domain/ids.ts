// What names batches, accounts and rows. Brands keep one from being taken for another.

export type BatchId = string & { readonly __brand: 'BatchId' }
export type AccountId = number & { readonly __brand: 'AccountId' }
export type RowId = number & { readonly __brand: 'RowId' }
