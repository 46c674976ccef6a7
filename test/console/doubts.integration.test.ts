// Doubts at their pages: what is shown, who may say what they found, and what the ledger holds after.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { STEP_UP_MS } from '../../src/domain/person.ts'
import { CLERK, claimNamed, findingOn, headerOf, listOf, refund, rowIn, settle, submit } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const HOSTILE = '<script>alert(1)</script>\u202e'
const REST_MS = 900_000

let served: PagesServed
let batch: BatchId
let olga: Visiting
let row: number

beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  const rows = [refund('R-1', { orderId: '77' }), refund('R-2', { orderId: '77' }), refund('R-3')]
  batch = await submit(ledger, accounts.shop, rows, headerOf(accounts.shop, { nowMs: Date.now() - 2 * REST_MS }))
  await intoDoubt('R-1')
  row = (await ledger.doubts())[0]?.rowId ?? 0
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

/** Its request left just now, or so long ago. */
async function intoDoubt(reference: string, agoMs = 0): Promise<void> {
  const nowMs = Date.now() - agoMs
  const claimed = await claimNamed(served.ledger, batch, reference, nowMs)
  const over = { atMs: nowMs, sentAtMs: nowMs, reason: `no answer ${HOSTILE}`, httpStatus: 502, answerText: HOSTILE }
  await settle(served.ledger, claimed, 'IN_DOUBT', over)
}

const at = () => `/doubts/${row}`
const now = (reference = 'R-1') => rowIn(served.ledger, batch, reference)
const found = (over: Readonly<Record<string, string>> = {}) => ({ found: 'approved', reason: 'in the portal', ...over })
const resolve = (over: Readonly<Record<string, string>> = {}, by = olga) => by.send(at(), '/resolve', found(over))
const itsPage = () => `/instructions?reference=R-1&batch=${batch}&row=1`

test('the list shows what to look up, how long it rests and what waits for it, and nothing that a page would obey', async () => {
  const { body } = await olga.get('/doubts')
  for (const shown of ['R-1', 'shop', '10.00', '>77<', '1 row', 'no answer &lt;script&gt;', `href="${at()}"`])
    expect(body).toContain(shown)
  expect(body).not.toMatch(/<script>|\u202e/)
  served.ahead(REST_MS)
  expect((await olga.get('/doubts')).body).toMatch(
    /<td [^>]*data-label="May be recorded as not executed from">now<\/td>/,
  )
})

test('where there is none, that is said', async () => {
  await resolve()
  expect((await olga.get('/doubts')).body).toContain('No row is in doubt.')
  expect((await olga.get(at())).statusCode).toBe(404)
})

test('one of them shows its ids, what was seen, and what each finding means for the money', async () => {
  const { body } = await olga.get(at())
  for (const shown of [
    '<code data-copy>77</code>',
    '502',
    'It was approved',
    'becomes APPROVED',
    '1 refund, EUR 10.00',
  ])
    expect(body).toContain(shown)
  expect(body).not.toMatch(/<script>|\u202e/)
})

test('an operator says what was found, and the ledger holds it with who found it', async () => {
  expect((await resolve({ transaction_id: ' 7001 ' })).headers.location).toBe(itsPage())
  expect(await now()).toMatchObject({ state: 'APPROVED', facts: { transactionId: '7001' } })
  expect((await now()).reason).toMatch(/^approved by .*olga.*: in the portal$/)
  const page = (await olga.get(itsPage())).body
  expect(page).toContain('Approved: the gateway executed it. A person found that.')
})

test('before its rest is over it is called neither absent nor sent again, at the page or past it', async () => {
  const { body } = await olga.get(at())
  expect(body.match(/value="(approved|declined|not-executed|send-again)"/g)).toHaveLength(2)
  expect(body.match(/not before <time/g)).toHaveLength(2)
  for (const finding of ['not-executed', 'send-again']) {
    const refused = await resolve({ found: finding })
    expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('may still be executed')])
  }
  expect(await now()).toMatchObject({ state: 'IN_DOUBT' })
})

/** R-3, whose rest is over. */
async function rested(): Promise<void> {
  await intoDoubt('R-3', REST_MS + 1)
  row = (await served.ledger.doubts())[1]?.rowId ?? 0
}

