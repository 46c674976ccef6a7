// A form that was refused: its page again, with the reason above it and what was typed in it, but nothing that was typed as a proof.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { CLERK, claimNamed, findingOn, headerOf, refund, settle, submit } from '../fixtures/ledgers.ts'
import { FOUR_EYES, formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
let batch: BatchId
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  batch = await submit(
    ledger,
    accounts.shop,
    [refund('A'), refund('B')],
    headerOf(accounts.shop, { nowMs: Date.now() }),
  )
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

const at = () => `/batches/${batch}`
/** The forms of that address, as the page shows them. */
const shownIn = (body: string, action: string) =>
  [...body.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)].flatMap(([, to, inside]) =>
    to === action ? [inside as string] : [],
  )
const valueIn = (form: string | undefined, name: string) =>
  new RegExp(`<input name="${name}"[^>]*? value="([^"]*)"`).exec(form ?? '')?.[1] ?? ''

async function intoDoubt(): Promise<string> {
  const nowMs = Date.now()
  const claimed = await claimNamed(served.ledger, batch, 'A', nowMs)
  await settle(served.ledger, claimed, 'IN_DOUBT', { atMs: nowMs, sentAtMs: nowMs })
  return `/doubts/${(await served.ledger.doubts())[0]?.rowId}`
}

test('the page is shown again as it is now, says first why, and can be sent', async () => {
  const before = formsIn((await olga.get(at())).body).find(({ action }) => action.endsWith('/pause'))
  const refused = await olga.send(at(), '/pause', { reason: '  ' })
  expect(refused.statusCode).toBe(422)
  expect(refused.body).toMatch(/<title>Not done: /)
  expect(refused.body).toMatch(
    /<main[^>]*>\s*<div class="note refused" role="alert" tabindex="-1" autofocus><p><strong>Not done\.<\/strong> Write why/,
  )
  expect(refused.body).toContain('<p>This is the page as it is now.</p>')
  const again = formsIn(refused.body).find(({ action }) => action.endsWith('/pause'))
  expect(again?.fields.form).not.toBe(before?.fields.form)
  expect((await olga.post(`${at()}/pause`, { ...again?.fields, reason: 'looked' })).statusCode).toBe(303)
  expect(await served.ledger.batch(batch)).toMatchObject({ hold: 'paused' })
})

test('it is no page that is watched or asked for again: its address takes forms alone', async () => {
  expect((await olga.get(at())).body).toContain('data-watch')
  expect((await olga.send(at(), '/pause', { reason: '' })).body).not.toMatch(/data-watch|data-again|http-equiv/)
})

test('a reason stays in the form that it was typed into, and in no other', async () => {
  const long = 'x'.repeat(501)
  await served.ledger.pause(batch, 'waits', CLERK, Date.now())
  const { body } = await olga.send(at(), '/resume', { reason: `${long}<b>` })
  expect(valueIn(shownIn(body, `${at()}/resume`)[0], 'reason')).toBe(`${long}&lt;b&gt;`)
  expect(body).toContain(`as it is now, with what you typed. <a href="${at()}">Clear the form</a>`)
  const rate = await olga.send('/merchants/shop', '/rate', { reason: 'too fast', per_second: 'many' })
  expect(rate.statusCode).toBe(422)
  expect(valueIn(shownIn(rate.body, '/merchants/shop/rate')[0], 'per_second')).toBe('many')
  expect(valueIn(shownIn(rate.body, '/merchants/shop/rate')[0], 'reason')).toBe('too fast')
})

test('neither a typed total nor a card number is shown in a field again', async () => {
  await served.ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
  const header = headerOf(served.accounts.shop, { nowMs: Date.now(), fileSha256: 'b'.repeat(64) })
  batch = await submit(served.ledger, served.accounts.shop, [refund('D')], header)
  const ann = await served.as('ann', ['approver'])
  const { body } = await ann.send(at(), '/approve', { total: '11.00', reason: 'compared' })
  const [form] = shownIn(body, `${at()}/approve`)
  expect([valueIn(form, 'total'), valueIn(form, 'reason')]).toEqual(['', 'compared'])
  const typed = await ann.send(at(), '/approve', { total: 'EUR 4111111111111111', reason: 'compared' })
  expect([typed.statusCode, typed.body.includes('4111111111111111')]).toEqual([422, false])
  const max = await served.as('max', ['admin'])
  const key = { name: 'billing', 'scope-batches:read': 'on', networks: '4111111111111111', days: '9' }
  for (const named of [
    await max.send('/keys', '/keys', key),
    await max.send('/people', '/people', { name: '4111111111111111', 'role-viewer': 'on' }),
  ])
    expect([named.statusCode, named.body.includes('4111111111111111')]).toEqual([422, false])
  const card = await olga.send('/merchants/shop', '/rate', { reason: 'of 4111 1111 1111 1111', per_second: '5' })
  expect([card.statusCode, card.body.includes('4111')]).toEqual([422, false])
})

test('a finding stays chosen, with its transaction, at the attempt that it was of', async () => {
  const doubt = await intoDoubt()
  const said = { found: 'declined', transaction_id: 'x7', reason: 'in the portal' }
  const refused = await olga.send(doubt, '/resolve', said)
  expect(refused.statusCode).toBe(422)
  const [form] = shownIn(refused.body, `${doubt}/resolve`)
  expect(form).toContain('value="declined" required checked>')
  expect(form?.match(/ checked>/g)).toHaveLength(1)
  expect([valueIn(form, 'transaction_id'), valueIn(form, 'reason')]).toEqual(['x7', 'in the portal'])
  // As if the row had been sent once more since the page was opened.
  const other = await olga.send(doubt, '/resolve', { ...said, transaction_id: '7', attempt: '2' })
  expect(other.statusCode).toBe(409)
  const [anew] = shownIn(other.body, `${doubt}/resolve`)
  expect([anew?.includes(' checked>'), valueIn(anew, 'transaction_id'), valueIn(anew, 'reason')]).toEqual([
    false,
    '',
    '',
  ])
  expect(other.body).toContain('You had written: “in the portal”')
})

