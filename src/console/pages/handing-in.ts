// Handing in what was checked. Where nobody has to approve it, this is where money begins to move.

import type { FastifyRequest } from 'fastify'
import { type CheckFound, foundIn, sumsIn } from '../../app/check-found.ts'
import type { Check } from '../../app/checks.ts'
import { type HandedIn, handIn } from '../../app/handing-in.ts'
import { type ApprovalSheet, leastApprovals } from '../../domain/approval.ts'
import type { BatchView } from '../../domain/batch.ts'
import { toIdentifier } from '../../domain/identifier.ts'
import type { ToldToSend } from '../../domain/ingest.ts'
import type { Fingerprint } from '../../domain/interpretation.ts'
import { formatAmount } from '../../domain/money.ts'
import { words } from '../../domain/words.ts'
import { askedText, countedText } from '../../present/asked.ts'
import { type Html, html } from '../../present/html.ts'
import { plural } from '../../present/text.ts'
import { blockingIn } from '../check-words.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { type Fields, fieldsOf } from '../forms.ts'
import { actElsewhereOnce } from '../once.ts'
import { form, moment, NOTHING, note } from '../parts.ts'
import { batchPath, checkPath } from '../paths.ts'
import { typedIn } from '../refused.ts'
import { assertTotalsTyped, totalFields } from '../totals.ts'
import { filesCaller } from '../uploading.ts'
import { linked } from '../ways.ts'
import { pairsForm, pairsToTick, tickedIn } from './pairs.ts'

type OwnCheck = Check & { readonly path: string }
type FindCheck = (door: ConsoleDoor, request: FastifyRequest, id: string) => Promise<OwnCheck>

const NOTHING_SENT = 'Nothing was recorded and nothing was sent.'

export function addHandingIn(pages: Pages, door: ConsoleDoor, find: FindCheck): void {
  pages.post<{ Params: { check: string } }>(
    '/checks/:check/submit',
    { config: { page: 'handIn' } },
    async (request, reply) => {
      const check = await find(door, request, request.params.check)
      const found = foundIn(check)
      if (found === null) throw new PageError(409, `This file was not read to its end. ${NOTHING_SENT}`)
      const { subject, isNow } = await actElsewhereOnce(door, request, async ({ key }) => {
        const fields = fieldsOf(request)
        const sums = await toldBy(door, check, found)
        const pairs = await pairsToTick(check.path, found)
        const answered = answeredIn(fields, found, sums)
        // Above the most that is ticked, their number is typed.
        const ticked = pairs === null ? null : tickedIn(fields, pairs)
        if (ticked === null) assertTyped(fields, 'lookalikes', found.lookalikes, 'of look-alikes')
        const told = ticked === null ? sums : { ...sums, pairs: ticked }
        assertTyped(fields, 'above_limit', found.above_limit, 'of rows above the limit of a day')
        const allowed = ticked === null ? found.lookalikes : ticked.length
        const given = {
          ...found.given,
          ...wholeOf(found),
          ...answered,
          ...(allowed === 0 ? {} : { allowLookalikes: String(allowed) }),
          ...(found.above_limit === 0 ? {} : { allowAboveLimit: String(found.above_limit) }),
        }
        return recordedAs(await handIn(door, filesCaller(door, request), { check, given, told, name: key }))
      })
      const batch = String(subject.batch)
      const done = { act: subject.kind === 'known' ? 'known' : 'hand-in', batch } as const
      return redirectDone(door, request, reply, batchPath(batch), { done, isAgain: !isNow })
    },
  )
}

/** What whoever hands it in is told, and nothing else is recorded. */
async function toldBy({ ledger }: ConsoleDoor, { merchant }: Check, found: CheckFound): Promise<ToldToSend> {
  const approval = leastApprovals(await ledger.approvalPolicy(), merchant, sumsIn(found)) > 0
  return { rows: found.accepted, totals: found.totals, approval }
}

/** Of the whole file as it was read: what an unreadable amount hides is not known. */
function wholeOf({ rows, totals_read: totals, amounts_unread: unread }: CheckFound): Record<string, unknown> {
  const { totals: sums } = sumsIn({ totals, extents: [] })
  const currencies = [...new Set(sums.flatMap(({ currency }) => (currency === '' ? [] : [currency])))]
  const total = (currency: (typeof currencies)[number]) => {
    const amountMinor = sums.reduce((sum, one) => (one.currency === currency ? sum + one.amountMinor : sum), 0n)
    return `${currency}=${formatAmount({ amountMinor, currency })}`
  }
  return { expectCount: String(rows), ...(unread === 0 ? { expectTotal: currencies.map(total) } : {}) }
}

