// Rows beyond the first partitions: keys hold over all of them.

import { expect, test } from 'vitest'
import { claim, dueIn, factsWith, inAttempt, refund, settle, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const SIZE = 16_000_000

test('a batch lies across two partitions, and the next one is there before it is needed', async () => {
  const { url, schema } = postgres.address
  const first = await submit(ledger, accountId, [refund('A')])
  await work(ledger, first, 'A', 'APPROVED', { facts: factsWith('77') })
  await query(url, `SELECT setval('${schema}.instruction_id', ${2 * SIZE - 3})`)
  const rows = Array.from({ length: 6 }, (_, i) => refund(`R-${i}`))
  const batchId = await submit(ledger, accountId, rows, { fileSha256: 'b' })
  const found = await query<{ part: string; n: string }>(
    url,
    `SELECT tableoid::regclass::text AS part, count(*) AS n FROM ${schema}.instruction GROUP BY 1 ORDER BY 1`,
  )
  expect(found.map(({ part, n }) => [part.split('_').at(-1), n])).toEqual([
    ['0', '1'],
    ['1', '2'],
    ['2', '4'],
  ])
  const again = await submit(ledger, accountId, [refund('A'), refund('R-5')], { fileSha256: 'c' })
  expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'DUPLICATE'])
  const due = await dueIn(ledger, batchId)
  for (const row of due) expect((await claim(ledger, row)).kind).toBe('claimed')
  const facts = factsWith('077')
  expect(await settle(ledger, inAttempt(due.at(-1)!, 1), 'APPROVED', { facts })).toMatchObject({
    state: 'IN_DOUBT',
  })
  await query(url, `SELECT setval('${schema}.instruction_id', ${3 * SIZE - 3})`)
  await submit(ledger, accountId, [refund('Z')], { fileSha256: 'd' })
  const parts = await query<{ part: string }>(
    url,
    `SELECT c.relname AS part FROM pg_class c WHERE c.relname = 'instruction_3' AND c.relnamespace = '${schema}'::regnamespace`,
  )
  expect(parts).toHaveLength(1)
})
