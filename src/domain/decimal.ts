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

export function minus(a: Decimal, b: Decimal): Decimal {
  return plus(a, { ...b, digits: -b.digits })
}

/** Without zeros at the end that say nothing; at least so many decimals stay. */
export function trimmed({ digits, decimals }: Decimal, least: number): Decimal {
  if (decimals < least) return { digits: digits * 10n ** BigInt(least - decimals), decimals: least }
  if (decimals === least || digits % 10n !== 0n) return { digits, decimals }
  return trimmed({ digits: digits / 10n, decimals: decimals - 1 }, least)
}

function scaled(value: Decimal, decimals: number): bigint {
  return value.digits * 10n ** BigInt(decimals - value.decimals)
}

export function formatDecimal({ digits, decimals }: Decimal): string {
  const sign = digits < 0n ? '-' : ''
  const text = (digits < 0n ? -digits : digits).toString().padStart(decimals + 1, '0')
  return decimals === 0 ? sign + text : `${sign}${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}
