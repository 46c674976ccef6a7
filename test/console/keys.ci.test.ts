// Keys of services at pages: who makes them, what is shown once, and that one that was revoked is refused from then on.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { addKey, findKey } from '../../src/app/keys.ts'
import { STEP_UP_MS } from '../../src/domain/person.ts'
import { personAt } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
let max: Visiting

beforeEach(async () => {
  served = await openPages()
  max = await served.as('max', ['admin'])
})
afterEach(() => served.close())

const BILLING = { name: 'billing', 'scope-batches:read': 'on', days: '90' }
const make = (fields: Readonly<Record<string, string>> = {}) => max.send('/keys', '/keys', { ...BILLING, ...fields })
const shownIn = (body: string) => /trk_[a-z0-9]{8}_[\w-]{49}/.exec(body)?.[0] ?? ''
const keysNow = async () => (await served.ledger.keys()).map(({ name, scopes }) => [name, scopes])

test('an administrator makes a key, which is shown once, works, and is named with who made it', async () => {
  const { merchant } = { merchant: 'shop' }
  const asked = { [`merchant-${merchant}`]: 'on', 'scope-events:read': 'on', networks: '10.0.0.0/8\r\n192.0.2.7' }
  const key = shownIn((await make(asked)).body)
  const found = await findKey(served.ledger, key, Date.now())
  expect(found).toMatchObject({
    kind: 'key',
    key: {
      ...{ name: 'billing', scopes: ['batches:read', 'events:read'], merchants: [merchant] },
      ...{ networks: ['10.0.0.0/8', '192.0.2.7'], createdBy: expect.stringContaining('max') },
    },
  })
  const id = key.slice(4, 12)
  for (const page of ['/keys', `/keys/${id}`]) {
    const { body } = await max.get(page)
    expect(body).toContain(id)
    expect(shownIn(body), page).toBe('')
  }
})

test('a form that is sent twice makes one key, and shows it once', async () => {
  const form = formsIn((await max.get('/keys')).body).find(({ action }) => action === '/keys')
  const fields = { ...form?.fields, ...BILLING }
  const [first, second] = [await max.post('/keys', fields), await max.post('/keys', fields)]
  expect(shownIn(first.body)).not.toBe('')
  expect([shownIn(second.body), second.body]).toEqual(['', expect.stringContaining('not shown again')])
  expect(await keysNow()).toEqual([['billing', ['batches:read']]])
})

test.each([
  ['no name', { name: ' ' }],
  ['a card number as its name', { name: '4111 1111 1111 1111' }],
  ['nothing that it may do', { 'scope-batches:read': '', 'scope-batches:all': 'on' }],
  ['a merchant that is not configured', { 'merchant-elsewhere': 'on' }],
  ['no network', { networks: '10.0.0.0/33' }],
  ['no day', { days: '0' }],
  ['more than a year', { days: '367' }],
])('no key is made with %s', async (_, wrong) => {
  const { 'scope-batches:read': scope, ...rest } = { ...BILLING, ...wrong }
  const answer = await max.send('/keys', '/keys', scope === '' ? rest : { ...rest, 'scope-batches:read': 'on' })
  expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('No key was made.')])
  expect(await keysNow()).toEqual([])
})

test('a key that is revoked, with a reason, is refused from then on', async () => {
  const key = shownIn((await make()).body)
  const at = `/keys/${key.slice(4, 12)}`
  expect((await max.send(at, '/revoke', { reason: ' ' })).statusCode).toBe(422)
  expect(await findKey(served.ledger, key, Date.now())).toMatchObject({ kind: 'key' })
  expect((await max.send(at, '/revoke', { reason: 'it leaked' })).headers.location).toBe(at)
  expect(await findKey(served.ledger, key, Date.now())).toMatchObject({ kind: 'revoked' })
  expect((await max.get(at)).body).toContain('Its requests are refused.')
  expect(formsIn((await max.get(at)).body).map(({ action }) => action)).not.toContain(`${at}/revoke`)
})

test('whoever makes or revokes a key has shown the password a moment ago', async () => {
  const asked = { name: 'x', scopes: ['batches:read' as const], merchants: null, networks: null, livesMs: 86_400_000 }
  const { id } = await addKey(served.ledger, asked, personAt('boss'), Date.now())
  const [making, revoking] = [formsIn((await max.get('/keys')).body), formsIn((await max.get(`/keys/${id}`)).body)]
  served.ahead(STEP_UP_MS + 1)
  for (const [page, forms, action] of [
    ['/keys', making, '/keys'],
    [`/keys/${id}`, revoking, `/keys/${id}/revoke`],
  ] as const) {
    expect((await max.get(page)).body).toContain('show your password again')
    const fields = { ...forms.find((form) => form.action === action)?.fields, ...BILLING, reason: 'why' }
    const { location } = (await max.post(action, fields)).headers
    expect(location).toBe(`/step-up?to=${encodeURIComponent(page)}`)
  }
  expect(await keysNow()).toEqual([['x', ['batches:read']]])
  expect((await served.ledger.key(id))?.revokedAtMs).toBeNull()
})
