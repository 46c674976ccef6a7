// Whatever has become of the rows in a real ledger, the summary on disk adds up to the rows that were read.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DraftRow } from '../../src/domain/draft.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Currency, formatAmount } from '../../src/domain/money.ts'
import type { WrittenResults } from '../../src/domain/written-results.ts'
import { writeResults } from '../../src/results/write.ts'
import {
  CLERK,
  claim,
  dueIn,
  EUR,
  faultyRow,
  inAttempt,
  NOW,
  refund,
  rowOf,
  sale,
  settle,
  submit,
} from '../fixtures/ledgers.ts'
import { accountId, ledger, useSqliteLedger } from '../fixtures/use-ledger.ts'

const JPY = 'JPY' as Currency

let dir: string
useSqliteLedger()
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-ties-'))
})
afterEach(() => rm(dir, { recursive: true }))

const ENDS = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'claimed', 'waits'] as const

interface Row {
  readonly kind: 'refund' | 'sale' | 'cancel' | 'bad' | 'bad-with-amount' | 'again'
  readonly amountMinor: bigint
  readonly currency: Currency
  /** What becomes of it if it is sent. */
  readonly end: (typeof ENDS)[number]
}

const row: fc.Arbitrary<Row> = fc.record({
  kind: fc.constantFrom('refund', 'sale', 'cancel', 'bad', 'bad-with-amount', 'again'),
  amountMinor: fc.bigInt({ min: 1n, max: 999_999n }),
  currency: fc.constantFrom(EUR, JPY),
  end: fc.constantFrom(...ENDS),
})

function toDraftRow({ kind, amountMinor, currency }: Row, rowNo: number, file: number): DraftRow {
  const reference = `F${file}-${rowNo}`
  const money = { amountMinor, currency }
  switch (kind) {
    case 'sale':
      return rowOf(rowNo, sale(reference, String(rowNo), { money }))
    case 'cancel':
      return rowOf(rowNo, refund(reference, { operation: 'CANCEL', money: null }))
    case 'bad':
      return faultyRow(rowNo, reference)
    case 'bad-with-amount':
      return { ...faultyRow(rowNo, reference), money }
    case 'again':
      return rowOf(rowNo, refund('first', { money: { amountMinor: 5n, currency: EUR } }))
    case 'refund':
      return rowOf(rowNo, refund(reference, { money }))
  }
}

async function workOff(batchId: BatchId, rows: readonly Row[]): Promise<void> {
  for (const due of await dueIn(ledger, batchId)) {
    const end = rows[due.rowNo - 1]?.end ?? 'waits'
    if (end === 'waits') continue
    const answer = await claim(ledger, due)
    if (answer.kind !== 'claimed') return // ten doubts have paused it
    if (end !== 'claimed') await settle(ledger, inAttempt(due, answer.attempt), end)
  }
}

async function write(batchId: BatchId): Promise<WrittenResults> {
  const reading = await ledger.openReading(batchId, NOW)
  try {
    const out = join(dir, `${batchId}.csv`)
    return await writeResults(reading, { out, inputPath: null, bom: false, sinceMs: null, reasonRules: [] })
  } finally {
    await reading.close()
  }
}

test('the summary adds up to the rows read, for every operation and currency', async () => {
  await submit(ledger, accountId, [refund('first', { money: { amountMinor: 5n, currency: EUR } })])
  let files = 0
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), fc.boolean(), async (rows, cancels) => {
      const file = ++files
      const drafted = rows.map((one, i) => toDraftRow(one, i + 1, file))
      const batchId = await submit(ledger, accountId, drafted, { fileSha256: String(file).padStart(64, '0') })
      await workOff(batchId, rows)
      if (cancels) await ledger.cancel(batchId, 'enough', CLERK, NOW)

      const written = await write(batchId)
      const records: Record<string, string>[] = parse(await readFile(written.summaryPath), { columns: true })
      const total = records.at(-1)
      const lines = records.slice(0, -1)
      expect(total).toMatchObject({ operation: 'TOTAL', count: String(rows.length), batch_count: String(rows.length) })
      expect(records.map((record) => record.ties_out)).toEqual(records.map(() => 'yes'))
      for (const currency of [EUR, JPY]) {
        const minor = drafted.map(({ instruction, money = null }) => {
          const asked = instruction?.money ?? (money === 'unread' ? null : money)
          return asked?.currency === currency ? asked.amountMinor : 0n
        })
        const of = lines.filter((line) => line.currency === currency)
        const sum = of.reduce((all, line) => all + BigInt((line.requested_amount as string).replace('.', '')), 0n)
        const asked = minor.reduce((all, one) => all + one, 0n)
        expect(formatAmount({ amountMinor: sum, currency })).toBe(formatAmount({ amountMinor: asked, currency }))
      }
    }),
    { numRuns: 40 },
  )
})
