// A line of figures: within its box, as high as the figures say, and broken where there is none.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PLOT_HEIGHT, PLOT_WIDTH, plot, plotOf } from '../../src/present/plot.ts'

const PLACES = 60
const VALUES = fc.array(fc.option(fc.nat(10_000_000)), { maxLength: PLACES })

interface Point {
  readonly x: number
  readonly y: number
}

/** Each unbroken stretch, by the two ends of each of its steps. */
function stretchesOf(line: string): readonly (readonly Point[])[] {
  const stretches: Point[][] = []
  let [x, y] = [0, 0]
  for (const [, command, first, second] of line.matchAll(/([MHV])([\d.]+)(?: ([\d.]+))?/g)) {
    if (command === 'M') {
      ;[x, y] = [Number(first), Number(second)]
      stretches.push([])
    } else if (command === 'V') y = Number(first)
    else {
      stretches.at(-1)?.push({ x, y }, { x: Number(first), y })
      x = Number(first)
    }
  }
  return stretches
}

test('every point lies within the box', () => {
  fc.assert(
    fc.property(VALUES, (values) => {
      const { line, gaps } = plotOf(values, PLACES)
      expect(line).toMatch(/^([MHV][\d.]+( [\d.]+)?)*$/)
      for (const { x, y } of stretchesOf(line).flat()) {
        expect(x >= 0 && x <= PLOT_WIDTH).toBe(true)
        expect(y >= 0 && y <= PLOT_HEIGHT).toBe(true)
      }
      for (const { x, width } of gaps) expect(x >= 0 && x + width <= PLOT_WIDTH + 0.01).toBe(true)
    }),
  )
})

test('a gap breaks the line, is marked, and is no zero', () => {
  fc.assert(
    fc.property(VALUES, (values) => {
      const { line, gaps } = plotOf(values, PLACES)
      const stretches = stretchesOf(line)
      const starts = values.filter((value, i) => value !== null && (values[i - 1] ?? null) === null)
      expect(stretches).toHaveLength(starts.length)
      expect(stretches.flat()).toHaveLength(2 * values.filter((value) => value !== null).length)
      const before = values.length < PLACES ? 1 : 0
      expect(gaps).toHaveLength(before + values.filter((value) => value === null).length)
    }),
  )
})

test('a larger figure stands higher, and the same one as high', () => {
  fc.assert(
    fc.property(VALUES, (values) => {
      const known = values.filter((value) => value !== null)
      const heights = stretchesOf(plotOf(values, PLACES).line)
        .flat()
        .flatMap(({ y }, i) => (i % 2 === 0 ? [y] : []))
      for (let i = 1; i < known.length; i++) {
        const [one, other] = [known[i - 1] as number, known[i] as number]
        const [at, then] = [heights[i - 1] as number, heights[i] as number]
        if (one === other) expect(then).toBe(at)
        else expect(one < other ? then <= at : then >= at).toBe(true)
      }
    }),
  )
})

test('it is told in words, too', () => {
  const said = (values: (number | null)[]) =>
    /aria-label="([^"]*)"/.exec(plot({ name: 'Declined', look: 'declined', values }, PLACES).toString())?.[1]
  expect(said([4, null, 2])).toBe('Declined: last 2, most 4')
  expect(said([4, null])).toBe('Declined: last not known, most 4')
  expect(said([null])).toBe('Declined: no figure yet')
})
