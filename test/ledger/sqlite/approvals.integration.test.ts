// Approvals against a record that was changed by other means, or put back.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { ApprovalPolicy } from '../../../src/domain/approval.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import {
  auditOf,
  CLERK,
  DAY_MS,
  dueIn,
  findingOn,
  NOW,
  personAt,
  refund,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

const FOUR_EYES: ApprovalPolicy = {
  rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
  expireAfterMs: 7 * DAY_MS,
  osUsers: true,
}
const ABOVE_25 = [
  { upTo: '25.00', approvals: 0 },
  { upTo: null, approvals: 1 },
]
const ANN = personAt('ann')

/** As a person would who can write to the file. */
function change(sql: string): void {
  const db = new DatabaseSync(sqlite.path)
  db.exec(sql)
  db.close()
}

async function waiting(): Promise<BatchId> {
  await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
  return submit(ledger, accountId, [refund('A'), refund('B', { executeAtMs: NOW + 10 * DAY_MS })])
}

async function approve(batchId: BatchId): Promise<void> {
  const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
  await ledger.approve({ batchId, digest, reason: 'seen', actor: ANN, nowMs: NOW + 1 })
}

test('rows whose amount was changed in the record are not approved', async () => {
  const batchId = await waiting()
  change("UPDATE instruction SET amount_minor = 999900 WHERE reference = 'A'")
  await expect(approve(batchId)).rejects.toThrow('not those that were submitted')
  expect(await dueIn(ledger, batchId)).toHaveLength(1)
  expect((await ledger.workable(NOW, 10)).length).toBe(0)
})

test('approvals that were written by other means are found', async () => {
  const batchId = await waiting()
  expect(await auditOf(ledger)).toEqual([])
  change('UPDATE batch SET approvals_given = 1')
  expect((await auditOf(ledger)).map(({ where }) => where)).toEqual([`approvals of batch ${batchId}`])
  change('UPDATE batch SET approvals_given = 0, approvals_needed = 0')
  expect((await auditOf(ledger)).map(({ where }) => where)).toEqual([`approvals of batch ${batchId}`])
})

test('an approval that nobody gave is found, and one that was given is not', async () => {
  const batchId = await waiting()
  await approve(batchId)
  expect(await auditOf(ledger)).toEqual([])
  change("UPDATE approval SET identity = 'os:bob'; UPDATE approval SET digest = 'other'")
  expect((await auditOf(ledger)).map(({ where }) => where)).toEqual([`approval of batch ${batchId} by os:bob`])
})

test('a proposal that nobody made is found, and one that was made is not', async () => {
  const batchId = await waiting()
  await approve(batchId)
  await work(ledger, batchId, 'A', 'IN_DOUBT')
  const again = findingOn('A', { finding: 'send-again', attempt: 1 })
  expect(await ledger.resolve(again, personAt('carl'), NOW + DAY_MS)).toMatchObject({ kind: 'proposed' })
  expect(await auditOf(ledger)).toEqual([])
  const db = new DatabaseSync(sqlite.path)
  const made = db.prepare('SELECT * FROM proposal').get() as Record<string, string | number>
  const names = Object.keys(made)
  const insert = db.prepare(`INSERT INTO proposal VALUES (${names.map((name) => `:${name}`).join(', ')})`)
  const plant = (over: Record<string, string | number>) => {
    db.exec('DELETE FROM proposal')
    insert.run({ ...made, ...over })
  }
  const where = async () => (await auditOf(ledger)).map((one) => one.where)
  const as = (by: string) => [`proposal of ${by} to send A (row 1 of batch ${batchId}) again`]
  for (const over of [{ attempt: 2 }, { at: NOW }, { actor_id: 1 }, { reason: 'not there' }, { batch_id: 'other' }]) {
    plant(over)
    expect(await where(), JSON.stringify(over)).toEqual(as('carl@desk'))
  }
  plant({ by: 'ann@desk' })
  expect(await where()).toEqual(as('ann@desk'))
  plant({})
  expect(await where()).toEqual([])
  const refusal = { batchId, rowNo: 1, proposedAtMs: NOW + DAY_MS, reason: 'it is there' }
  expect(await ledger.refuseProposal(refusal, ANN, NOW + DAY_MS)).toBe(true)
  plant({})
  db.close()
  expect(await where(), 'refused').toEqual(as('carl@desk'))
})

test('a row that one person had sent again through a planted proposal is found', async () => {
  const batchId = await waiting()
  await approve(batchId)
  await work(ledger, batchId, 'A', 'IN_DOUBT')
  change(`INSERT INTO proposal SELECT i.id, i.batch_id, i.attempt, 'os:x', (SELECT max(id) FROM actor), 'x', 'r', ${NOW + DAY_MS}
    FROM instruction i WHERE reference = 'A'`)
  const again = findingOn('A', { finding: 'send-again', attempt: 1 })
  expect(await ledger.resolve(again, personAt('carl'), NOW + DAY_MS + 1)).toMatchObject({ kind: 'resolved' })
  expect((await auditOf(ledger)).map(({ means }) => means)).toEqual([expect.stringContaining('carl@desk alone had it')])
})

test('what stays pending in an older state that is adopted needs its approval again', async () => {
  const batchId = await waiting()
  await approve(batchId)
  expect(await ledger.adopt('restored', 'backup of yesterday', CLERK, NOW + 2, NOW + DAY_MS)).toBe(1)
  expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 1, given: 0 })
  expect(await auditOf(ledger)).toEqual([])
})

test('a row in doubt that is sent again after its account moved waits for a new approval', async () => {
  await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
  const batchId = await submit(ledger, accountId, [refund('A')])
  await approve(batchId)
  await work(ledger, batchId, 'A', 'IN_DOUBT')
  await ledger.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, NOW)
  const later = NOW + DAY_MS
  for (const actor of [CLERK, ANN]) await ledger.resolve(findingOn('A', { finding: 'send-again' }), actor, later)
  expect(await statesIn(ledger, batchId)).toEqual(['READY'])
  expect(await ledger.workable(later, 10)).toEqual([])
  await approve(batchId)
  expect(await ledger.workable(later, 10)).toHaveLength(1)
})

test('sums of a submitter are compared where all together are more than 64 bits hold', async () => {
  await ledger.adoptPolicy(
    { ...FOUR_EYES, rules: [{ ...FOUR_EYES.rules[0]!, fourEyes: false, bands: { EUR: ABOVE_25 } }] },
    ...(['test', CLERK, NOW] as const),
  )
  for (const name of ['a', 'b', 'c']) await submit(ledger, accountId, [refund(name)], { fileSha256: name.repeat(64) })
  change('UPDATE tally SET amount_minor = 3900000000000000000')
  const batchId = await submit(ledger, accountId, [refund('d')], { fileSha256: 'd'.repeat(64) })
  expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 1 })
})
