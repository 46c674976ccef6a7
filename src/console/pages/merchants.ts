// Merchants: whether anything is sent for them and how fast, the rate dial, and letting one go on.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AttentionNow, attentionNow } from '../../app/attention.ts'
import { findAccount, parseRate, rateProblem } from '../../app/dials.ts'
import { type MerchantView, merchantsIn } from '../../app/merchants.ts'
import { standingNow } from '../../app/standing.ts'
import type { DoorActor } from '../../domain/actor.ts'
import type { Why } from '../../domain/batch-status.ts'
import type { AccountFigures } from '../../domain/figures.ts'
import type { AccountId } from '../../domain/ids.ts'
import { shortUsername } from '../../domain/username.ts'
import { atTerminal, type Text, words } from '../../domain/words.ts'
import { livingWorkers } from '../../domain/worker.ts'
import type { OnceLedger } from '../../ports/ledger/requests.ts'
import { type Html, html } from '../../present/html.ts'
import { rateText } from '../../present/rates.ts'
import { whyWords } from '../../present/standing.ts'
import { environmentText, plural } from '../../present/text.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actOnce } from '../once.ts'
import { facts, form, moment, note, reasonField, stateText, table } from '../parts.ts'
import { merchantPath } from '../paths.ts'
import { lastHour } from '../plots.ts'
import { typedIn } from '../refused.ts'
import { createSamples, type Minute, takeSamples } from '../samples.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'

interface OfMerchant {
  readonly Params: { readonly merchant: string }
}

export function addMerchantPages(pages: Pages, door: ConsoleDoor): void {
  const { samples = createSamples(door.app.clock.nowMs()) } = door
  takeSamples(pages, door, samples)
  pages.get('/merchants', { config: { page: 'merchants' } }, async (request, reply) => {
    const seen = await look(door)
    return showScreen(door, request, reply, {
      ...{ title: 'Merchants', section: 'Merchants', main: listOf(door, seen), now: seen.now },
    })
  })
  pages.get<OfMerchant>('/merchants/:merchant', { config: { page: 'merchant' } }, async (request, reply) => {
    const seen = await look(door)
    const merchant = named(seen.merchants, request.params.merchant)
    const minutes = samples.of(merchant.merchant, door.app.clock.nowMs())
    const known = factsOf(door, seen, merchant, minutes)
    const hour = lastHour(minutes, samples.sinceMs())
    const main = html`${stateOf(door, seen, merchant)}${known}${hour}${merchantForms(request, door, seen, merchant)}`
    return showScreen(door, request, reply, { title: merchant.merchant, section: 'Merchants', main, now: seen.now })
  })
  pages.post<OfMerchant>('/merchants/:merchant/rate', { config: { page: 'rate' } }, async (request, reply) => {
    const perSecond = rateIn(fieldsOf(request).per_second ?? '')
    return act(door, request, reply, 'rate', (once, accountId, { reason, actor, nowMs }) =>
      once.setRate(accountId, perSecond, actor, nowMs, reason),
    )
  })
  pages.post<OfMerchant>(
    '/merchants/:merchant/resume',
    { config: { page: 'resumeMerchant' } },
    async (request, reply) =>
      act(door, request, reply, 'resume-merchant', (once, accountId, { reason, actor, nowMs }) =>
        once.resumeAccount(accountId, reason, actor, nowMs),
      ),
  )
}

interface Acting {
  readonly reason: string
  readonly actor: DoorActor
  readonly nowMs: number
}

async function act(
  door: ConsoleDoor,
  request: FastifyRequest<OfMerchant>,
  reply: FastifyReply,
  what: 'rate' | 'resume-merchant',
  change: (once: OnceLedger, to: AccountId, acting: Acting) => Promise<void>,
): Promise<FastifyReply> {
  const { app, ledger } = door
  const { merchant } = named(await merchantsIn(app, ledger), request.params.merchant)
  const acting = { reason: reasonIn(request), actor: visitorOf(request).actor, nowMs: app.clock.nowMs() }
  const isNow = await actOnce(door, request, async (once) =>
    change(once, await findAccount(app, ledger, merchant), acting),
  )
  return redirectDone(door, request, reply, merchantPath(merchant), { done: { act: what, merchant }, isAgain: !isNow })
}

function named(merchants: readonly MerchantView[], name: string): MerchantView {
  const found = merchants.find(({ merchant }) => merchant === name)
  if (found !== undefined) return found
  throw new PageError(404, 'There is no such merchant, here or in this ledger. Nothing was changed.')
}

