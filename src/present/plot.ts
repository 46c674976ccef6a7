// Figures of one kind over time, as a line in a box. Where there is no figure the line ends, and the gap is marked: it is not zero.

import { type Html, html } from './html.ts'

export const PLOT_WIDTH = 600
export const PLOT_HEIGHT = 60
/** The line has a width of its own. */
const EDGE = 3

export type Values = readonly (number | null)[]

/** A stretch of the line: steps from left to right, `M x y H x V y H x …`. */
interface Drawing {
  readonly line: string
  readonly gaps: readonly { readonly x: number; readonly width: number }[]
}

/** The last value stands at the right edge. `places`: how many the box has room for, from the left edge. */
export function plotOf(values: Values, places: number): Drawing {
  const width = PLOT_WIDTH / places
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const first = places - values.length
  const xOf = (i: number) => round((first + i) * width)
  const yOf = (value: number) => round(PLOT_HEIGHT - EDGE - (value / most) * (PLOT_HEIGHT - 2 * EDGE))
  const steps = values.map((value, i) => {
    if (value === null) return ''
    const goesOn = i > 0 && values[i - 1] !== null
    return `${goesOn ? `V${yOf(value)}` : `M${xOf(i)} ${yOf(value)}`}H${xOf(i + 1)}`
  })
  const gaps = values.flatMap((value, i) => (value === null ? [{ x: xOf(i), width: round(width) }] : []))
  return { line: steps.join(''), gaps: first === 0 ? gaps : [{ x: 0, width: xOf(0) }, ...gaps] }
}

export interface Plotted {
  /** Of what, in words. */
  readonly name: string
  /** Of its line: the name stands beside it all the same. */
  readonly look: string
  readonly values: Values
}

export function plot({ name, look, values }: Plotted, places: number): Html {
  const { line, gaps } = plotOf(values, places)
  const said = saidOf(values)
  const marks = gaps.map(
    ({ x, width }) => html`<rect class="gap" x="${x}" y="0" width="${width}" height="${PLOT_HEIGHT}"></rect>`,
  )
  const drawn = html`<svg role="img" aria-label="${name}: ${said}" viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" preserveAspectRatio="none">${marks}<path class="${look}" d="${line}"></path></svg>`
  return html`<figure class="plot"><figcaption><strong>${name}</strong> <span>${said}</span></figcaption>${drawn}</figure>`
}

/** Each plot has a scale of its own, so its highest figure is said. */
function saidOf(values: Values): string {
  const known = values.filter((value) => value !== null)
  const last = values.at(-1) ?? null
  if (known.length === 0) return 'no figure yet'
  return `last ${last === null ? 'not known' : last}, most ${Math.max(...known)}`
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}
