// Hosts that share a ledger and are not set up alike: another version of the program, another TRANCHE_POSTGRES_FAILOVER.

import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Failover } from '../../../src/ledger/postgres/copies/identity.ts'
import { makeTables } from '../../../src/ledger/postgres/make-tables.ts'
import { makeServerLedger } from '../../../src/ledger/postgres/open.ts'
import { SCHEMA_VERSION } from '../../../src/ledger/postgres/schema.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  headerOf,
  NOW,
  openAccount,
  refund,
  review,
  settle,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { newSchemaName, query, sharedCluster } from '../../fixtures/postgres.ts'
import { type PostgresPlace, postgresPlaceOn } from '../../fixtures/postgres-places.ts'

let place: PostgresPlace
let ledger: Ledger
let batchId: BatchId

beforeEach(async () => {
  place = await postgresPlaceOn((await sharedCluster()).url)
  onTestFinished(() => place.remove())
  ledger = place.open()
  batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
})

const upgrade = () =>
  query(
    place.address.url,
    `INSERT INTO ${place.address.schema}.migration (version) SELECT max(version) + 1 FROM ${place.address.schema}.migration`,
  )

async function answerToClaim(by: Ledger, reference: 'A' | 'B') {
  const row = (await dueIn(by, batchId)).find(({ instruction }) => instruction.reference === reference)
  return (await claim(by, row!)).kind
}

test('a worker of before an upgrade claims nothing after it, and settles what it had claimed', async () => {
  const row = await claimNamed(ledger, batchId, 'A')
  await upgrade()
  expect(await answerToClaim(ledger, 'B')).toBe('not-free')
  await settle(ledger, row, 'APPROVED')
  expect((await ledger.history('A')).map(({ to }) => to)).toEqual(['READY', 'SENDING', 'APPROVED'])
  await expect(statesIn(ledger, batchId)).rejects.toThrow('belongs to another version')
  await expect(ledger.renewEpoch()).rejects.toThrow('belongs to another version')
})

test('a submit that began before an upgrade records nothing after it', async () => {
  const { draft } = await review(ledger, headerOf(await openAccount(ledger), { fileSha256: 'bb'.repeat(32) }), [
    refund('C'),
  ])
  await upgrade()
  await expect(draft.record(CLERK)).rejects.toThrow('belongs to another version')
  await expect(ledger.resume(batchId, 'go', CLERK, NOW)).rejects.toThrow('belongs to another version')
})

test.each([1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])(
  'a ledger with tables of version %i is not made anew: it is refused by name and stays as it is',
  async (version) => {
    await ledger.close()
    const { url, schema } = place.address
    await query(url, `UPDATE ${schema}.migration SET version = ${version}`)
    const state = () => query(url, `SELECT schema_to_xml('${schema}', true, false, '')::text AS state`)
    const before = await state()
    const refused = {
      code: 'config',
      message: expect.stringMatching(
        `The ledger in schema ${schema} of database postgres belongs to another version .* have version ${version}, and this program needs version ${SCHEMA_VERSION}. Nothing in it was changed`,
      ),
    }
    await expect(makeServerLedger(place.address, 'none')).rejects.toMatchObject(refused)
    const session = await openSession(place.address)
    await expect(makeTables(session, schema)).rejects.toMatchObject(refused)
    await session.close()
    expect(await state()).toEqual(before)
  },
)

test('a ledger that several hosts make at the same moment is one, also where transactions see one moment alone by default', async () => {
  const { url } = await sharedCluster()
  const options = encodeURIComponent('-c default_transaction_isolation=repeatable\\ read')
  const address = { url: `${url}&options=${options}`, schema: newSchemaName() }
  const made = await Promise.all(Array.from({ length: 5 }, () => makeServerLedger(address, 'none')))
  expect(new Set(made.map(({ ledgerId }) => ledgerId)).size).toBe(1)
  expect(made.filter((one) => one.made)).toHaveLength(1)
})

test.each<[Failover, Failover]>([
  ['none', 'storage'],
  ['storage', 'none'],
])(
  'a host on which TRANCHE_POSTGRES_FAILOVER is not %s, as it is for the ledger, but %s sends nothing and says why',
  async (of, here) => {
    if (of === 'storage')
      await place.openAt(place.address.url, {}, 'a', { failover: of }).adopt('moved', 'another mode', CLERK, NOW)
    const [same, other] = [
      place.openAt(place.address.url, {}, 'b', { failover: of }),
      place.openAt(place.address.url, {}, 'c', { failover: here }),
    ]
    expect(await same.alarm()).toBe(null)
    expect(await other.alarm()).toMatchObject({ noticed: expect.stringContaining('TRANCHE_POSTGRES_FAILOVER is') })
    expect(await answerToClaim(other, 'A')).toBe('not-free')
    expect(await answerToClaim(same, 'A')).toBe('claimed')
    await Promise.all([same.close(), other.close()])
    const next = place.openAt(place.address.url, {}, 'c', { failover: here })
    await next.adopt('moved', 'every host has it now', CLERK, NOW)
    expect(await next.alarm()).toBe(null)
    expect(await answerToClaim(next, 'B')).toBe('claimed')
  },
)
