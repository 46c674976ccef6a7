// One box for every id. What is found once is shown at once; what several have is told apart by merchant, batch and row.

import type { BatchView } from '../../domain/batch.ts'
import { FOUND_MOST, type FoundInstruction } from '../../domain/found.ts'
import { toIdentifier } from '../../domain/identifier.ts'
import { type Html, html } from '../../present/html.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { moment, NOTHING, table } from '../parts.ts'
import { batchPath, instructionPath } from '../paths.ts'
import { nameOf } from './find-batch.ts'
import { foundTable } from './found-table.ts'

/** A reference with its run key is shorter. */
const LONGEST = 300
const BATCHES_SHOWN = 50
/** Less of a batch's id is a word like any other. */
const ID_BEGINS = 6

interface Asking {
  readonly Querystring: { readonly q?: string | readonly string[] }
}

export function addFinding(pages: Pages, door: ConsoleDoor): void {
  const { ledger } = door
  pages.get<Asking>('/find', { config: { page: 'find' } }, async (request, reply) => {
    const { q } = request.query
    const asked = typeof q === 'string' ? toIdentifier(q.slice(0, LONGEST)) : ''
    if (asked === '')
      return show(
        html`<p>Write a reference, an order id, a transaction id, a merchant order id, a vault id, a batch or the name of a file into the box above.</p>`,
      )
    const found = await ledger.find(asked)
    const batches = await batchesBy(asked, found.length > 0)
    const [one, another] = found
    if (one !== undefined && another === undefined && batches.length === 0)
      return reply.redirect(instructionPath(one.reference, one), 303)
    const [batch] = batches
    if (batch !== undefined && batches.length === 1 && one === undefined)
      return reply.redirect(batchPath(batch.batchId), 303)
    if (one === undefined && batch === undefined) return show(await nothingFound())
    return show(html`${instructionsFound(found)}${batchesFound(batches)}`)

    function show(main: Html) {
      return showScreen(door, request, reply, { title: asked === '' ? 'Find' : `Found by “${asked}”`, main })
    }
  })

  /** By all of it; by its beginning only where nothing else has that id. */
  async function batchesBy(asked: string, isFound: boolean): Promise<readonly BatchView[]> {
    const byId = asked.length < ID_BEGINS ? null : await ledger.batch(asked).catch(() => null)
    const named = await ledger.batchesNamed(asked, BATCHES_SHOWN)
    const all = [...(byId === null ? [] : [byId]), ...named.filter(({ batchId }) => batchId !== byId?.batchId)]
    return isFound ? all.filter(({ batchId, fileName }) => batchId === asked || fileName === asked) : all
  }

  async function nothingFound(): Promise<Html> {
    const sinceMs = await ledger.knownSinceMs()
    const knows =
      sinceMs === null
        ? html`Nothing was handed in here yet.`
        : html`It knows what was handed in since ${moment(sinceMs)}; a ledger that was restored may know less.`
    return html`<p><strong>Nothing here has this id or name.</strong> Record ids (result_record_id), order ids of sales in doubt, names of people, amounts and other cells of rows are not searched: whoever may download results looks for them there. ${knows}</p><p>Ids are found whole, and the names of batches and files by their beginning.</p>`
  }
}

function instructionsFound(found: readonly FoundInstruction[]): Html {
  if (found.length === 0) return NOTHING
  const more = found.length < FOUND_MOST ? NOTHING : html`<p>These are the first ${FOUND_MOST}; there may be more.</p>`
  return html`${foundTable('Instructions with that id', found)}${more}`
}

function batchesFound(batches: readonly BatchView[]): Html {
  if (batches.length === 0) return NOTHING
  const columns = [{ name: 'Batch' }, { name: 'Id' }, { name: 'Merchant' }, { name: 'Recorded' }]
  const rows = batches.map((batch) => [
    html`<a href="${batchPath(batch.batchId)}">${nameOf(batch)}</a>`,
    html`${batch.batchId}`,
    html`${batch.merchant}`,
    moment(batch.createdAtMs),
  ])
  const more =
    batches.length < BATCHES_SHOWN ? NOTHING : html`<p>These are the latest ${BATCHES_SHOWN}; there may be more.</p>`
  return html`${table('Batches', columns, rows)}${more}`
}
