// Figures of rounds: their median and their spread.

export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) throw new Error('no figures')
  const median = ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2
  return { min, median, max }
}

export function ratiosOf(above: readonly number[], below: readonly number[]): number[] {
  if (above.length !== below.length) throw new Error('a ratio needs both sides of a round')
  return above.map((figure, i) => figure / (below[i] as number))
}