test('afterwards it is, and what that may cost is said before', async () => {
  await rested()
  const { body } = await olga.get(at())
  expect(body).toContain('This refund becomes FAILED: not executed. If it is executed after all, money moves')
  expect(body).toContain('the customer gets EUR 10.00 twice')
  await resolve({ found: 'not-executed' })
  expect(await now('R-3')).toMatchObject({ state: 'FAILED' })
})

test('to have it sent once more takes a password that was shown a moment ago', async () => {
  await rested()
  const form = { ...formsIn((await olga.get(at())).body).at(-1)?.fields, ...found({ found: 'send-again' }) }
  served.ahead(STEP_UP_MS + 1)
  expect((await olga.get(at())).body).toContain(
    `<a href="/step-up?to=${encodeURIComponent(at())}">show your password again</a>`,
  )
  expect((await olga.post(`${at()}/resolve`, form)).headers.location).toBe(`/step-up?to=${encodeURIComponent(at())}`)
  expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
  served.ahead(0)
  const itsPage = `/instructions?reference=R-3&batch=${batch}&row=3`
  expect((await olga.post(`${at()}/resolve`, form)).headers.location).toBe(itsPage)
  expect(await now('R-3')).toMatchObject({ state: 'READY' })
  expect((await olga.get(itsPage)).body).toContain('It waits to be sent once more, as a person ordered.')
})

test('a form that is sent twice has its effect once', async () => {
  const fields = { ...formsIn((await olga.get(at())).body).at(-1)?.fields, ...found() }
  const answers = [await olga.post(`${at()}/resolve`, fields), await olga.post(`${at()}/resolve`, fields)]
  expect(answers.map(({ headers }) => headers.location)).toEqual([itsPage(), itsPage()])
  const moves = await served.ledger.history('R-1')
  expect(moves.filter(({ cause }) => cause === 'resolve')).toHaveLength(1)
})

test('what somebody else resolved meanwhile stays, and who comes later is told', async () => {
  const fields = { ...formsIn((await olga.get(at())).body).at(-1)?.fields, ...found() }
  await served.ledger.resolve(findingOn('R-1', { finding: 'declined' }), served.app.actor, Date.now())
  const refused = await olga.post(`${at()}/resolve`, fields)
  expect(refused.statusCode).toBe(409)
  expect(refused.body).toContain('no longer in doubt: it is DECLINED by now. What you said was not recorded')
  expect(await now()).toMatchObject({ state: 'DECLINED' })
})

test('what was found is of the attempt and the row that were looked up, and of no other', async () => {
  for (const over of [{ attempt: '2' }, { number: '2' }, { batch: 'x' }])
    expect((await resolve(over)).statusCode).toBe(409)
  for (const over of [{ attempt: '' }, { number: '0' }]) expect((await resolve(over)).statusCode).toBe(400)
  expect(await now()).toMatchObject({ state: 'IN_DOUBT' })
})

test.each([
  ['without a finding', { found: '' }, 'one of the four answers'],
  ['without a reason', { reason: ' ' }, 'Write why'],
  ['with a card in its reason', { reason: 'card 4111111111111111' }, 'the history keeps none'],
  ['with a reason of two lines', { reason: 'one\ntwo' }, 'in one line'],
  ['with something else for a transaction', { transaction_id: 'TX' }, 'digits only'],
])('a form %s changes nothing', async (_, over, said) => {
  const refused = await resolve(over)
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(said)])
  expect(refused.body).toContain('Nothing was changed')
  expect(await now()).toMatchObject({ state: 'IN_DOUBT' })
})

test('a transaction that settled another row is not taken again', async () => {
  await resolve({ transaction_id: '7001' })
  await intoDoubt('R-2')
  row = (await served.ledger.doubts())[0]?.rowId ?? 0
  const refused = await resolve({ transaction_id: '7001' })
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining('settled R-1 already')])
  expect(refused.body).toContain('This is the page as it is now, with what you typed.')
  expect(refused.body).toContain('value="7001"')
  expect(refused.body).toMatch(/value="approved" required checked/)
})

test('a viewer sees it, is told who may say, and gets no file of names', async () => {
  const vic = await served.as('vic', ['viewer'])
  expect((await vic.get(at())).body).toContain('that takes an operator')
  expect(formsIn((await vic.get(at())).body)).toEqual([])
  expect((await vic.get('/doubts')).body).toContain('a permission of its own')
  expect((await vic.get('/doubts.csv')).statusCode).toBe(403)
})

