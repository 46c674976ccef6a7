// placeholder until generated
export const EXPONENTS: Readonly<Record<string, number>> = { EUR: 2, USD: 2, GBP: 2, JPY: 0, KWD: 3, CHF: 2 }
export const ISO_4217_PUBLISHED = '2024-06-25'