/** null: as configured. */
function rateIn(text: string): number | null {
  const written = text.trim()
  if (written === '') return null
  const perSecond = parseRate(written)
  if (perSecond === null || perSecond === 0)
    throw new PageError(
      422,
      'Write requests per second, such as 25 or 0.5, or leave it empty for what is configured. To stop sending, pause the batch. Nothing was changed.',
    )
  const problem = rateProblem(perSecond)
  if (problem === null) return perSecond
  throw new PageError(422, `${problem}. Nothing was changed.`)
}

// ───────────────────────────────────────────────────────────── What is known

interface Seen {
  readonly merchants: readonly MerchantView[]
  readonly figures: ReadonlyMap<string, AccountFigures>
  readonly now: AttentionNow
}

async function look({ app, ledger }: ConsoleDoor): Promise<Seen> {
  const { accounts } = await ledger.figures()
  return {
    merchants: await merchantsIn(app, ledger),
    figures: new Map(accounts.map((account) => [account.merchant, account])),
    now: await attentionNow(app, ledger),
  }
}

function waitsUntilMs({ app }: ConsoleDoor, { figures }: Seen, { merchant }: MerchantView): number | null {
  const untilMs = figures.get(merchant)?.waitsUntilMs ?? null
  return untilMs !== null && untilMs > app.clock.nowMs() ? untilMs : null
}

const OF_THE_GATEWAY: readonly Why['code'][] = ['gateway-trouble', 'asked-to-wait', 'unserved']

/** As its batches tell; null: there is none, or nothing of it waits. */
function troubleOf({ app }: ConsoleDoor, { now }: Seen, { merchant }: MerchantView): Text | null {
  const own = now.batches.filter((batch) => batch.merchant === merchant)
  const why = own.flatMap((batch) => standingNow(app, batch, now.workers).why)
  const first = why.find(({ code }) => OF_THE_GATEWAY.includes(code))
  return first === undefined ? null : whyWords([first])
}

/** In a word, and what there is to say beside it. */
function shortState(door: ConsoleDoor, seen: Seen, one: MerchantView): Html {
  const untilMs = waitsUntilMs(door, seen, one)
  if (one.stopped !== null) return html`${stateText('stopped')}: ${one.stopped}`
  if (one.held !== null) return html`${stateText('paused')}: ${one.held}`
  if (untilMs !== null) return html`${stateText('waiting')} until ${moment(untilMs)}, as the gateway asked`
  const living = livingWorkers(seen.now.workers)
  if (living.length === 0) return html`no worker runs`
  const isServed = living.some(({ merchants }) => merchants?.includes(one.merchant) ?? true)
  return isServed ? stateText('running') : html`the running worker sends nothing for it`
}

// ───────────────────────────────────────────────────────────── What is shown

const COLUMNS = [
  { name: 'Merchant' },
  { name: 'State', kind: 'text' },
  { name: 'Rate set here' },
  { name: 'Rate configured' },
  { name: 'Open', kind: 'number' },
  { name: 'Waiting', kind: 'number' },
  { name: 'In doubt', kind: 'number' },
] as const

function dialText({ perSecond }: MerchantView): string {
  return perSecond === null ? 'as configured' : rateText(perSecond)
}

function configuredText({ configured }: MerchantView): string {
  return configured === undefined ? 'not configured here' : rateText(configured)
}

function listOf(door: ConsoleDoor, seen: Seen): Html {
  if (seen.merchants.length === 0) return html`<p>No merchant is configured here, and the ledger knows none.</p>`
  const rows = seen.merchants.map((one) => {
    const figures = seen.figures.get(one.merchant)
    return [
      html`<a href="${merchantPath(one.merchant)}">${one.merchant}</a>`,
      shortState(door, seen, one),
      html`${dialText(one)}`,
      html`${configuredText(one)}`,
      html`${figures?.sending ?? 0}`,
      html`${figures?.pending ?? 0}`,
      html`${figures?.inDoubt ?? 0}`,
    ]
  })
  return table('Merchants of this ledger and its configuration', COLUMNS, rows)
}

