// Every route of the table, asked for something that is there: made of the table, so that a route without a sample fails.
// With every kind of credential they are asked in `credentials`.

import { beforeEach, describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/domain/api-key.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { entryOf, ROUTES, type RouteName } from '../../src/server/table.ts'
import { putCheck } from '../fixtures/checks.ts'
import { CLERK, refund, submit, work } from '../fixtures/ledgers.ts'
import { type Asking, served, useServed } from '../fixtures/served.ts'

/** What the process says that records a file. */
useServed({ ingest: async () => ({ exit: 0, said: { kind: 'known', batch } }) })

/** How a route is asked for something of the merchant `shop`. */
interface Sample {
  readonly at?: string
  readonly body?: unknown
  readonly type?: string
}

let batch: BatchId
let doubt: string
let file: string
let check: string
beforeEach(async () => {
  batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])
  await work(served.ledger, batch, 'A', 'IN_DOUBT')
  doubt = String((await served.ledger.doubts())[0]?.rowId)
  const endpoint = {
    id: 'ep_shop',
    url: 'https://shop.example/hooks',
    secret: 'whsec_AAAA',
    types: null,
    merchant: 'shop',
  }
  await served.ledger.addEndpoint({ ...endpoint, allowsPrivate: false }, CLERK, Date.now())
  await served.ledger.takeDeliveries('ep_shop', [{ id: EVENT, type: 'row.settled' }], { move: 0, event: 0 }, Date.now())
  const uploaded = await upload((await served.key()).key)
  file = uploaded.id
  check = await putCheck(served.spool, uploaded)
})

const INSTRUCTION = {
  ...{ schema_version: 1, merchant: 'shop', reference: 'N', transaction_type: 'REFUND', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: '77' },
}
const EVENT = 'm1-0123456789ab'
const WHY = { reason: 'looked at it' }
const FOUND = { found: 'approved', attempt: 1, transaction_id: '700', ...WHY }

const SAMPLES = (): Readonly<Record<RouteName, Sample>> => ({
  livez: {},
  readyz: {},
  openapi: {},
  uploadFile: { body: 'reference', type: 'text/csv' },
  startCheck: { body: { file, merchant: 'shop' } },
  getCheck: {},
  listCheckedRows: {},
  listFaults: {},
  listLookalikes: {},
  getRejectsCsv: {},
  submitBatch: { body: { check, expect: { count: 1, totals: {} } } },
  listBatches: {},
  getBatch: {},
  listRows: {},
  getResultsCsv: {},
  getResultsXlsx: {},
  getResultsJsonl: {},
  getSummaryCsv: {},
  pauseBatch: { body: WHY },
  resumeBatch: { body: WHY },
  cancelBatch: { body: WHY },
  submitInstruction: { body: INSTRUCTION },
  cancelInstruction: { body: WHY },
  findInstructions: { at: '?reference=B' },
  getHistory: {},
  listDoubts: {},
  resolveDoubt: { body: FOUND },
  listMerchants: {},
  setRate: { body: { per_second: 5, ...WHY } },
  resumeMerchant: { body: WHY },
  listEvents: {},
  listEndpoints: {},
  addEndpoint: { body: { url: 'https://shop.example/other', merchant: 'shop' } },
  removeEndpoint: {},
  listDeliveries: {},
  replayDeliveries: { body: { endpoint: 'ep_shop', event: EVENT } },
  listAudit: {},
})

/** Others answer with 200. */
const STATUSES: Partial<Readonly<Record<RouteName, number>>> = {
  submitInstruction: 201,
  uploadFile: 201,
  startCheck: 202,
  addEndpoint: 201,
}

const NAMES = Object.keys(ROUTES) as RouteName[]
const KEYED = NAMES.filter((name) => entryOf(name).scope !== null)

async function upload(key: string) {
  const headers = { 'content-type': 'text/csv' }
  return (await served.ask('POST', '/v1/files', { key, body: 'reference', headers })).said
}

let asked = 0
async function ask(name: RouteName, { key, headers = {} }: Asking = {}, named = true) {
  const { method, path, changes } = entryOf(name)
  // Whoever checks a file has uploaded it.
  if (name === 'startCheck' && key !== undefined) file = (await upload(key))?.id ?? file
  const { at = '', body, type } = SAMPLES()[name]
  const url = path
    .replace(':batch', batch)
    .replace(':reference', 'B')
    .replace(':row', doubt)
    .replace(':merchant', 'shop')
    .replace(':endpoint', 'ep_shop')
    .replace(':check', check)
  asked += 1
  return served.ask(method, `${url}${at}`, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(changes && named ? { 'idempotency-key': `k${asked}` } : {}),
      ...headers,
    },
  })
}
const codeOf = ({ statusCode, said }: Awaited<ReturnType<typeof ask>>) => [statusCode, said?.code]

