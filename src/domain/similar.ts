// What was probably meant by a word that is not known.

/** So many wrong letters are a slip of the hand; more are another word. */
const MOST_WRONG = 2

/** The nearest of the known words; null where none is near. */
export function similarTo(word: string, known: Iterable<string>): string | null {
  let nearest: { readonly word: string; readonly wrong: number } | null = null
  for (const other of known) {
    const wrong = distance(word.toLowerCase(), other.toLowerCase())
    const most = Math.min(MOST_WRONG, Math.floor(Math.min(word.length, other.length) / 2))
    if (wrong <= most && wrong < (nearest?.wrong ?? Number.POSITIVE_INFINITY)) nearest = { word: other, wrong }
  }
  return nearest?.word ?? null
}

/** As a sentence to put behind another; empty where nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = similarTo(word, known)
  return meant === null ? '' : ` (did you mean ${meant}?)`
}

/** Letters to insert, leave out, replace or swap with their neighbour. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, i) => [i])
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let j = 0; j <= other.length; j += 1) (rows[0] as number[])[j] = j
  for (let i = 1; i <= one.length; i += 1) {
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same)
      ;(rows[i] as number[])[j] = swapped ? Math.min(least, at(i - 2, j - 2) + 1) : least
    }
  }
  return at(one.length, other.length)
}
