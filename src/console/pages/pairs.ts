// Rows that look alike, two side by side. A person says of each pair that both are meant; nothing says it of all of them at once.

import type { CheckFound } from '../../app/check-found.ts'
import { nounsOf } from '../../present/asked.ts'
import { type Html, html } from '../../present/html.ts'
import { commonIn } from '../../present/lookalikes.ts'
import { plural } from '../../present/text.ts'
import { type DetailsPage, detailsPage, type FoundLookalike } from '../check-details.ts'
import { PageError } from '../door.ts'
import type { Fields } from '../forms.ts'
import { facts, idText, moment, NOTHING } from '../parts.ts'
import { batchPath, checkPath } from '../paths.ts'

/** Above this, a person must look into the file: a list this long would be ticked blindly. */
const TICKED_MOST = 50

/** null: there are too many: their number is typed. */
export async function pairsToTick(path: string, found: CheckFound): Promise<readonly FoundLookalike[] | null> {
  if (found.lookalikes === 0) return []
  if (found.lookalikes > TICKED_MOST) return null
  const { items } = await detailsPage<FoundLookalike>(path, 'lookalikes', undefined)
  return items.length === found.lookalikes ? items : null
}

/** The pairs as passed to the ingest process; throws unless exactly these are ticked. */
export function tickedIn(fields: Fields, pairs: readonly FoundLookalike[]): readonly string[] {
  const ticked = pairs.flatMap(({ pair }, i) => (fields[nameOf(i)] === pair ? [pair] : []))
  const named = Object.keys(fields).filter((name) => name.startsWith('pair_')).length
  if (ticked.length === pairs.length && named === pairs.length) return ticked
  const left = pairs.length - ticked.length
  const what =
    left > 0
      ? `${plural(left, 'look-alike is', 'look-alikes are')} not ticked.`
      : 'More look-alikes are ticked than there are.'
  throw new PageError(
    422,
    `${what} Nothing was recorded and nothing was sent. Look at each pair: remove from the file what was entered twice, and hand in the corrected file.`,
  )
}

function nameOf(i: number): string {
  return `pair_${i}`
}

/** `typed`: those that were ticked in a form that was refused. */
export function pairsForm(pairs: readonly FoundLookalike[], typed: Fields): Html {
  if (pairs.length === 0) return NOTHING
  const tick = (pair: FoundLookalike, i: number) =>
    html`<p class="choice"><label><input type="checkbox" name="${nameOf(i)}" value="${pair.pair}" required${typed[nameOf(i)] === pair.pair ? html` checked` : NOTHING}> Two different ${nounsOf(pair.operation)}: both are meant</label></p>`
  return html`<h3 id="alike">${plural(pairs.length, 'look-alike')}</h3><p>Tick a pair only if you mean both rows. A row entered twice would be executed twice: remove it from the file and hand in the corrected file.</p>${pairs.map((pair, i) => pairShown(pair, i + 1, pairs.length, tick(pair, i)))}`
}

/** A page of them, to be looked at only. */
export function pairsOf(id: string, { lookalikes: all }: CheckFound, page: DetailsPage<FoundLookalike>): Html {
  const first = page.isFirst ? NOTHING : html`<a href="${checkPath(id)}#alike">First pairs</a>`
  const next = page.next === null ? NOTHING : html`<a href="${checkPath(id)}?alike=${page.next}#alike">More pairs</a>`
  return html`<h2 id="alike">${plural(all, 'look-alike')}</h2>${page.items.map((pair) => pairShown(pair, null, all, NOTHING))}<p class="pages">${first}${next}</p>`
}

function pairShown(pair: FoundLookalike, at: number | null, all: number, tick: Html): Html {
  const { like } = pair
  const number = at === null ? `Line ${pair.line}` : `Pair ${at} of ${all}`
  const own = facts([
    ['Line', html`${pair.line}`],
    ['Reference', idText(pair.reference)],
    ['Amount', sumOf(pair)],
    ['Order or customer', idText(pair.order_id)],
  ])
  const other = facts([
    like.batch === null
      ? ['Line', html`${like.line ?? '–'}`]
      : ['Batch', html`<a href="${batchPath(like.batch)}">${like.batch}</a>, row ${like.row}`],
    ['Reference', idText(like.reference)],
    ['Amount', sumOf(like)],
    ['Order or customer', idText(like.order_id)],
    ['Handed in', like.handed_in === null ? null : moment(Date.parse(like.handed_in))],
    ['State', like.status === null ? null : html`${like.status.replaceAll('_', ' ')}`],
  ])
  const where = like.batch === null ? 'Also in this file' : 'In an earlier batch'
  return html`<fieldset class="pair"><legend>${number}: ${whyAlike(pair)}</legend><div class="two"><div><p class="quiet">In this file</p>${own}</div><div><p class="quiet">${where}</p>${other}</div></div>${tick}</fieldset>`
}

function sumOf({ amount, currency }: Pick<FoundLookalike, 'amount' | 'currency'>): Html {
  return amount === null ? html`–` : html`${currency ?? ''} ${amount}`
}

function whyAlike({
  operation,
  changed_from: changed,
  refunded_before: before,
  may_have_run_again: lost,
  beside_void: isBesideVoid,
  question,
  money_warning: warning,
}: FoundLookalike): string {
  const why =
    changed !== null
      ? `the same target; that one asked for ${changed.currency} ${changed.amount}`
      : before !== null
        ? `its order was refunded before${before.currency === null ? ', in several currencies' : `: ${before.currency} ${before.amount}`}; its sale is not recorded here`
        : isBesideVoid
          ? 'one voids the order that the other captures or refunds'
          : (question?.text ?? `the same ${commonIn(operation)}`)
  return [
    why,
    ...(lost ? ['it may have run in a record that was lost'] : []),
    ...(warning === null ? [] : [warning]),
  ].join('; ')
}