function stateOf(door: ConsoleDoor, seen: Seen, one: MerchantView): Html {
  const { stopped, held } = one
  const trouble = troubleOf(door, seen, one)
  const notes = [
    ...(stopped === null
      ? []
      : [
          note(
            'refused',
            html`<strong>Stopped:</strong> ${stopped}. The rows that wait were not executed. ${linked(words`${atTerminal`Correct it`}`)}: with other credentials it goes on by itself. Otherwise resume the merchant here.`,
          ),
        ]),
    ...(held === null
      ? []
      : [
          note(
            'doubt',
            html`<strong>Paused:</strong> ${held}. What comes for it is recorded and waits as well. <a href="/doubts">Look the doubts up</a>, then resume the merchant here.`,
          ),
        ]),
    ...(trouble === null ? [] : [note('warn', html`${linked(trouble)}.`)]),
  ]
  const word = stopped !== null ? 'stopped' : held !== null ? 'paused' : null
  return html`<p class="standing">${word === null ? shortState(door, seen, one) : stateText(word)}</p>${notes}`
}

/** What the gateway is trusted with now, while it fails; null: as much as is configured. */
function windowText({ now }: Seen, { merchant }: MerchantView): Html | null {
  const health = now.batches.find((batch) => batch.merchant === merchant)?.gatewayHealth ?? null
  return health === null ? null : html`${plural(health.openMost, 'request')} at a time, while the gateway fails`
}

/** An answer may take more than one request, so it is not called the rate. */
function lastMinuteText(minutes: readonly Minute[]): Html {
  const last = minutes.at(-1)
  if (last === undefined || last.approved === null || last.declined === null || last.failed === null)
    return html`not known`
  const rows = last.approved + last.declined + last.failed
  return html`${plural(rows, 'row')} came to an outcome, ${(rows / 60).toFixed(1)} a second, until ${moment(last.endMs)}`
}

function factsOf({ app }: ConsoleDoor, seen: Seen, one: MerchantView, minutes: readonly Minute[]): Html {
  const { figures } = seen
  const { url, username, merchant } = one
  const known = figures.get(merchant)
  return facts([
    ['Gateway', url === null ? html`not known` : html`${url}`],
    ['User', username === null ? null : html`${shortUsername(username)}`],
    ['Environment', one.environment === null ? null : html`${environmentText(one.environment)}`],
    ['Rate set here', html`${dialText(one)}`],
    ['Rate configured', html`${configuredText(one)}`],
    ['Last whole minute', lastMinuteText(minutes)],
    ['Open requests', html`${known?.sending ?? 0}`],
    ['Window', windowText(seen, one)],
    ['Rows that wait', html`${known?.pending ?? 0}`],
    ['Due since', known?.dueSinceMs == null || known.dueSinceMs > app.clock.nowMs() ? null : moment(known.dueSinceMs)],
    ['In doubt', known === undefined || known.inDoubt === 0 ? html`0` : html`<a href="/doubts">${known.inDoubt}</a>`],
    ['Oldest doubt', known?.doubtSinceMs == null ? null : moment(known.doubtSinceMs)],
  ])
}

// ───────────────────────────────────────────────────────────── What can be done

/** Nothing is missing without its reason. */
function merchantForms(request: FastifyRequest, door: ConsoleDoor, seen: Seen, one: MerchantView): Html {
  if (!visitorOf(request).may('operate'))
    return html`<p>Your roles do not let you resume it or set its rate: that takes an operator.</p>`
  const { merchant, stopped, held, perSecond, configured } = one
  const path = merchantPath(merchant)
  const isHeld = stopped !== null || held !== null || waitsUntilMs(door, seen, one) !== null
  const resume = isHeld
    ? html`<h2>Let it go on</h2>${form(request, door, {
        action: `${path}/resume`,
        fields: html`<p>Sending for ${merchant} starts again, with the rows that were not sent. What was sent is not sent twice. Batches that wait for approval, or were paused, still wait.</p>${reasonField('What did you find?', typedIn(request, `${path}/resume`))}`,
        button: `Resume merchant ${merchant}`,
      })}`
    : html`<p>Nothing holds it, so there is nothing to resume.</p>`
  const here = configured === undefined ? '' : ` (${rateText(configured)} here)`
  const typed = typedIn(request, `${path}/rate`)
  const rate = form(request, door, {
    action: `${path}/rate`,
    fields: html`<p>It overrides the configured rate, also after restarts, until it is reset. A running worker takes it up at once.</p><div class="field"><label>Requests per second<span class="hint"> empty: as configured${here} </span><input name="per_second" inputmode="decimal" autocomplete="off" maxlength="14" value="${typed.per_second ?? perSecond ?? ''}"></label></div>${reasonField('It is kept in the history.', typed)}`,
    button: `Set the rate of ${merchant}`,
    kind: 'other',
  })
  return html`${resume}<h2>Rate</h2>${rate}`
}
