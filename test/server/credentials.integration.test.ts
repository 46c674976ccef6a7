// Every route of the table with every kind of credential: what each is answered is derived from the table, so that a new route is
// asked as well. What a route does for whoever may ask it is in `routes`.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCOPES, type Scope } from '../../src/domain/api-key.ts'
import { PROBLEMS, type ProblemCode } from '../../src/server/problems.ts'
import { ROUTES, type RouteEntry } from '../../src/server/table.ts'
import { CLERK } from '../fixtures/ledgers.ts'
import { type KeyWanted, openServed, type Served } from '../fixtures/served.ts'

let served: Served
beforeAll(async () => {
  served = await openServed()
  for (const [name, merchant] of served.app.config.merchants)
    Object.assign(merchant, { environment: name === 'club' ? 'test' : 'live' })
})
afterAll(() => served.close())

interface Credential {
  readonly authorization?: string
  readonly from?: string
  /** Why it is none; absent: it is one, with these scopes. */
  readonly refused?: ProblemCode
  readonly scopes?: readonly Scope[]
}

type Made = (wanted?: KeyWanted) => Promise<string>
const bearer: Made = async (wanted) => `Bearer ${(await served.key(wanted)).key}`

async function revoked(): Promise<string> {
  const { id, key } = await served.key()
  await served.ledger.revokeKey(id, 'lost', CLERK, Date.now())
  return `Bearer ${key}`
}

const CREDENTIALS: Readonly<Record<string, () => Promise<Credential>>> = {
  none: async () => ({ refused: 'key_missing' }),
  'an empty one': async () => ({ authorization: '', refused: 'key_missing' }),
  'a password': async () => ({ authorization: 'Basic dTpw', refused: 'key_missing' }),
  'a key without its scheme': async () => ({ authorization: (await bearer()).slice(7), refused: 'key_missing' }),
  'two keys': async () => ({ authorization: `${await bearer()} ${(await bearer()).slice(7)}`, refused: 'key_missing' }),
  'what is no key': async () => ({ authorization: 'Bearer x', refused: 'key_unknown' }),
  'a key that is cut': async () => ({ authorization: (await bearer()).slice(0, -1), refused: 'key_unknown' }),
  'a revoked key': async () => ({ authorization: await revoked(), refused: 'key_revoked' }),
  'an expired key': async () => ({ authorization: await bearer({ livesMs: 0 }), refused: 'key_expired' }),
  'a key from another network': async () => ({
    ...{ authorization: await bearer({ networks: ['10.0.0.0/8'] }), from: '11.0.0.1', refused: 'network_refused' },
  }),
  'a key from its network': async () => ({
    ...{ authorization: await bearer({ networks: ['10.0.0.0/8'] }), from: '10.0.0.1', scopes: SCOPES },
  }),
  'a key of the other environment': async () => ({
    authorization: await bearer({ environment: 'test', merchants: ['shop'] }),
    refused: 'environment_refused',
  }),
  'a key of its environment': async () => ({
    ...{ authorization: await bearer({ environment: 'live', merchants: ['shop'] }), scopes: SCOPES },
  }),
  'a key of every scope': async () => ({ authorization: await bearer(), scopes: SCOPES }),
  ...Object.fromEntries(
    SCOPES.map((scope) => [
      `the scope ${scope} alone`,
      async () => ({ authorization: await bearer({ scopes: [scope] }), scopes: [scope] }),
    ]),
  ),
}

/** null: the route answers for itself. */
function refusedBy({ scope }: RouteEntry, { refused, scopes = [] }: Credential): ProblemCode | null {
  if (scope === null) return null
  return refused ?? (scopes.includes(scope) ? null : 'scope_missing')
}

test.each(Object.keys(CREDENTIALS))('%s', async (name) => {
  const credential = (await CREDENTIALS[name]?.()) as Credential
  const { authorization, from } = credential
  for (const [route, entry] of Object.entries(ROUTES) as [string, RouteEntry][]) {
    const { method, path, body } = entry
    // Of nothing that is there: whoever is let in changes nothing either.
    const answer = await served.ask(method, path.replaceAll(/:\w+/g, '7'), {
      ...(body === 'json' && { body: {} }),
      headers: authorization === undefined ? {} : { authorization },
      ...(from !== undefined && { from }),
    })
    const refused = refusedBy(entry, credential)
    const said = [answer.statusCode, answer.said?.code]
    if (refused !== null) expect(said, route).toEqual([PROBLEMS[refused], refused])
    else {
      expect([401, 403], `${route} ${String(said)}`).not.toContain(answer.statusCode)
      expect(answer.statusCode, route).toBeLessThan(500)
    }
    expect(answer.headers['www-authenticate'] !== undefined, route).toBe(answer.statusCode === 401)
  }
})
