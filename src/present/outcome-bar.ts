// What became of rows, as one bar: each outcome by its share.

import type { ResultStatus } from '../domain/states.ts'
import { type Html, html } from './html.ts'

export const classOf = (status: ResultStatus) => status.toLowerCase().replace('_', '-')
export const wordOf = (status: ResultStatus) => status.replace('_', ' ')

const BAR = 1000
/** A single row among thousands is seen. */
const LEAST = 6

export function outcomeBar(
  parts: readonly { readonly status: ResultStatus; readonly count: number }[],
  rows: number,
): Html {
  const raw = parts.map(({ count }) => Math.max(LEAST, (count / rows) * BAR))
  const scale = BAR / raw.reduce((sum, width) => sum + width, 0)
  const widths = raw.map((width) => width * scale)
  const said = parts.map(({ status, count }) => `${count} ${wordOf(status)}`).join(', ')
  const rects = parts.map(({ status, count }, i) => {
    const x = widths.slice(0, i).reduce((sum, width) => sum + width, 0)
    return html`<rect class="${classOf(status)}" x="${x.toFixed(2)}" y="0" width="${(widths[i] as number).toFixed(2)}" height="36"><title>${wordOf(status)}: ${count} of ${rows}</title></rect>`
  })
  return html`<svg class="bar" role="img" aria-label="${said}" viewBox="0 0 ${BAR} 36" preserveAspectRatio="none">${rects}</svg>`
}
