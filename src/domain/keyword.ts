// Keywords (operations, currencies, findings, the values of options) are ASCII, and so is their letter case. Unicode's own rules
// make İ, ı and ſ into letters of ASCII: `ınr` would be a currency.

export function toLowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

export function toUpperAscii(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase())
}