test('the worklist is that of the command line, and that it was taken is kept', async () => {
  const rita = await served.as('rita', ['viewer', 'results'])
  const file = await rita.get('/doubts.csv')
  expect(file.headers['content-disposition']).toBe('attachment; filename="doubts.csv"')
  const [header, line] = file.body.split('\r\n')
  expect(header).toMatch(/^\ufeff?reference,attempt,operation,amount,/)
  expect(line).toMatch(/^R-1,1,REFUND,10.00,EUR,/)
  const acts = await listOf(served.ledger.log(null))
  expect(acts.at(-1)).toMatchObject({ what: 'export', details: { kind: 'worklist', rows: 1 }, actor: { name: 'rita' } })
})

describe('where approvals are in force', () => {
  let anna: Visiting
  beforeEach(async () => {
    await rested()
    anna = await served.as('anna', ['approver'])
  })
  const ofR3 = () => `/instructions?reference=R-3&batch=${batch}&row=3`
  const propose = async () => {
    const { fields } = formsIn((await olga.get(at())).body).at(-1) ?? {}
    return olga.post(`${at()}/resolve`, { ...fields, reason: 'not in the portal' })
  }

  test('one person proposes that a row be sent once more, and another one confirms it', async () => {
    expect((await olga.get(at())).body).toContain(
      '<button class="">Propose to send refund R-3, EUR 10.00, once more</button>',
    )
    expect((await propose()).headers.location).toBe(at())
    expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
    const shown = (await anna.get(at())).body
    for (const said of [
      'Proposed</strong> by person olga',
      'not in the portal',
      'Refuse to send refund R-3, EUR 10.00, once more',
    ])
      expect(shown).toContain(said)
    expect(shown).toContain('<button class="">Confirm: send refund R-3, EUR 10.00, once more</button>')
    expect((await olga.get('/')).body).toContain('1 proposal to send a row in doubt once more waits')
    const confirmed = await anna.send(at(), '/confirm', { reason: 'not in the settlement file' })
    expect(confirmed.headers.location).toBe(ofR3())
    expect(await now('R-3')).toMatchObject({ state: 'READY' })
    expect((await served.ledger.history('R-3')).at(-1)?.by).toContain('anna')
  })

  test('who proposed it is offered no confirmation, and gets none past the page', async () => {
    await propose()
    const { body } = await olga.get(at())
    expect(body).toContain('You proposed it yourself')
    expect(formsIn(body).map(({ action }) => action.split('/').at(-1))).toEqual(['resolve', 'withdraw'])
    const { fields } = formsIn(body).at(-1) ?? {}
    expect((await olga.post(`${at()}/confirm`, { ...fields, reason: 'mine' })).statusCode).toBe(403)
    await olga.post(`${at()}/resolve`, { ...fields, found: 'send-again', reason: 'again' })
    expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
  })

  test('who may approve too, and proposed it, is told that another person confirms', async () => {
    const otto = await served.as('otto', ['operator', 'approver'])
    const { fields } = formsIn((await otto.get(at())).body).at(-1) ?? {}
    await otto.post(`${at()}/resolve`, { ...fields, reason: 'not there' })
    const { body } = await otto.get(at())
    expect(body).toContain('You proposed it yourself, so another person, who may approve, confirms it.')
    expect(formsIn(body).map(({ action }) => action.split('/').at(-1))).toEqual(['resolve', 'withdraw'])
  })

  test('an approver who may not confirm this one is told why, and may refuse it', async () => {
    await propose()
    const person = { kind: 'person', id: 'p-olga', name: 'olga', address: null } as const
    const carl = await served.as('carl', ['approver'], person)
    const { body } = await carl.get(at())
    expect(body).toContain('and you cannot confirm it')
    expect(formsIn(body).map(({ action }) => action.split('/').at(-1))).toEqual(['refuse'])
  })

  test('a form that only proposes sends nothing when one word has become enough meanwhile', async () => {
    const inForce = await served.ledger.approvalPolicy()
    await served.ledger.adoptPolicy(null, 'test', CLERK, Date.now())
    // Of a batch that has nothing else to send, so that it needs no approval.
    const nowMs = Date.now() - 2 * REST_MS
    const own = headerOf(served.accounts.shop, { nowMs, runKey: 'own' })
    batch = await submit(served.ledger, served.accounts.shop, [refund('R-9', { orderId: '99' })], own)
    await intoDoubt('R-9', REST_MS + 1)
    row = (await served.ledger.doubts())[2]?.rowId ?? 0
    await served.ledger.adoptPolicy(inForce, 'test', CLERK, Date.now())
    const { fields } = formsIn((await olga.get(at())).body).at(-1) ?? {}
    await served.ledger.adoptPolicy(null, 'test', CLERK, Date.now())
    const late = await olga.post(`${at()}/resolve`, { ...fields, reason: 'not there' })
    expect([late.statusCode, late.body]).toEqual([409, expect.stringContaining('now it would be sent at once')])
    expect(await now('R-9')).toMatchObject({ state: 'IN_DOUBT' })
  })

  test('whoever proposed reads at the row why that is gone', async () => {
    await propose()
    for (const page of [at(), ofR3()])
      expect((await olga.get(page)).body).toContain('nothing is sent until another person confirms it')
    await served.ledger.setGrants('olga', ['operator', 'viewer'], 'more', CLERK, Date.now())
    for (const page of [at(), ofR3()]) {
      const { body } = await anna.get(page)
      expect(body).toMatch(/the proposal of person olga .* to send it once more lapsed, after attempt 1/)
      expect(body).toContain('what its proposer may do here was changed')
    }
  })

  test('who proposed, refused and confirmed is told where the row is, where it is listed, and at its batch', async () => {
    const proposed = 'proposed to send it once more, after attempt 1'
    await propose()
    for (const page of [at(), ofR3()]) expect((await anna.get(page)).body).toContain(proposed)
    expect((await anna.get('/doubts')).body).toContain('Proposed to be sent once more')
    const ofBatch = (await anna.get(`/batches/${batch}`)).body
    expect(ofBatch).toContain('It is proposed to send 1 row once more')
    expect(ofBatch).toContain('propose send again of row 3')
    await anna.send(at(), '/refuse', { reason: `it is there ${HOSTILE}`.replace('\u202e', '') })
    for (const page of [at(), ofR3()]) {
      const { body } = await olga.get(page)
      for (const said of [
        proposed,
        'refused to send it once more, after attempt 1',
        'it is there &lt;script&gt;',
        'anna',
      ])
        expect(body).toContain(said)
      expect(body).not.toContain('<strong>Proposed')
    }
    expect((await olga.get('/doubts')).body).not.toContain('Proposed to be sent once more')
    await propose()
    await anna.send(at(), '/confirm', { reason: 'not there at all' })
    const moved = (await olga.get(ofR3())).body
    for (const said of ['confirmed that it is sent once more', 'not there at all', 'not in the portal'])
      expect(moved).toContain(said)
    expect((await olga.get(`/instructions?reference=R-1&batch=${batch}&row=1`)).body).not.toContain(proposed)
  })

  test('an operator who saw no proposal confirms none by proposing the same', async () => {
    const otto = await served.as('otto', ['operator', 'approver'])
    const { fields } = formsIn((await otto.get(at())).body).at(-1) ?? {}
    await propose()
    const late = await otto.post(`${at()}/resolve`, { ...fields, reason: 'not there' })
    expect([late.statusCode, late.body]).toEqual([409, expect.stringContaining('you were not shown that')])
    expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
  })

  test.each(['refuse', 'withdraw'])(
    'a proposal that somebody does %s is confirmed by no form that was open',
    async (act) => {
      await propose()
      const open = formsIn((await anna.get(at())).body).find(({ action }) => action.endsWith('/confirm'))
      const by = act === 'refuse' ? anna : olga
      expect((await by.send(at(), `/${act}`, { reason: 'it is there after all' })).headers.location).toBe(at())
      expect((await anna.get(at())).body).not.toContain('Proposed</strong>')
      const refused = await anna.post(`${at()}/confirm`, { ...open?.fields, reason: 'not there' })
      expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('no longer stands')])
      expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
    },
  )

  test('to confirm takes a password that was shown a moment ago', async () => {
    await propose()
    const open = formsIn((await anna.get(at())).body).find(({ action }) => action.endsWith('/confirm'))
    served.ahead(STEP_UP_MS + 1)
    expect((await anna.get(at())).body).toContain('show your password again')
    const asked = await anna.post(`${at()}/confirm`, { ...open?.fields, reason: 'not there' })
    expect(asked.headers.location).toBe(`/step-up?to=${encodeURIComponent(at())}`)
    expect(await now('R-3')).toMatchObject({ state: 'IN_DOUBT' })
  })
})
