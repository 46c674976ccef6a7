// What became of rows, as one bar: each outcome by its share.

import type { ResultStatus } from '../domain/states.ts'
import { type Html, html } from './html.ts'

export const classOf = (status: ResultStatus) => status.toLowerCase().replace('_', '-')
export const wordOf = (status: ResultStatus) => status.replace('_', ' ')

const BAR = 1000
/** So wide at least, that one row among thousands is seen. */
const LEAST = 6

interface Part {
  readonly status: ResultStatus
  readonly count: number
}

/** Where each part stands in the drawing. */
export function barParts(
  parts: readonly Part[],
  rows: number,
): readonly (Part & { readonly x: string; readonly width: string })[] {
  const raw = parts.map(({ count }) => Math.max(LEAST, (count / rows) * BAR))
  const scale = BAR / raw.reduce((sum, width) => sum + width, 0)
  const widths = raw.map((width) => width * scale)
  return parts.map((part, i) => {
    const x = widths.slice(0, i).reduce((sum, width) => sum + width, 0)
    return { ...part, x: x.toFixed(2), width: (widths[i] as number).toFixed(2) }
  })
}

export function outcomeBar(parts: readonly Part[], rows: number): Html {
  const said = parts.map(({ status, count }) => `${count} ${wordOf(status)}`).join(', ')
  const rects = barParts(parts, rows).map(
    ({ status, count, x, width }) =>
      html`<rect class="${classOf(status)}" x="${x}" y="0" width="${width}" height="36" data-status="${status}"><title>${wordOf(status)}: ${count} of ${rows}</title></rect>`,
  )
  return html`<svg class="bar" role="img" aria-label="${said}" viewBox="0 0 ${BAR} 36" preserveAspectRatio="none">${rects}</svg>`
}
