// Amounts as nearly all are written: nothing stands beside the number.

/** Whether an amount is digits, points and commas alone, so that it has neither a sign nor a currency nor a word. */
export function isPlain(amount: string): boolean {
  for (let i = 0; i < amount.length; i++) {
    const code = amount.charCodeAt(i)
    if (code > NINE || (code < ZERO && code !== POINT && code !== COMMA)) return false
  }
  return true
}

const ZERO = 0x30
const NINE = 0x39
const POINT = 0x2e
const COMMA = 0x2c
