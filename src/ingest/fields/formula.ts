// Ids and references that a spreadsheet would run as a formula. They are refused, not guarded: no one means them.

const FORMULA_START = /^[=+\-@\t\r\n\0＝＋－＠]/u

export function startsLikeFormula(text: string): boolean {
  return FORMULA_START.test(text)
}
