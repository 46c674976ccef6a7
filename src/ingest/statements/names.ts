// The words of a column's name, however they are joined: `amount_usd`, `AmountCZK`, `Betrag (T€)`, `金額（円）`.

import type { OfName } from './tables.ts'

/** Longer names are sentences, and longer cells no words. */
const NAME_CHARACTERS = 100
const CELL_CHARACTERS = 40
/** A sign of a currency keeps the one or two letters in front of it: US$, T€. */
const WORDS = /\p{L}{1,2}\p{Sc}|\p{Sc}|[\p{L}\p{M}]+|\d+s?/gu

/** As they are written. */
export function writtenWords(column: string): readonly string[] {
  const parted = column
    .slice(0, NAME_CHARACTERS)
    .normalize('NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  return parted.match(WORDS) ?? []
}

/** In small letters and without accents. */
export function plainWord(word: string): string {
  return word.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
}

/** Those with letters, in small letters and without accents. */
export function wordsOf(column: string): readonly string[] {
  return writtenWords(column)
    .filter((word) => /\p{L}/u.test(word))
    .map(plainWord)
}

/** `title`: the words of a name, with a blank between them. */
export function isNamed(title: string, { has = [], lacks = [] }: OfName): boolean {
  return has.every((list) => list.test(title)) && !lacks.some((list) => list.test(title))
}

/** A cell as it is compared with words: without blanks, points and accents. */
export function squeezedWord(text: string): string {
  if (text.length > CELL_CHARACTERS) return text
  const plain = plainWord(text).replace(/[^\p{L}\p{N}]/gu, '')
  return plain === '' ? text : plain // a mark such as ✓ is all there is
}
