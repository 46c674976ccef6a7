// What the page after an act says of it: that it was done, and what that means for the money; to whom did it, once, and nothing else.

import type { LightMyRequestResponse } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { doneText } from '../../src/console/done-words.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { WorkerView } from '../../src/domain/worker.ts'
import { CLERK, claimNamed, findingOn, headerOf, refund, settle, submit } from '../fixtures/ledgers.ts'
import { FOUR_EYES, formsIn, openPages, PASSWORD, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const REST_MS = 900_000
const reason = { reason: 'looked at' }

let served: PagesServed
let batch: BatchId
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  const rows = [refund('A'), refund('B'), refund('C')]
  batch = await submit(ledger, accounts.shop, rows, headerOf(accounts.shop, { nowMs: Date.now() - 2 * REST_MS }))
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

const at = () => `/batches/${batch}`
const textOf = (body: string) =>
  /<div class="note done"[^>]*><p>(.*?)<\/p>/s.exec(body)?.[1]?.replaceAll(/&#39;/g, "'") ?? null
const cookieOf = (answer: LightMyRequestResponse) =>
  answer.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')

const get = (url: string, cookie: string, headers: Readonly<Record<string, string>> = {}) =>
  served.pages.inject({ url, headers: { host: '127.0.0.1', cookie, ...headers } })

/** As a browser goes on to the page after the act. */
async function follow(answer: LightMyRequestResponse, { cookie }: Visiting = olga) {
  expect([answer.statusCode, answer.body]).toEqual([303, ''])
  return get(String(answer.headers.location), `${cookie}; ${cookieOf(answer)}`)
}
const saidAfter = async (answer: LightMyRequestResponse, visiting: Visiting = olga) =>
  textOf((await follow(answer, visiting)).body)

describe('of a batch', () => {
  test('that it was paused, let go on and cancelled, with what is not sent by it', async () => {
    const left = '3 refunds, EUR 30.00'
    expect(await saidAfter(await olga.send(at(), '/pause', reason))).toBe(
      `Paused. No more rows of this batch are sent until somebody resumes it. Waiting: ${left}.`,
    )
    expect(await saidAfter(await olga.send(at(), '/resume', reason))).toBe(
      `Resumed. Nothing is being sent yet; the reason is below. Waiting: ${left}.`,
    )
    await claimNamed(served.ledger, batch, 'A', Date.now())
    expect(await saidAfter(await olga.send(`${at()}/cancel`, '/cancel', reason))).toBe(
      'Cancelled. These will not be sent: 2 refunds, EUR 20.00. 1 request is open and may still be executed.',
    )
  })

  test('that it was approved, and that one approval of two sends nothing yet', async () => {
    const { ledger, accounts } = served
    const bands = { EUR: [{ upTo: null, approvals: 2 }] }
    const rules = FOUR_EYES.rules.map((rule) => ({ ...rule, bands }))
    await ledger.adoptPolicy({ ...FOUR_EYES, rules }, 'test', CLERK, Date.now())
    const header = headerOf(accounts.shop, { nowMs: Date.now(), fileSha256: 'b'.repeat(64) })
    batch = await submit(ledger, accounts.shop, [refund('D')], header)
    const [ann, bob] = [await served.as('ann', ['approver']), await served.as('bob', ['approver'])]
    const given = { ...reason, total: '10.00' }
    const door = { ...served.door, isSecure: false, isSandbox: false, rehearsalPeople: [] }
    expect(await doneText(door, { done: { act: 'hand-in', batch }, isAgain: false }, [])).toBe(
      'Handed in: 1 refund, EUR 10.00. Nothing is sent until 2 others approve this batch.',
    )
    expect(await saidAfter(await ann.send(at(), '/approve', given), ann)).toBe(
      'Your approval was recorded. Nothing is sent until somebody else approves this batch. Waiting: 1 refund, EUR 10.00.',
    )
    expect(await saidAfter(await bob.send(at(), '/approve', given), bob)).toBe(
      'Approved. Nothing is being sent yet; the reason is below. Waiting: 1 refund, EUR 10.00.',
    )
  })

  test('that rows may be sent at once, though the gateway had trouble lately', async () => {
    const { ledger, accounts } = served
    const trouble = { sinceMs: Date.now(), why: 'no answer', asksToWait: false, failures: 0, openMost: 1 }
    await ledger.recordHealth(accounts.shop, { ...trouble, backoffUntilMs: null })
    const door = { ...served.door, isSecure: false, isSandbox: false, rehearsalPeople: [] }
    const worker: WorkerView = {
      ...{ id: 'w', host: null, pid: null, command: null, sinceMs: null, batchId: null, merchants: null },
      ...{ lastBeatMs: null, state: 'working', isLost: false },
    }
    expect(await doneText(door, { done: { act: 'approve', batch }, isAgain: false }, [worker])).toBe(
      'Approved. Whether rows are being sent is shown below. Still to be sent: 3 refunds, EUR 30.00.',
    )
  })

  test('that it was rejected', async () => {
    const { ledger, accounts } = served
    await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
    const header = headerOf(accounts.shop, { nowMs: Date.now(), fileSha256: 'b'.repeat(64) })
    batch = await submit(ledger, accounts.shop, [refund('D')], header)
    const ann = await served.as('ann', ['approver'])
    expect(await saidAfter(await ann.send(at(), '/reject', reason), ann)).toBe(
      'Rejected. Nothing of it will be sent: 1 refund, EUR 10.00.',
    )
  })
})

describe('of a row in doubt', () => {
  let row: string
  const found = (finding: string) => ({ ...reason, found: finding })

  async function intoDoubt(reference: string): Promise<void> {
    const nowMs = Date.now() - REST_MS - 1
    const claimed = await claimNamed(served.ledger, batch, reference, nowMs)
    await settle(served.ledger, claimed, 'IN_DOUBT', { atMs: nowMs, sentAtMs: nowMs })
    row = `/doubts/${(await served.ledger.doubts())[0]?.rowId}`
  }
  beforeEach(() => intoDoubt('A'))

  test.each([
    [
      'approved',
      'Recorded as you found it: A (EUR 10.00) was executed and is now APPROVED. It will not be sent again.',
    ],
    [
      'declined',
      'Recorded as you found it: A (EUR 10.00) was declined and is now DECLINED. No money moved, and it will not be sent again.',
    ],
    [
      'not-executed',
      'Recorded as you found it: A (EUR 10.00) was not executed and is now FAILED. No money moved, and it will not be sent again.',
    ],
    ['send-again', 'Recorded: A (EUR 10.00) waits to be sent once more.'],
  ])('that it was found %s', async (finding, says) => {
    expect(await saidAfter(await olga.send(row, '/resolve', found(finding)))).toBe(says)
  })

  test('that it waits for more, where its batch is paused', async () => {
    await served.ledger.pause(batch, 'waits', CLERK, Date.now())
    expect(await saidAfter(await olga.send(row, '/resolve', found('send-again')))).toBe(
      'Recorded: A (EUR 10.00) waits to be sent once more. Its batch is paused: nothing of it is sent until somebody resumes it.',
    )
  })

  test('also of a reference whose address browsers write otherwise', async () => {
    const { ledger, accounts } = served
    const header = headerOf(accounts.shop, { nowMs: Date.now() - 2 * REST_MS, fileSha256: 'b'.repeat(64) })
    batch = await submit(ledger, accounts.shop, [refund("O'Hara")], header)
    await ledger.resolve(findingOn('A', { finding: 'declined' }), CLERK, Date.now())
    await intoDoubt("O'Hara")
    const answer = await olga.send(row, '/resolve', { ...found('declined'), reference: "O'Hara" })
    const asked = String(answer.headers.location).replaceAll("'", '%27')
    expect(asked).toContain('%27')
    expect(textOf((await get(asked, `${olga.cookie}; ${cookieOf(answer)}`)).body)).toContain("O'Hara")
  })

  test('no more than is so, where it has moved on before the page is shown', async () => {
    const answer = await olga.send(row, '/resolve', found('declined'))
    const corrected = findingOn('A', { corrects: true, attempt: 1, row: { batchId: batch, rowNo: 1 } })
    expect(await served.ledger.resolve(corrected, CLERK, Date.now())).toMatchObject({ kind: 'resolved' })
    expect(await saidAfter(answer)).toBe('Recorded. It has moved on since: A (EUR 10.00) is APPROVED now.')
  })

  test('that it was proposed, refused, taken back and confirmed, and when nothing is sent by that', async () => {
    await served.ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
    const rita = await served.as('rita', ['approver'])
    // The last form of the page whose action ends so is the one that proposes.
    const proposed = async () => {
      const form = formsIn((await olga.get(row)).body).findLast(({ action }) => action.endsWith('/resolve'))
      return saidAfter(await olga.post(`${row}/resolve`, { ...form?.fields, ...reason }))
    }
    expect(await proposed()).toBe(
      'Proposed: A (EUR 10.00) is sent once more only if another person confirms it. Until then nothing is sent.',
    )
    expect(await saidAfter(await olga.send(row, '/withdraw', reason))).toBe(
      'The proposal was taken back: A (EUR 10.00) will not be sent again. It is still in doubt.',
    )
    await proposed()
    expect(await saidAfter(await rita.send(row, '/refuse', reason), rita)).toBe(
      'The proposal was refused: A (EUR 10.00) will not be sent again. It is still in doubt.',
    )
    await proposed()
    expect(await saidAfter(await rita.send(row, '/confirm', reason), rita)).toBe(
      'Confirmed: A (EUR 10.00) waits to be sent once more. Nothing of its batch is sent before it has 1 approval.',
    )
  })
})

describe('of what is no batch', () => {
  test('the rate of a merchant, and that it goes on', async () => {
    expect(await saidAfter(await olga.send('/merchants/shop', '/rate', { ...reason, per_second: '5' }))).toBe(
      'The rate of merchant shop is 5/s from now on. This changes how fast rows are sent, not which.',
    )
    await served.ledger.stopAccount(served.accounts.shop, 'refused', Date.now())
    expect(await saidAfter(await olga.send('/merchants/shop', '/resume', reason))).toBe(
      'Resumed: merchant shop is not held any more. 3 rows wait to be sent.',
    )
  })

  test('a person who was added, whose roles were set, and who was revoked; and that batches wait from then on', async () => {
    const max = await served.as('max', ['admin'])
    const added = await max.send('/people', '/people', { name: 'ann', 'role-submitter': 'on' })
    expect(textOf(added.body)).toBe('ann was added and can sign in once the link has been used. This moves no money.')
    expect(await saidAfter(await max.send('/people/ann', '/roles', { ...reason, 'role-approver': 'on' }), max)).toBe(
      'The roles were set: ann now has the role approver. Open sessions of ann have ended. From now on every batch waits for an approval before anything of it is sent.',
    )
    expect(
      await saidAfter(
        await max.send('/people/ann', '/roles', { ...reason, 'role-viewer': 'on', 'role-results': 'on' }),
        max,
      ),
    ).toContain('ann now has the roles results and viewer.')
    const [form, late] = [await revoking(max, '/people/ann'), await revoking(max, '/people/ann')]
    const send = (fields = form) => max.post('/people/ann/revoke', { ...fields, ...reason })
    const says = 'ann was revoked and can no longer sign in. What ann handed in or approved stands.'
    expect(await saidAfter(await send(), max)).toBe(says)
    expect(await saidAfter(await send(), max)).toBe(
      `You sent this form before. It took effect once, not twice. ${says}`,
    )
    const twice = 'ann had been revoked already; your reason was not recorded.'
    expect(await saidAfter(await send(late), max)).toBe(twice)
    expect(await saidAfter(await send(late), max)).toBe(twice)
  })

  const revoking = async (by: Visiting, page: string) =>
    formsIn((await by.get(page)).body).find(({ action }) => action.endsWith('/revoke'))?.fields

  test('what was done to a webhook, by which no money moves', async () => {
    const { ledger } = served
    const endpoint = { id: 'ep_a', url: 'https://shop.example/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
    await ledger.addEndpoint({ ...endpoint, types: null, merchant: null, allowsPrivate: false }, CLERK, Date.now())
    const at = '/webhooks/ep_a'
    const max = await served.as('max', ['admin'])
    const [pinged, replayed] = [await max.send(at, '/ping'), { ...reason, since: '2026-01-01T00:00:00Z' }]
    expect(await saidAfter(pinged, max)).toBe(
      'A test event is on its way. Its delivery is shown below. No money moves.',
    )
    expect(await saidAfter(await olga.send(at, '/replay', replayed))).toBe(
      'What you asked for is sent again; this page shows what becomes of it. No money moves.',
    )
    expect(textOf((await max.send(at, '/rotate', reason)).body)).toContain('A new secret was made')
    expect(await saidAfter(await max.send(at, '/remove', reason), max)).toBe(
      'Webhook ep_a was removed: nothing more is sent there. No money moved.',
    )
  })

  test('a session that was ended', async () => {
    const [session] = await served.ledger.sessions('p-olga', Date.now())
    await olga.post('/sign-in', { name: 'olga', password: PASSWORD })
    const other = (await served.ledger.sessions('p-olga', Date.now())).find(({ id }) => id !== session?.id)
    expect(await saidAfter(await olga.send('/sessions', `/sessions/${other?.id}/end`))).toBe(
      'That session has ended and can no longer be used.',
    )
  })

  test('a key that was made, with what it can have sent, and that it was revoked', async () => {
    const max = await served.as('max', ['admin'])
    const key = { name: 'billing', 'scope-batches:write': 'on', days: '9' }
    expect(textOf((await max.send('/keys', '/keys', key)).body)).toBe(
      'Key billing was made. What it hands in is sent at once: no approval policy is in force.',
    )
    const other = (scope: string) => max.send('/keys', '/keys', { name: 'other', [`scope-${scope}`]: 'on', days: '9' })
    expect(textOf((await other('batches:steer')).body)).toContain(
      'It cannot hand anything in, but it can resume what is held.',
    )
    expect(textOf((await other('batches:read')).body)).toContain(
      'It can neither hand anything in nor have anything sent.',
    )
    const id = (await served.ledger.keys()).find(({ name }) => name === 'billing')?.id
    const late = await revoking(max, `/keys/${id}`)
    expect(await saidAfter(await max.send(`/keys/${id}`, '/revoke', reason), max)).toBe(
      'Key billing was revoked: its next request is refused. What was handed in with it stays as it is.',
    )
    expect(await saidAfter(await max.post(`/keys/${id}/revoke`, { ...late, ...reason }), max)).toBe(
      'Key billing had been revoked already; your reason was not recorded.',
    )
  })
})

describe('it is said', () => {
  test('once: the page that is loaded again says nothing of it', async () => {
    const answer = await olga.send(at(), '/pause', reason)
    const page = await follow(answer)
    expect(textOf(page.body)).toContain('Paused.')
    const left = page.cookies.filter(({ name }) => name === 'tranche-done')
    expect(left).toMatchObject([{ value: '', maxAge: 0, httpOnly: true, sameSite: 'Lax', path: '/' }])
    expect(textOf((await olga.get(at())).body)).toBe(null)
  })

  test('before what is watched, with the focus and as a status', async () => {
    const { body } = await follow(await olga.send(at(), '/pause', reason))
    expect(body.indexOf('<div class="note done" role="status" tabindex="-1" autofocus>')).toBeLessThan(
      body.indexOf('<main'),
    )
  })

  test('with nothing of it in the address', async () => {
    expect((await olga.send(at(), '/pause', reason)).headers.location).toBe(at())
  })

  test('to a person, and not to a page that asks by itself', async () => {
    const answer = await olga.send(at(), '/pause', reason)
    const cookies = `${olga.cookie}; ${cookieOf(answer)}`
    const byItself = await get(at(), cookies, { 'x-asked-by': 'page' })
    expect([textOf(byItself.body), byItself.cookies]).toEqual([null, []])
    expect(textOf((await get(at(), cookies)).body)).toContain('Paused.')
  })

  test.each<[string, (cookie: string) => Promise<LightMyRequestResponse>]>([
    ['at another page', (cookie) => get('/', `${olga.cookie}; ${cookie}`)],
    ['at the page of another batch', (cookie) => get('/merchants/shop', `${olga.cookie}; ${cookie}`)],
    [
      'later than a minute',
      async (cookie) => {
        served.ahead(60_001)
        return get(at(), `${olga.cookie}; ${cookie}`)
      },
    ],
    ['to somebody else', async (cookie) => get(at(), `${(await served.as('vic', ['operator'])).cookie}; ${cookie}`)],
    [
      'where one character is another',
      (cookie) => get(at(), `${olga.cookie}; ${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`),
    ],
    [
      'of words that somebody wrote',
      () => {
        const kept = { done: { act: 'cancel', batch }, isAgain: false, atMs: Date.now(), at: '' }
        const text = Buffer.from(JSON.stringify(kept)).toString('base64url')
        return get(at(), `${olga.cookie}; tranche-done=${text}.${'A'.repeat(43)}`)
      },
    ],
    ['where the cookie is no cookie of ours', () => get(at(), `${olga.cookie}; tranche-done=.`)],
  ])('never %s', async (_, come) => {
    const answer = await olga.send(at(), '/pause', reason)
    const page = await come(cookieOf(answer))
    expect([page.statusCode, textOf(page.body)]).toEqual([200, null])
  })

  test('never of a form that was refused', async () => {
    const refused = await olga.send(at(), '/pause', { reason: '' })
    expect([refused.statusCode, refused.cookies, textOf(refused.body)]).toEqual([422, [], null])
  })

  test('of a form that is sent twice, that it had its effect once', async () => {
    const form = formsIn((await olga.get(at())).body).find(({ action }) => action.endsWith('/pause'))
    const send = () => olga.post(`${at()}/pause`, { ...form?.fields, ...reason })
    await send()
    expect(await saidAfter(await send())).toMatch(
      /^You sent this form before\. It took effect once, not twice\. Paused\./,
    )
    await olga.send(at(), '/resume', reason)
    expect(await saidAfter(await send())).toMatch(
      /not twice\. Your pause was recorded, but the batch has been resumed since\./,
    )
  })
})
