// Decimals of any length, exact. No floating point comes near an amount.

/** `digits` over ten to the power of `decimals`. */
export interface Decimal {
  readonly digits: bigint
  readonly decimals: number
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const decimals = Math.max(a.decimals, b.decimals)
  return { digits: scaled(a, decimals) + scaled(b, decimals), decimals }
}

function scaled(value: Decimal, decimals: number): bigint {
  return value.digits * 10n ** BigInt(decimals - value.decimals)
}

export function formatDecimal({ digits, decimals }: Decimal): string {
  const sign = digits < 0n ? '-' : ''
  const text = (digits < 0n ? -digits : digits).toString().padStart(decimals + 1, '0')
  return decimals === 0 ? sign + text : `${sign}${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}