test.each(KEYED)('%s answers a key with its scope alone, that of its merchant', async (name) => {
  const { scope } = entryOf(name)
  const { key } = await served.key({ scopes: scope === null ? [] : [scope], merchants: ['shop'] })
  const answer = await ask(name, { key })
  expect([answer.statusCode, answer.statusCode > 299 ? answer.said : null]).toEqual([STATUSES[name] ?? 200, null])
})

const OF_MERCHANTS = KEYED.filter((name) => entryOf(name).merchants !== 'none')

test.each([
  ['another merchant', { merchants: ['club'] }],
  ['the other environment', { environment: 'test' }],
] as const)('none has anything for a key of %s', async (_, wanted) => {
  for (const [name, merchant] of served.app.config.merchants)
    Object.assign(merchant, { environment: name === 'club' ? 'test' : 'live' })
  const { key } = await served.key(wanted)
  for (const name of OF_MERCHANTS) {
    const answer = await ask(name, { key })
    if (entryOf(name).merchants === 'listed') {
      expect(answer.statusCode, name).toBe(200)
      expect(JSON.stringify(answer.said.data)).not.toMatch(/shop|looked/)
    } else if (name === 'submitInstruction') expect(codeOf(answer), name).toEqual([422, 'instruction_refused'])
    else expect(codeOf(answer), name).toEqual([404, 'not_found'])
    expect((await served.ledger.batch(batch))?.hold).toBe('none')
    expect(await served.ledger.doubts()).toHaveLength(1)
    expect((await served.ledger.accounts()).map(({ ratePerSecond }) => ratePerSecond)).toEqual([null, null])
  }
})

describe('what changes something', () => {
  test('needs an Idempotency-Key, and JSON', async () => {
    for (const name of NAMES.filter((one) => entryOf(one).changes)) {
      const { key } = await served.key()
      expect(codeOf(await ask(name, { key }, false)), name).toEqual([400, 'idempotency_key_missing'])
      expect(codeOf(await ask(name, { key, headers: { 'idempotency-key': 'a b' } }))).toEqual([
        400,
        'idempotency_key_invalid',
      ])
      if (entryOf(name).body === 'none') continue
      const plain = await ask(name, { key, headers: { 'content-type': 'text/plain' } })
      expect(codeOf(plain), name).toEqual([415, 'media_type_unsupported'])
    }
  })

  test.each(NAMES.filter((name) => entryOf(name).changes))('%s is done once under its key', async (name) => {
    const { key } = await served.key()
    const first = await ask(name, { key, headers: { 'idempotency-key': 'same' } })
    const acts = await served.ledger.head()
    const again = await ask(name, { key, headers: { 'idempotency-key': 'same' } })
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([first.statusCode, 'true'])
    expect(await served.ledger.head()).toBe(acts)
  })

  test.each(
    NAMES.filter(
      (name) =>
        entryOf(name).body === 'json' && entryOf(name).changes && !['submitInstruction', 'submitBatch'].includes(name),
    ),
  )('%s refuses members that it does not know, and card numbers in its reason', async (name) => {
    const { key } = await served.key()
    const { method, path } = entryOf(name)
    const url = path.replace(':batch', batch).replace(':row', doubt).replace(':merchant', 'shop')
    for (const over of [{ force: true }, { reason: 'card 4111 1111 1111 1111' }, { reason: 'two\nlines' }]) {
      const body = { ...(SAMPLES()[name].body as object), ...over }
      const answer = await served.ask(method, url, { key, body, headers: { 'idempotency-key': 'x' } })
      expect(codeOf(answer)).toEqual([400, 'request_invalid'])
      const { request_id: _, ...said } = answer.said // it is made of random digits
      expect(JSON.stringify(said)).not.toContain('4111')
    }
  })
})

test('no route approves or rejects, whatever it is called', () => {
  expect(Object.values(ROUTES).filter(({ path }) => /approv|reject(?!s\.csv$)/i.test(path))).toEqual([])
  expect(SCOPES.filter((scope) => /approv|reject/i.test(scope))).toEqual([])
})

test('a batch that waits for people is not let go by any route', async () => {
  const policy = { rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }] }
  const actor = { kind: 'person', id: 'p', name: 'p', address: null } as const
  await served.ledger.adoptPolicy({ ...policy, expireAfterMs: 9e8, osUsers: true }, 'test', actor, Date.now())
  batch = await submit(served.ledger, served.accounts.shop, [refund('C')], {
    nowMs: Date.now(),
    fileSha256: 'cc'.repeat(32),
  })
  const { key } = await served.key()
  for (const name of KEYED.filter((one) => one !== 'cancelBatch')) await ask(name, { key })
  const { said } = await ask('getBatch', { key })
  expect(said).toMatchObject({ approval: { needed: 1, given: 0 } })
})

test('none is kept by a cache, or read as anything else', async () => {
  for (const name of NAMES) {
    const { key } = await served.key()
    for (const answer of [await ask(name, { key }), await ask(name)]) {
      expect(answer.headers, name).toMatchObject({
        // The description is the same for everybody, and is asked for by its ETag.
        'cache-control': name === 'openapi' ? 'no-cache' : 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
      })
      expect(answer.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    }
  }
})