test('where the page is gone, what was written can be copied still', async () => {
  const doubt = await intoDoubt()
  const fields = { ...formsIn((await olga.get(doubt)).body).at(-1)?.fields, found: 'approved', reason: 'in the portal' }
  await served.ledger.resolve(findingOn('A', { finding: 'declined' }), CLERK, Date.now())
  const { statusCode, body } = await olga.post(`${doubt}/resolve`, fields)
  expect([statusCode, body]).toEqual([409, expect.stringContaining('is no longer in doubt')])
  expect(body).toContain('You had written: “in the portal”')
  const link = /<a href="([^"]+)">The row, as it is now/.exec(body)?.[1] ?? ''
  expect((await olga.get(link.replaceAll('&amp;', '&'))).statusCode).toBe(200)
})

test('roles that were ticked stay so, unless others have changed them since', async () => {
  const max = await served.as('max', ['admin'])
  await served.as('vic', ['viewer'])
  const asked = { 'role-viewer': 'on', 'role-results': 'on', reason: '' }
  const ticked = (body: string) => [...body.matchAll(/name="role-(\w+)" checked/g)].map(([, name]) => name)
  const refused = await max.send('/people/vic', '/roles', asked)
  expect([refused.statusCode, ticked(refused.body)]).toEqual([422, ['viewer', 'results']])
  const changed = await max.send('/people/vic', '/roles', { ...asked, shown: 'auditor', reason: 'new work' })
  expect([changed.statusCode, ticked(changed.body)]).toEqual([409, ['viewer']])
  const nobody = await max.send('/people', '/people', { name: 'a b c', 'role-operator': 'on' })
  expect([nobody.statusCode, ticked(nobody.body)]).toEqual([422, ['operator']])
  expect(valueIn(shownIn(nobody.body, '/people')[0], 'name')).toBe('a b c')
})

test('a key and a webhook are not filled in twice', async () => {
  const max = await served.as('max', ['admin'])
  const key = { name: 'billing', 'scope-batches:read': 'on', 'merchant-shop': 'on', networks: 'here', days: '9' }
  const [form] = shownIn((await max.send('/keys', '/keys', key)).body, '/keys')
  expect([valueIn(form, 'name'), valueIn(form, 'days')]).toEqual(['billing', '9'])
  expect([...(form ?? '').matchAll(/name="([^"]+)" checked/g)].map(([, name]) => name)).toEqual([
    'scope-batches:read',
    'merchant-shop',
  ])
  expect(form).toContain('<textarea name="networks" rows="2">here</textarea>')
  const webhook = { url: 'https://192.0.2.7/x', types: 'batch.*', merchant: 'nobody', reason: 'for billing' }
  const [again] = shownIn((await max.send('/webhooks', '/webhooks', webhook)).body, '/webhooks')
  for (const [name, value] of Object.entries(webhook)) expect(valueIn(again, name)).toBe(value)
})

test.each([
  'https://ann:hunter2@',
  'https:/ann:hunter2@',
  'https:\\\\ann:hunter2@',
  'https:ann:hunter2@',
  'https://ann:p/hunter2@',
])('the password in %s is not shown again', async (begins) => {
  const max = await served.as('max', ['admin'])
  const webhook = { url: `${begins}192.0.2.7/`, types: 'batch.*', merchant: 'nobody', reason: 'for billing' }
  const secret = await max.send('/webhooks', '/webhooks', webhook)
  expect([secret.statusCode, secret.body.includes('hunter2')]).toEqual([422, false])
})

test('what may have been done is not called undone, and what was not begun is', async () => {
  await served.ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
  const header = headerOf(served.accounts.shop, { nowMs: Date.now(), fileSha256: 'b'.repeat(64) })
  batch = await submit(served.ledger, served.accounts.shop, [refund('D')], header)
  const ann = await served.as('ann', ['approver'])
  const away = new Fault('unavailable', 'The server is away. Nothing was changed. Try again in 10 s.')
  vi.spyOn(served.ledger, 'keepRequest').mockRejectedValue(away)
  const { statusCode, body } = await ann.send(at(), '/approve', { total: '10.00', reason: 'compared' })
  expect(await served.ledger.batch(batch)).toMatchObject({ approval: { given: 1 } })
  expect([statusCode, body]).toEqual([503, expect.stringContaining('<h1>It is not known whether this was done</h1>')])
  expect(body).toContain('The server is away. Try again in 10 s. Look at the batch')
  expect(body).not.toMatch(/Not done|Nothing was changed/)
  const fields = formsIn((await olga.get(at())).body).find(({ action }) => action.endsWith('/pause'))?.fields
  vi.spyOn(served.ledger, 'visit').mockRejectedValue(away)
  const first = await olga.post(`${at()}/pause`, { ...fields, reason: 'looked' })
  expect([first.statusCode, first.body]).toEqual([503, expect.stringContaining('<h1>Not done</h1>')])
})

test('of a form of another session nothing is shown', async () => {
  const vic = await served.as('vic', ['operator'])
  const form = formsIn((await vic.get(at())).body).find(({ action }) => action.endsWith('/pause'))
  const { statusCode, body } = await olga.post(`${at()}/pause`, { ...form?.fields, reason: 'planted by vic' })
  expect([statusCode, body.includes('planted')]).toEqual([403, false])
})