/** What only a person can answer for; throws where they did not. */
function answeredIn(fields: Fields, found: CheckFound, told: ToldToSend): Record<string, unknown> {
  const [blocking] = blockingIn(found)
  if (blocking !== undefined || found.accepted === 0)
    throw new PageError(422, `This file cannot be handed in as it is: the page says why. ${NOTHING_SENT}`)
  const typed = (name: string) => (fields[name] ?? '').trim()
  if (asks(found, 'bad-rows') && typed('left_out') !== String(found.invalid))
    throw new PageError(
      422,
      `The number that you typed is not how many rows would be left out. ${NOTHING_SENT} Compare.`,
    )
  const far = farDatesIn(found)
  if (far !== null && typed('execute_at') !== String(far))
    throw new PageError(
      422,
      `The number that you typed is not how many rows have such an execute_at. ${NOTHING_SENT} Look at each of them.`,
    )
  if (!told.approval) assertTotalsTyped(fields, toSend(found), `${NOTHING_SENT} Compare the page with your own list.`)
  return {
    ...(asks(found, 'bad-rows') ? { skipInvalid: true } : {}),
    ...(far === null ? {} : { allowExecuteAt: String(far) }),
  }
}

/** Where there are none, nothing is typed. */
function assertTyped(fields: Fields, field: string, found: number, what: string): void {
  if ((fields[field] ?? '').trim() === (found === 0 ? '' : String(found))) return
  throw new PageError(422, `The number that you typed is not the number ${what}. ${NOTHING_SENT} Look at each of them.`)
}

function asks({ refusals }: CheckFound, kind: string): boolean {
  return refusals.some((refusal) => refusal.kind === kind)
}

function toSend(found: CheckFound): Pick<ApprovalSheet, 'totals'> {
  return { totals: sumsIn(found).totals.map((total) => ({ ...total, state: 'READY' })) }
}

function recordedAs(handed: HandedIn): { readonly batch: string; readonly kind: string } {
  switch (handed.kind) {
    case 'recorded':
    case 'known':
      return { batch: handed.batch, kind: handed.kind }
    case 'gone':
      throw new PageError(404, `This file is not kept any more. ${NOTHING_SENT} Hand it in again as a new batch.`)
    case 'other-bytes':
      throw new PageError(
        422,
        `The file is not the one that was checked. ${NOTHING_SENT} Hand it in again as a new batch.`,
      )
    case 'unread':
      throw new PageError(
        503,
        'The file was not read to its end. Press the button again: whatever was recorded is the same batch then.',
      )
    case 'fault':
      throw new PageError(handed.isOurs ? 503 : 422, handed.message)
    case 'read-otherwise':
      throw known(handed.batch, 'which reads it in another way')
    case 'braked-otherwise':
      throw known(handed.batch, 'which keeps the brakes that it was recorded with')
    case 'holds-other':
      throw known(handed.batch, 'and that one holds something else')
    case 'refused':
      throw new PageError(
        422,
        `The file is refused: the record has changed since it was checked. ${NOTHING_SENT} Check it again.`,
      )
  }
}

function known(batch: string, but: string): PageError {
  return new PageError(409, `This file is batch ${batch} already, ${but}. ${NOTHING_SENT} Look at that batch first.`)
}

// ───────────────────────────────────────────────────────────── What is shown

interface HandInShown {
  readonly shown: Html
  /** Its look-alikes stand in the form. */
  readonly hasPairs: boolean
  /** It is a batch already. */
  readonly isHandedIn: boolean
}

/** Says why, where it cannot be handed in. */
export async function handInForm(
  door: ConsoleDoor,
  request: FastifyRequest,
  check: OwnCheck,
  found: CheckFound,
): Promise<HandInShown> {
  const same = await sameFile(door, check, found)
  if (same !== null) return { shown: sameText(same), hasPairs: false, isHandedIn: true }
  const why = whyNot(found)
  if (why !== null) return { shown: why, hasPairs: false, isHandedIn: false }
  const told = await toldBy(door, check, found)
  const pairs = await pairsToTick(check.path, found)
  const { totals } = sumsIn(found)
  const action = `${checkPath(check.id)}/submit`
  const typed = typedIn(request, action)
  const asked = form(request, door, {
    action,
    fields: html`${leftOutField(found, typed)}${farDatesField(found, typed)}${pairs === null ? alikeField(found, typed) : pairsForm(pairs, typed)}${aboveField(found, typed)}${told.approval ? waitsText() : totalField(found)}`,
    button: told.approval ? `Hand in for approval: ${askedText(totals)}` : `Hand in ${countedText(totals)}`,
  })
  return { shown: html`<h2>Hand in</h2>${asked}`, hasPairs: pairs !== null, isHandedIn: false }
}

