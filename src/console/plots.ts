// The last hour of a merchant, drawn: what became of its rows each minute, and what stood open at the end of each.

import { type Html, html } from '../present/html.ts'
import { plot } from '../present/plot.ts'
import { plural } from '../present/text.ts'
import { moment, table } from './parts.ts'
import { MINUTES_SHOWN, type Minute } from './samples.ts'

const PLOTS = [
  { of: 'approved', name: 'Approved each minute', column: 'Approved', look: 'approved' },
  { of: 'declined', name: 'Declined each minute', column: 'Declined', look: 'declined' },
  { of: 'failed', name: 'Failed each minute', column: 'Failed', look: 'failed' },
  { of: 'inDoubt', name: 'In doubt', column: 'In doubt then', look: 'in-doubt' },
  { of: 'open', name: 'Open requests', column: 'Open then', look: 'sending' },
] as const satisfies readonly { of: keyof Minute; name: string; column: string; look: string }[]

/** `sinceMs`: when this server began to look. */
export function lastHour(minutes: readonly Minute[], sinceMs: number): Html {
  const first = minutes[0]
  const last = minutes.at(-1)
  const begins = html`<h2>The last hour</h2>`
  if (first === undefined || last === undefined)
    return html`${begins}<p>Nothing is drawn yet: this server began at ${moment(sinceMs)} and looks at the end of each minute.</p>`
  const gaps = minutes.filter(({ open }) => open === null).length
  const missing =
    gaps === 0 ? '' : ` ${plural(gaps, 'minute was', 'minutes were')} not looked at in time: a gap is not a zero.`
  const drawn = PLOTS.map(({ of, name, look }) =>
    plot({ name, look, values: minutes.map((minute) => minute[of]) }, MINUTES_SHOWN),
  )
  return html`${begins}<p>From ${moment(first.endMs)} to ${moment(last.endMs)}. This server has looked once a minute since it began at ${moment(sinceMs)}; what was before is not drawn.${missing}</p><div class="plots">${drawn}</div>${asTable(minutes)}<p class="quiet">Grey: there is no figure. Each line has a scale of its own. A doubt that is resolved counts where it ends. A minute in which rows were corrected to another outcome may have no figure. How long answers take is not shown here: the worker measures it, and tells it where TRANCHE_METRICS is set.</p>`
}

function asTable(minutes: readonly Minute[]): Html {
  const columns = [{ name: 'Minute until' }, ...PLOTS.map(({ column }) => ({ name: column, kind: 'number' as const }))]
  const rows = minutes
    .toReversed()
    .map((minute) => [moment(minute.endMs), ...PLOTS.map(({ of }) => html`${minute[of] ?? 'not known'}`)])
  return html`<details><summary>The same figures as a table</summary>${table('Each minute, the latest first', columns, rows)}</details>`
}