function sameText({ batchId, createdAtMs, createdBy }: BatchView): Html {
  return note(
    'warn',
    html`<p>This is batch ${batchId}, handed in at ${moment(createdAtMs)} by ${createdBy}. <a href="${batchPath(batchId)}">Go there</a></p>`,
  )
}

/** null: it can be handed in. */
function whyNot(found: CheckFound): Html | null {
  if (found.accepted === 0)
    return note(
      'plain',
      html`<p>No row of this file can be sent, so there is nothing to hand in.</p>${afterAll(found)}`,
    )
  if (blockingIn(found).length > 0)
    return note('plain', html`<p>It cannot be handed in as it is. The reasons are above.</p>`)
  return null
}

/** What was cancelled is sent by whoever means it, never by the same file once more. */
function afterAll({ again }: CheckFound): Html {
  if (!Object.hasOwn(again.repeated, 'CANCELLED')) return NOTHING
  const asked = words`${{ set: 'retry', to: 'cancelled' }}`
  return html`<p>To send after all what was cancelled, hand in the results of its batch as a new batch, with ${linked(asked)}.</p>`
}

function leftOutField(found: CheckFound, typed: Fields): Html {
  if (!asks(found, 'bad-rows')) return NOTHING
  const label = `Leave out ${plural(found.invalid, 'row')}: type ${found.invalid}`
  return numberField('left_out', label, 'Recorded as bad, and not sent.', typed)
}

function farDatesField(found: CheckFound, typed: Fields): Html {
  const far = farDatesIn(found)
  if (far === null) return NOTHING
  const label = `${plural(far, 'row')} with such an execute_at ${far === 1 ? 'is' : 'are'} meant: type ${far}`
  return numberField('execute_at', label, 'A moment that has passed is sent at once.', typed)
}

function farDatesIn({ refusals }: CheckFound): number | null {
  const asked = refusals.find(({ kind }) => kind === 'execute-at')
  return asked === undefined ? null : Number(asked.found)
}

function alikeField({ lookalikes }: CheckFound, typed: Fields): Html {
  return numberField(
    'lookalikes',
    `All ${lookalikes} look-alikes are meant: type ${lookalikes}`,
    'They are listed below. With this many, you accept all or none. Remove from the file what was entered twice.',
    typed,
  )
}

function aboveField({ above_limit: above }: CheckFound, typed: Fields): Html {
  if (above === 0) return NOTHING
  const label = `${plural(above, 'row')} above the limit of a day ${above === 1 ? 'is' : 'are'} meant: type ${above}`
  return numberField('above_limit', label, 'Each is sent alone, on a day of its own.', typed)
}

function numberField(name: string, label: string, hint: string, { [name]: typed = '' }: Fields): Html {
  const value = typed === '' ? NOTHING : html` value="${typed}"`
  return html`<div class="field"><label>${label} <span class="hint">${hint}</span><input name="${name}" required autocomplete="off" inputmode="numeric" maxlength="9"${value}></label></div>`
}

function waitsText(): Html {
  return html`<p>Nothing of it is sent before somebody else has approved it.</p>`
}

function totalField(found: CheckFound): Html {
  return html`<p><strong>Sending begins when you press the button. What was executed cannot be called back.</strong></p>${totalFields(toSend(found))}`
}

/** The batch of the same bytes that is not over; null: there is none. */
async function sameFile(
  { ledger }: ConsoleDoor,
  { merchant, file }: Check,
  { given }: CheckFound,
): Promise<BatchView | null> {
  const account = (await ledger.accounts()).find(({ name }) => name === merchant)
  if (account === undefined) return null
  const asked = {
    ...{ accountId: account.accountId, fileSha256: file.sha256, fingerprint: '' as Fingerprint },
    runKey: given.runKey === undefined ? null : toIdentifier(String(given.runKey)),
  }
  const unfinished = await ledger.findUnfinished(asked)
  return unfinished === null || unfinished.givenUp ? null : ledger.batch(unfinished.batchId)
}
