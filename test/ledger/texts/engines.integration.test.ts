// One text for two engines: over the same rows SQLite and PostgreSQL find the same.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { AccountId } from '../../../src/domain/ids.ts'
import { type Instruction, OPERATIONS } from '../../../src/domain/instruction.ts'
import { type Currency, parseCurrency } from '../../../src/domain/money.ts'
import { STATES } from '../../../src/domain/states.ts'
import { causes, faultsAfter, rejectsAfter } from '../../../src/ledger/texts/review/faults.ts'
import { lookalikesAfter } from '../../../src/ledger/texts/review/found-lookalikes.ts'
import { likeRowOf } from '../../../src/ledger/texts/review/lookalikes.ts'
import { orderVerdictOn } from '../../../src/ledger/texts/review/order-book.ts'
import { review } from '../../../src/ledger/texts/review/review.ts'
import { holdsStill } from '../../../src/ledger/texts/review/since-review.ts'
import { xtlTaken } from '../../../src/ledger/texts/review/xtl-order-ids.ts'
import type { Script } from '../../../src/ledger/texts/script.ts'
import { DAY_MS, EUR, NOW, refund, sale } from '../../fixtures/ledgers.ts'
import { Random } from '../../simulation/random.ts'
import {
  drafted,
  from,
  headed,
  inDraft,
  OF_OTHER,
  OPEN,
  OPEN_TOO,
  PLACES,
  recorded,
  SHOP,
  unread,
  wrong,
} from './drafts.ts'
import { type Engines, openEngines, type Row, type Rows } from './engines.ts'

const USD = parseCurrency('USD') as Currency
const MOST_AMOUNT = 999_999_999_999_999n
/** An account without batches. */
const NEWCOMER = 3 as AccountId

let engines: Engines
beforeAll(async () => {
  engines = await openEngines()
})
afterAll(() => engines.close())

/** Runs it on both, wants one answer, and gives it. */
async function same(script: Parameters<Engines['run']>[0]): Promise<unknown> {
  const { sqlite, postgres } = await engines.run(script)
  expect(postgres).toEqual(sqlite)
  return sqlite
}

async function reviewed(rows: Rows, header: DraftHeader): Promise<unknown> {
  await engines.refill({ ...PLACES, ...rows })
  const found = await same(() => review(header, []))
  const { sqlite, postgres } = await engines.draft()
  expect(postgres).toEqual(sqlite)
  for (const most of [500, 2]) {
    await same(() => faultTexts(most))
    await same(() => rejectsAfter(0, most))
    await same(() => lookalikesAfter(2, most))
  }
  await same(() => causes(20))
  return found
}

/** An engine gives ids as it likes, as long as those of one row grow. */
function* faultTexts(most: number): Script<unknown> {
  return (yield* faultsAfter(null, most)).map(({ id: _, ...fault }) => fault)
}

const order = (reference: string, orderId: string, amountMinor = 1_000n, over: Partial<Instruction> = {}) =>
  refund(reference, { orderId, amountMinor, ...over })
const sold = (rowNo: number, orderId: string, amountMinor: bigint, over: Row = {}) =>
  recorded(rowNo, order(`S${rowNo}`, '1', amountMinor, { operation: 'CAPTURE' }), {
    ...{ order_key: null, answered_order_id: orderId },
    ...over,
  })
const xtl = (reference: string, xtlOrderId: string, over: Partial<Instruction> = {}) =>
  refund(reference, { xtlOrderId, ...over })
const dollars = (reference: string, orderId: string, amountMinor = 1_000n) =>
  order(reference, orderId, amountMinor, { money: { amountMinor, currency: USD } })

const made = (hash: string, rowNo: number) => `${hash.repeat(16)}-${rowNo}`

const FED_BACK: Partial<DraftHeader> = { fedBack: true }
const again = (...retry: DraftHeader['retry']): Partial<DraftHeader> => ({ fedBack: true, retry })

const REATTEMPT: NonNullable<DraftHeader['reattempt']> = {
  categories: ['funds', 'other'],
  reasonRules: [],
  xtlOrderIdOf: (reference) => `T${reference.replaceAll(/\W/g, 'x')}`,
}
const declined = (rowNo: number, name: string, over: Row = {}) =>
  recorded(rowNo, sale(name, `4${rowNo}`), {
    state: 'DECLINED',
    reason: 'Insufficient funds',
    completed_at: NOW,
    ...over,
  })

interface Case {
  readonly of: string
  readonly record?: readonly Row[]
  readonly draft: readonly Row[]
  readonly faults?: readonly Row[]
  readonly acts?: readonly Row[]
  readonly header?: Partial<DraftHeader>
  /** Of the review, or the words with which it refuses. */
  readonly finds: object | string
}

const CASES: readonly Case[] = [
  { of: 'a first file', draft: [drafted(1, 'A'), drafted(2, 'B')], finds: { accepted: 2, lookalikes: 0 } },
  { of: 'no row at all', draft: [], finds: { rows: 0, totals: [], extents: [] } },
  {
    of: 'a repeated reference',
    draft: [drafted(1, 'A'), drafted(2, 'B'), drafted(3, 'A'), drafted(4, 'A')],
    finds: { accepted: 1, invalid: 3, faults: 3 },
  },
  {
    of: 'duplicates, also of what failed',
    record: [recorded(1, 'A'), recorded(2, 'B', { state: 'FAILED' }), recorded(3, 'C', { state: 'IN_DOUBT' })],
    draft: [drafted(1, 'A'), drafted(2, 'B'), drafted(3, 'C'), drafted(4, 'D')],
    finds: { accepted: 1, duplicate: 3, again: { retried: [] } },
  },
  {
    of: 'a corrected file: moved, doubled, changed and new rows',
    record: ['71', '72', '73', '74'].map((orderId, i) =>
      recorded(i + 1, order(made('a', i + 1), orderId), i === 3 ? { state: 'DECLINED' } : {}),
    ),
    draft: ['72', '71', '74', '72', '73', '75'].map((orderId, i) =>
      drafted(i + 1, order(made('b', i + 1), orderId, i === 4 ? 900n : 1_000n)),
    ),
    header: { onlyNew: true },
    finds: { accepted: 3, duplicate: 3, lookalikes: 2, correction: { rows: 3, batches: [{ batchId: OPEN, rows: 3 }] } },
  },
  {
    of: 'a corrected file that is not said to be one',
    record: [1, 2].map((n) => recorded(n, order(made('a', n), `7${n}`))),
    draft: [1, 2, 3].map((n) => drafted(n, order(made('b', n), `7${n}`))),
    finds: { accepted: 1, duplicate: 2, correction: { rows: 2 } },
  },
  {
    of: 'a file in which every amount changed, of which some rows were paid and some failed',
    record: [1, 2, 3, 4].map((n) =>
      recorded(n, sale(made('a', n), `4${n}`), n > 2 ? { state: 'FAILED', completed_at: NOW } : {}),
    ),
    draft: [1, 2, 3, 5, 6].map((n) =>
      drafted(n, sale(made('b', n), `4${n}`, { money: { amountMinor: 7n, currency: EUR } })),
    ),
    finds: { accepted: 5, lookalikes: 2, correction: null },
  },
  {
    of: 'rows that run again, which other rows paid for long ago: the same and with another amount',
    record: [
      ...[1, 2, 3].map((n) => recorded(n, sale(made('a', n), `4${n}`), { state: 'FAILED', completed_at: NOW })),
      recorded(4, sale('own', '41'), { sent_at: NOW - 90 * DAY_MS }),
      recorded(5, sale(made('b', 1), '42', { money: { amountMinor: 7n, currency: EUR } }), {
        ...{ batch_id: OPEN_TOO, sent_at: NOW - 90 * DAY_MS },
      }),
    ],
    draft: [1, 2, 3].map((n) => drafted(n, sale(made('a', n), `4${n}`), from(n))),
    header: again('FAILED'),
    finds: { accepted: 3, lookalikes: 2 },
  },
  {
    of: 'rows like those that had ended when an older state was put back',
    record: (['FAILED', 'DECLINED', 'APPROVED', 'FAILED'] as const).map((state, i) =>
      recorded(i + 1, sale(`A${i}`, `4${i}`), { state, ...(i === 3 ? { completed_at: NOW } : {}) }),
    ),
    draft: [0, 1, 2, 3].map((n) => drafted(n + 1, sale(`B${n}`, `4${n}`))),
    acts: [{ at: NOW - DAY_MS, by: 'clerk', what: 'adopt', reason: '--restored: by hand' }],
    finds: { accepted: 4, lookalikes: 3 },
  },
  ...([0, 1] as const).map(
    (known): Case => ({
      of: `a corrected file of long ago, of which ${known === 1 ? 'one date and one amount' : 'every date'} changed`,
      record: [1, 2, 3].map((n) => recorded(n, sale(made('a', n), `7${n}`), { sent_at: NOW - 40 * DAY_MS })),
      draft: [1, 2, 3].map((n) => {
        const money = { amountMinor: known === 1 && n === 2 ? 7n : 1_000n, currency: EUR }
        return drafted(n, sale(made('b', n), `7${n}`, { money, executeAtMs: n <= known ? null : NOW }))
      }),
      header: { onlyNew: true },
      finds: { accepted: 3 - known, duplicate: known, lookalikes: 3 - known },
    }),
  ),
  {
    of: 'declined charges: one for the first time, one whose second attempt was declined, one with another card',
    record: [
      ...[declined(1, 'A'), declined(2, 'B'), declined(3, 'B~2', { reattempt_of: 'B' })],
      ...[declined(4, 'C', { reason: 'Stolen card' }), declined(5, 'D', { reason: 'Stolen card' })],
    ],
    draft: [
      drafted(1, sale('A', '41')),
      drafted(2, sale('B', '43')),
      drafted(3, sale('C', '99')),
      drafted(4, sale('D', '45')),
    ],
    header: { reattempt: REATTEMPT },
    finds: { accepted: 3, duplicate: 1, again: { notAsked: [{ why: 'fraud', count: 1 }] } },
  },
  {
    of: 'a corrected file of rows that were cancelled unsent, and of some that may have been sent',
    record: [1, 2, 3, 4, 5].map((n) =>
      recorded(n, order(made('a', n), `7${n}`), {
        ...{ state: n === 5 ? 'APPROVED' : 'CANCELLED', ever_in_doubt: n === 2 ? 1 : 0, attempt: n },
        ...{ money_warning: n === 3 ? 1 : 0, warning: n === 3 ? 'late' : null },
      }),
    ),
    draft: [
      ...[1, 2, 3].map((n) => drafted(n, order(made('b', n), `7${n}`))),
      ...[drafted(4, order('own', '74')), drafted(5, order(made('b', 5), '75'))],
    ],
    header: { onlyNew: true },
    finds: { accepted: 2, duplicate: 3, correction: { rows: 3 }, cancelledBefore: [{ batchId: OPEN, rows: 2 }] },
  },
  {
    of: 'rows that were cancelled unsent when an older state was put back',
    record: [1, 2].map((n) => recorded(n, order(made('a', n), `7${n}`), { state: 'CANCELLED' })),
    draft: [drafted(1, order(made('b', 1), '71')), drafted(2, order('own', '72'))],
    acts: [{ at: NOW, by: 'clerk', what: 'adopt', reason: '--restored: by hand' }],
    finds: { accepted: 2, lookalikes: 2, cancelledBefore: [{ batchId: OPEN, rows: 2 }] },
  },
  {
    of: 'a roster of which a card was replaced and two subscribers have one card',
    record: [1, 2].map((n) => recorded(n, sale(`k/s${n}`, `4${n}`), { run_key: 'k' })),
    draft: [
      drafted(1, sale('k/s1', '41'), { run_key: 'k' }),
      drafted(2, sale('k/s2', '99'), { run_key: 'k' }),
      drafted(3, sale('k/s3', '41'), { run_key: 'k' }),
      drafted(4, sale('k/s4', '42'), { run_key: 'k' }),
    ],
    header: { onlyNew: true, runKey: 'k' },
    finds: { accepted: 2, duplicate: 2, lookalikes: 2, again: { changed: 1 } },
  },
  {
    of: 'what another submit has not finished',
    record: [recorded(1, 'A', inDraft)],
    draft: [drafted(1, 'A')],
    finds: { accepted: 1, duplicate: 0 },
  },
  {
    of: 'what another account recorded',
    record: [recorded(1, 'A', { batch_id: OF_OTHER })],
    draft: [drafted(1, 'A')],
    finds: { accepted: 1 },
  },
  {
    of: 'other content',
    record: [recorded(1, order('A', '7')), recorded(2, 'B'), recorded(3, 'C')],
    draft: [
      drafted(1, order('A', '8', 2_000n, { executeAtMs: NOW })),
      drafted(2, dollars('B', '9')),
      drafted(3, refund('C', { operation: 'CAPTURE', vaultId: '77' })),
    ],
    finds: { invalid: 3, faults: 3 },
  },
  {
    of: 'bad rows with faults of their own, many with one cause',
    draft: Array.from({ length: 9 }, (_, i) => unread(i + 1, `U${i}`)),
    faults: [
      ...Array.from({ length: 9 }, (_, i) => wrong(i + 1, { value: i < 8 ? 'ten' : null })),
      wrong(3, { column_name: null, value: null, problem: 'is like another (row 7 of batch x)' }),
      ...Array.from({ length: 6 }, (_, i) => wrong(i + 2, { column_name: 'order_id', problem: `taken (line ${i})` })),
    ],
    finds: { invalid: 9, faults: 16 },
  },
  {
    of: 'amounts of bad rows',
    draft: [drafted(1, 'A'), unread(2, 'B', { amount_minor: 500, currency: 'EUR' }), unread(3, 'C')],
    faults: [wrong(2), wrong(3)],
    finds: {
      totalsRead: [
        { operation: '', count: 1, amountMinor: 500n },
        { operation: 'REFUND', count: 1 },
      ],
    },
  },
  {
    of: 'more than can be counted',
    draft: [drafted(1, 'A', { amount_minor: 4_000_000_000_000_000_000n }), drafted(2, 'B')],
    finds: 'more than can be counted',
  },
  {
    of: 'extents of several currencies',
    draft: [
      drafted(1, order('A', '1', 5n)),
      drafted(2, order('B', '2', 9n)),
      drafted(3, dollars('C', '3')),
      drafted(4, order('D', '4', 5n)),
    ],
    finds: { extents: [{ smallest: { line: 2 }, largest: { line: 3 } }, { smallest: { line: 4 } }] },
  },
  {
    of: 'look-alikes in the file',
    draft: [drafted(1, order('A', '007')), drafted(2, order('B', '7')), drafted(3, order('C', '7'))],
    finds: { lookalikes: 2 },
  },
  ...[
    ['that waits, however old', { state: 'READY', sent_at: null, completed_at: null }, 1],
    ['in doubt, however old', { state: 'IN_DOUBT', sent_at: NOW - 90 * DAY_MS }, 1],
    ['within 30 days', { sent_at: NOW - 30 * DAY_MS }, 1],
    ['after 30 days', { sent_at: NOW - 30 * DAY_MS - 1 }, 0],
    ['that was claimed and never seen leaving', { sent_at: null, claimed_at: NOW - DAY_MS, completed_at: 0 }, 1],
    ['of which the batch alone has a time', { sent_at: null, completed_at: null }, 1],
    ['that was declined', { state: 'DECLINED' }, 0],
    ['that was declined and answered APPROVED after all', { state: 'DECLINED', money_warning: 1, warning: 'late' }, 1],
    ['that was sent twice and ended by a person', { state: 'FAILED', ever_in_doubt: 1, attempt: 2 }, 1],
    ['that was in doubt once and sent once', { state: 'FAILED', ever_in_doubt: 1, attempt: 1 }, 0],
    ['of another run within its days', { run_key: '2026-03', sent_at: NOW - 20 * DAY_MS }, 1],
    ['of another run after its days', { run_key: '2026-03', sent_at: NOW - 20 * DAY_MS - 1 }, 0],
    ['of the same run', { run_key: '2026-05', sent_at: NOW - 25 * DAY_MS }, 1],
    [
      'in doubt of another run, after its days',
      { run_key: '2026-03', state: 'IN_DOUBT', sent_at: NOW - 21 * DAY_MS },
      0,
    ],
    ['that waits in another run', { run_key: '2026-03', state: 'SENDING', sent_at: NOW - 90 * DAY_MS }, 1],
  ].map(
    ([what, over, lookalikes]): Case => ({
      of: `a recorded look-alike ${what}`,
      record: [recorded(1, sale('A', '7'), over as Row)],
      draft: [drafted(1, sale('B', '7'), { run_key: '2026-05' })],
      finds: { accepted: 1, lookalikes },
    }),
  ),
  {
    of: 'an order in doubt',
    record: [recorded(1, order('A', '7', 300n), { state: 'IN_DOUBT' })],
    draft: [drafted(1, order('B', '7')), drafted(2, 'C')],
    finds: { heldByDoubt: 1 },
  },
  {
    of: 'refunds within a sale and beyond it',
    record: [sold(1, '007', 2_000n), sold(2, '8', 500n), recorded(3, order('R', '7', 300n), { state: 'IN_DOUBT' })],
    draft: [
      drafted(1, order('A', '7', 1_600n)),
      drafted(2, order('B', '7', 200n)),
      drafted(3, dollars('C', '8', 100n)),
    ],
    finds: { accepted: 1, invalid: 2 },
  },
  {
    of: 'refunds of a sale that an answer made uncertain',
    record: [sold(1, '7', 500n, { money_warning: 1, warning: 'answered 400' })],
    draft: [drafted(1, order('A', '7')), drafted(2, order('B', '7', 1_500n))],
    finds: { accepted: 2, lookalikes: 2 },
  },
  {
    of: 'refunds of a capture of its order',
    record: [recorded(1, order('S', '7', 500n, { operation: 'CAUTH' }), { answered_order_id: null })],
    draft: [drafted(1, order('A', '7'))],
    finds: { invalid: 1 },
  },
  {
    of: 'refunds of an order without a sale that exceed those before',
    record: [
      recorded(1, order('R', '7', 300n)),
      recorded(2, dollars('Q', '8', 300n)),
      recorded(3, order('P', '8', 1n)),
    ],
    draft: [
      ...[drafted(1, order('A', '7', 299n)), drafted(2, order('B', '7', 600n)), drafted(3, order('C', '8', 1n))],
      ...[drafted(4, order('D', '9', 5n)), drafted(5, dollars('E', '9', 2n)), drafted(6, order('F', '9', 1n))],
    ],
    finds: { accepted: 6, lookalikes: 4 },
  },
  {
    of: 'an order that adds up to more than 64 bits',
    record: [1, 2].map((rowNo) =>
      recorded(rowNo, order(`R${rowNo}`, '7'), { amount_minor: 9_000_000_000_000_000_000n }),
    ),
    draft: [drafted(1, order('A', '7', MOST_AMOUNT)), drafted(2, dollars('B', '7', 5n))],
    finds: { accepted: 2, lookalikes: 1 },
  },
  {
    of: 'sales that add up to more than a double has exactly',
    record: Array.from({ length: 10 }, (_, i) => sold(i + 1, '7', MOST_AMOUNT)),
    draft: [drafted(1, order('A', '7', 5n))],
    finds: { accepted: 1 },
  },
  {
    of: 'an xtl_order_id in several rows',
    draft: [
      ...[drafted(1, xtl('A', 'x1')), drafted(2, xtl('B', '00x1')), drafted(3, xtl('C', 'x1', { operation: 'AUTH' }))],
      ...[drafted(4, xtl('D', '5')), drafted(5, xtl('E', '05')), drafted(6, xtl('F', '005'))],
    ],
    finds: { accepted: 1, invalid: 5 },
  },
  {
    of: 'an xtl_order_id that is taken, and one of a sale that is settled long ago',
    record: [
      recorded(1, xtl('A', '0x1')),
      recorded(2, xtl('B', 'x2'), { order_key: null, sent_at: NOW - 31 * DAY_MS }),
    ],
    draft: [drafted(1, xtl('C', 'x1')), drafted(2, xtl('D', 'x2')), drafted(3, xtl('E', 'x1', { operation: 'AUTH' }))],
    finds: { accepted: 1, invalid: 2 },
  },
  {
    of: 'what may run again',
    record: [
      recorded(1, 'A', { state: 'FAILED', attempt: 3, ever_in_doubt: 1 }),
      recorded(2, 'B', { state: 'CANCELLED' }),
      recorded(3, 'C', { state: 'DECLINED' }),
      recorded(4, 'D', { state: 'FAILED', money_warning: 1, warning: 'it was answered APPROVED' }),
      recorded(5, 'D', { state: 'FAILED', money_warning: 1, warning: 'and once more', holds_reference: 0 }),
    ],
    draft: ['A', 'B', 'C', 'D'].map((reference, i) => drafted(i + 1, reference, from(i + 1))),
    header: again('FAILED'),
    finds: { accepted: 1, duplicate: 2, invalid: 1, faults: 2, again: { retried: [{ state: 'FAILED', count: 1 }] } },
  },
  ...([[], ['CANCELLED'], ['FAILED', 'CANCELLED', 'INVALID']] as const).map(
    (retry): Case => ({
      of: `what is asked to run again: ${retry.join(' and ') || 'nothing'}`,
      record: [
        ...[recorded(1, 'A', { state: 'FAILED', run_key: '2026-04' }), recorded(2, 'B', { state: 'CANCELLED' })],
        ...[recorded(3, 'C', { state: 'INVALID' }), recorded(4, 'D')],
      ],
      draft: ['A', 'B', 'C', 'D'].map((reference, i) => drafted(i + 1, reference, from(i + 1))),
      header: again(...retry),
      finds: { accepted: retry.length, duplicate: 4 - retry.length },
    }),
  ),
  {
    of: 'duplicates of a corrected file: their lines are those of the rows that they repeat, two of one row among them',
    record: [
      ...[recorded(1, order(made('a', 1), '71')), recorded(2, order(made('a', 2), '72'), { state: 'FAILED' })],
      ...[recorded(3, order(made('a', 3), '73'), { state: 'FAILED' }), recorded(4, 'D', { state: 'INVALID' })],
      ...[1, 2, 3].map((n) =>
        recorded(n, order(made('b', n), `7${n}`), { batch_id: OPEN_TOO, state: 'DUPLICATE', duplicate_of: n }),
      ),
      recorded(4, 'D', { batch_id: OPEN_TOO, state: 'DUPLICATE', duplicate_of: 4 }),
      recorded(5, sale('E', '5'), { batch_id: OPEN_TOO, state: 'DUPLICATE', duplicate_of: 1, reason: 'vault id' }),
    ],
    draft: [
      ...[1, 2, 3].map((n) => drafted(n, order(made('b', n), `7${n}`), from(n, OPEN_TOO))),
      ...[drafted(4, 'D', from(4, OPEN_TOO)), drafted(5, sale('E', '5'), from(5, OPEN_TOO))],
      drafted(6, order(made('a', 3), '73'), from(3)),
    ],
    header: again('FAILED'),
    finds: { accepted: 1, duplicate: 3, invalid: 2, again: { retried: [{ state: 'FAILED', count: 1 }], changed: 1 } },
  },
  {
    of: 'lost zeros, and letters that are no zeros',
    record: [recorded(1, '000123'), recorded(2, '00A7'), recorded(3, '', { reference: '0' })],
    draft: [
      drafted(1, '123', { ...from(1), content: recorded(1, '000123').content as string }),
      ...[drafted(2, 'A7', from(2)), drafted(3, '00', from(3))],
    ],
    header: FED_BACK,
    finds: { duplicate: 1, invalid: 2 },
  },
  {
    of: 'lines whose columns disagree, or that name no row',
    record: [recorded(1, 'A'), recorded(2, 'B')],
    draft: [
      drafted(1, 'B', from(1)),
      drafted(2, 'A', from(2)),
      drafted(3, 'C', from(9)),
      drafted(4, 'E', from(1, OPEN_TOO)),
    ],
    header: FED_BACK,
    finds: { invalid: 4, faults: 4 },
  },
  {
    of: 'lines that cannot be read any more',
    record: [recorded(1, 'A'), recorded(2, 'B', { state: 'FAILED' }), recorded(3, 'C')],
    draft: [unread(1, 'A', from(1)), unread(2, 'B', from(2)), unread(3, 'C', from(3)), unread(4, 'D', from(7))],
    faults: [wrong(1), wrong(2), wrong(3, { column_name: 'Reference' }), wrong(4)],
    header: again('FAILED'),
    finds: { duplicate: 1, invalid: 3, unidentified: 1 },
  },
  {
    of: 'rows that stood under a reference that was made up',
    record: [
      recorded(1, '0a1b2c3d4e5f6a7b-1-unread', { state: 'INVALID', made: 1 }),
      recorded(2, 'Z-2-unread', { state: 'INVALID' }),
      recorded(3, 'a-b-unread', { state: 'INVALID' }),
      recorded(4, '2026-04/f-12-unread', { state: 'INVALID', made: 1 }),
      recorded(5, 'f-12-unreadable', { state: 'INVALID', made: 1 }),
      recorded(6, '0a1b2c3d4e5f6a7b-6-unread', { state: 'INVALID', made: 0 }),
    ],
    draft: [
      ...['0a1b2c3d4e5f6a7b-1-unread', 'Z-2-unread', 'a-b-unread'],
      ...['2026-04/f-12-unread', 'f-12-unreadable', '0a1b2c3d4e5f6a7b-6-unread'],
    ].map((reference, i) => drafted(i + 1, reference, { ...from(i + 1), made: 0 })),
    header: again('INVALID'),
    finds: { accepted: 4, invalid: 2 },
  },
  {
    of: 'lines that are no results',
    record: [recorded(1, 'A')],
    draft: [drafted(1, 'A', from(1)), drafted(2, 'new', { came_batch: null, came_row: null })],
    header: FED_BACK,
    finds: { duplicate: 1, invalid: 1 },
  },
  {
    of: 'lines of a batch that is not known',
    draft: [drafted(1, 'A', from(1, '250101-zzzzz'))],
    header: FED_BACK,
    finds: 'Line 2 comes from batch 250101-zzzzz, which this ledger does not know',
  },
  {
    of: 'lines of another merchant',
    record: [recorded(1, 'A', { batch_id: OF_OTHER })],
    draft: [drafted(1, 'A', from(1, OF_OTHER))],
    header: FED_BACK,
    finds: 'which is of merchant m2',
  },
  {
    of: 'rows that had ended when an older state was put back',
    record: [
      recorded(1, 'A', { state: 'FAILED' }),
      recorded(2, 'B', { state: 'FAILED', completed_at: NOW }),
      recorded(3, 'C', { state: 'INVALID', completed_at: null }),
    ],
    draft: ['A', 'B', 'C'].map((reference, i) => drafted(i + 1, reference, from(i + 1))),
    acts: [
      { at: NOW - DAY_MS, by: 'clerk', what: 'adopt', reason: '--restored: by hand' },
      { at: NOW, by: 'clerk', what: 'adopt', reason: 'moved' },
    ],
    header: again('FAILED', 'INVALID'),
    finds: { accepted: 3, lookalikes: 2 },
  },
]

test.each(CASES)('$of', async ({ record = [], draft, faults = [], acts = [], header, finds }) => {
  const rows = { instruction: record, draft_row: draft, draft_fault: faults, act: acts }
  const found = await reviewed(rows, headed(header))
  expect(found).toMatchObject(typeof finds === 'string' ? { thrown: expect.stringContaining(finds) } : { found: finds })
})

const upTo = (row: number) => ({ row, move: 1, act: 1 })
const moved = (id: number, rowId: number, from_state: string, to_state: string): Row => ({
  ...{ id, row_id: rowId, attempt: 1, from_state, to_state, cause: 'resolve', at: NOW, by: 'clerk' },
})

const SINCE: readonly (readonly [string, readonly Row[], boolean])[] = [
  ['nothing', [], true],
  ['another instruction', [recorded(50, 'N')], true],
  ['one that looks like a row', [recorded(50, order('N', '7'), { state: 'READY' })], false],
  [
    'one that looked like a row and was declined',
    [recorded(50, order('N', '7', 1_000n, { operation: 'CAUTH' }), { state: 'DECLINED' })],
    true,
  ],
  ['one with an xtl_order_id of a row', [recorded(50, xtl('N', '0x9'), { state: 'READY' })], false],
  ['a refund that leaves enough of the sale', [recorded(50, order('N', '7', 500n))], true],
  ['a refund that leaves too little of the sale', [recorded(50, order('N', '7', 501n))], false],
  ['a refund of an order without a sale, which it exceeds', [recorded(50, order('N', '8', 100n))], false],
  ['a refund of another account', [recorded(50, order('N', '7', 501n), { batch_id: OF_OTHER })], true],
]

test.each(SINCE)('came after the review: %s', async (_, newcomers, holds) => {
  const record = [sold(1, '7', 1_500n), recorded(2, 'F', { state: 'FAILED' })]
  const draft = [
    ...[drafted(1, order('A', '7')), drafted(2, order('B', '8', 400n)), drafted(3, xtl('C', 'x9'))],
    drafted(4, 'F', from(2)),
  ]
  const header = headed({ retry: ['FAILED'] })
  expect(await reviewed({ instruction: record, draft_row: draft }, header)).toMatchObject({ found: { accepted: 4 } })
  await engines.add({ instruction: newcomers })
  expect(await same(() => holdsStill(header, { seen: upTo(2), batchId: OPEN_TOO }))).toEqual({ found: holds })
  const { sqlite, postgres } = await engines.draft()
  expect(postgres).toEqual(sqlite)
})

/** By the id of the row, its state now. */
const MOVED: readonly (readonly [string, Rows, boolean])[] = [
  ['a row like one of the file was found to be approved', { move: [moved(2, 1, 'FAILED', 'APPROVED')] }, false],
  ['nothing, though it was found so before', { move: [moved(1, 1, 'FAILED', 'APPROVED')] }, true],
  ['a row like one of the file was sent', { move: [moved(2, 1, 'READY', 'SENDING')] }, true],
  ['a doubt about one is to be sent again', { move: [moved(2, 1, 'IN_DOUBT', 'READY')] }, false],
  ['the doubt about one was resolved', { move: [moved(2, 1, 'IN_DOUBT', 'APPROVED')] }, true],
  [
    'a row of which the amount changed was found to be approved',
    { move: [moved(2, 3, 'DECLINED', 'APPROVED')] },
    false,
  ],
  ['a row that is in the file was found to be approved', { move: [moved(2, 4, 'FAILED', 'APPROVED')] }, true],
  ['another row was found to be approved', { move: [moved(2, 5, 'FAILED', 'APPROVED')] }, true],
  [
    'a late answer for a row like one of the file',
    { act: [{ id: 2, at: NOW, by: '', what: 'late-answer', batch_id: OPEN_TOO }] },
    false,
  ],
  [
    'a late answer for a row of another batch',
    { act: [{ id: 2, at: NOW, by: '', what: 'late-answer', batch_id: OPEN }] },
    true,
  ],
]

test.each(MOVED)('moved after the review: %s', async (_, since, holds) => {
  const record = [
    recorded(1, sale('A', '41')),
    recorded(2, sale('B', '42'), { batch_id: OPEN_TOO, state: 'FAILED', money_warning: 1, warning: 'late' }),
    recorded(3, sale(made('a', 3), '43')),
    recorded(4, sale(made('a', 4), '44')),
    recorded(5, sale('E', '45')),
  ]
  const money = { amountMinor: 7n, currency: EUR }
  const draft = [
    ...[drafted(1, sale('N1', '41')), drafted(2, sale('N2', '42')), drafted(3, sale(made('b', 3), '43', { money }))],
    drafted(4, sale(made('b', 4), '44'), { state: 'DUPLICATE', holds_reference: 0, duplicate_of: 4, earlier: 4 }),
  ]
  await engines.refill({ ...PLACES, instruction: record, draft_row: draft })
  await engines.add(since)
  const header = headed({ onlyNew: true })
  expect(await same(() => holdsStill(header, { seen: upTo(5), batchId: 'none' }))).toEqual({ found: holds })
})

test.each([
  ['a refund was found to be approved, and the sale is not enough', 600n, moved(2, 2, 'FAILED', 'APPROVED'), false],
  ['a refund was found to be approved, and the sale is enough', 500n, moved(2, 2, 'FAILED', 'APPROVED'), true],
  ['the sale was approved, which is not enough', 600n, moved(2, 1, 'SENDING', 'APPROVED'), false],
  ['another row was approved', 600n, moved(2, 3, 'SENDING', 'APPROVED'), true],
] as const)('moved after the review: %s', async (_, amountMinor, move, holds) => {
  const record = [sold(1, '7', 1_500n), recorded(2, order('R', '7', 1_000n)), recorded(3, sale('E', '45'))]
  const rows = {
    draft_row: [drafted(1, order('N', '07', amountMinor))],
    draft_order: [{ order_key: '7', rows: 1, captures: 0 }],
  }
  await engines.refill({ ...PLACES, instruction: record, ...rows })
  await engines.add({ move: [move] })
  expect(await same(() => holdsStill(headed(), { seen: upTo(3), batchId: 'none' }))).toEqual({ found: holds })
})

test.each([
  ['CANCELLED', 0, false],
  ['CANCELLED', 1, true],
  ['READY', 0, true],
] as const)(
  'moved after the review: a row that the file leaves out is %s, in doubt once: %i',
  async (state, ever_in_doubt, holds) => {
    const record = [recorded(1, sale(made('a', 1), '41'), { state, ever_in_doubt })]
    const left = { state: 'DUPLICATE', holds_reference: 0, duplicate_of: 1, earlier: 1 }
    await engines.refill({ ...PLACES, instruction: record, draft_row: [drafted(1, sale(made('b', 1), '41'), left)] })
    expect(await same(() => holdsStill(headed(), { seen: upTo(1), batchId: 'none' }))).toEqual({ found: holds })
  },
)

test('came after the review of the first file of an account: a refund of one of its orders', async () => {
  const header = headed({ accountId: NEWCOMER })
  const draft = [drafted(1, order('A', '7')), drafted(2, order('B', '8')), drafted(3, order('C', '8', 10n))]
  expect(await reviewed({ draft_row: draft }, header)).toMatchObject({ found: { accepted: 3, lookalikes: 0 } })
  const batch = { ...PLACES.batch?.[0], id: '260405-eeeee', account_id: NEWCOMER }
  const refundOf = (orderId: string) => {
    const over = { batch_id: batch.id, account_id: NEWCOMER }
    return recorded(Number(orderId), order(`N${orderId}`, orderId, 100n), over)
  }
  const account = { ...PLACES.account?.[0], id: NEWCOMER, name: 'm3', url: 'u3' }
  await engines.add({ account: [account], batch: [batch], instruction: [refundOf('9')] })
  expect(await same(() => holdsStill(header, { seen: upTo(0), batchId: OPEN_TOO }))).toEqual({ found: true })
  await engines.add({ instruction: [refundOf('7')] })
  expect(await same(() => holdsStill(header, { seen: upTo(0), batchId: OPEN_TOO }))).toEqual({ found: false })
})

test('came after the review: an answer for a row that was to run again', async () => {
  const header = headed({ retry: ['FAILED'] })
  const late = recorded(2, 'F', { holds_reference: 0, money_warning: 1, warning: 'late', lookalike: null })
  await reviewed({ instruction: [recorded(1, 'F', { state: 'FAILED' })], draft_row: [drafted(1, 'F')] }, header)
  await engines.add({ instruction: [late] })
  expect(await same(() => holdsStill(header, { seen: upTo(2), batchId: OPEN_TOO }))).toEqual({ found: false })
})

test('came after the review: an answer for a charge that was to be asked for once more', async () => {
  const header = headed({ reattempt: REATTEMPT })
  const late = recorded(2, sale('F', '41'), { holds_reference: 0, money_warning: 1, warning: 'late', lookalike: null })
  await reviewed({ instruction: [declined(1, 'F')], draft_row: [drafted(1, sale('F', '41'))] }, header)
  expect(await same(() => holdsStill(header, { seen: upTo(1), batchId: OPEN_TOO }))).toEqual({ found: true })
  await engines.add({ instruction: [late] })
  expect(await same(() => holdsStill(header, { seen: upTo(2), batchId: OPEN_TOO }))).toEqual({ found: false })
})

/** Few names and numbers, so that nearly every row meets others. */
class Chance extends Random {
  reference(): string {
    return this.pick([
      'A',
      'B',
      'C',
      'D',
      '7',
      '007',
      '0a-1-unread',
      'Z-1-unread',
      'R1',
      'R 1',
      'Ä',
      'a',
      'A~2',
      'B~2',
      'B~3',
    ])
  }

  instruction(reference: string): Instruction {
    const money = { amountMinor: this.pick([100n, 200n, 300n]), currency: this.pick([EUR, EUR, EUR, USD]) }
    return refund(reference, {
      money,
      operation: this.pick(['REFUND', 'REFUND', 'REFUND', ...OPERATIONS]),
      orderId: this.pick([null, '7', '07', '8', '9', '10']),
      vaultId: this.pick([null, null, '5', '05']),
      xtlOrderId: this.pick([null, null, null, 'x1', '0x1', 'x2', 'X2']),
      executeAtMs: this.pick([null, null, null, NOW]),
    })
  }

  record(): Row[] {
    const held = new Set<string>()
    return Array.from({ length: this.whole(5, 40) }, (_, i) => {
      const batch_id = this.pick([OPEN, OPEN, OPEN_TOO, OF_OTHER])
      const reference = this.reference()
      const state = this.pick([
        'READY',
        'SENDING',
        'APPROVED',
        'APPROVED',
        'DECLINED',
        'FAILED',
        'FAILED',
        'IN_DOUBT',
        'CANCELLED',
        'INVALID',
        'DUPLICATE',
      ])
      const duplicate_of = state === 'DUPLICATE' && i > 0 ? this.whole(1, i) : null
      const holder = `${batch_id === OF_OTHER} ${reference}`
      const mayHold = state !== 'INVALID' && state !== 'DUPLICATE' && !held.has(holder)
      if (mayHold) held.add(holder)
      const sent_at = this.pick([null, NOW - DAY_MS, NOW - 21 * DAY_MS, NOW - 31 * DAY_MS])
      const money_warning = this.chance(0.15) ? 1 : 0
      return recorded(i + 1, this.instruction(reference), {
        ...{ batch_id, state, sent_at, money_warning, warning: money_warning === 1 ? `warning ${i}` : null },
        ...{ duplicate_of, reason: state === 'DUPLICATE' ? this.pick([null, 'amount']) : null },
        ...{ holds_reference: mayHold ? 1 : 0, run_key: this.pick([null, '2026-04', '2026-05']) },
        ...{ attempt: this.whole(0, 2), ever_in_doubt: this.whole(0, 1) },
        answered_order_id: this.pick([null, '7', '008', '9']),
        ...{
          made: this.whole(0, 1),
          reattempt_of: reference.includes('~') ? reference.slice(0, -2) : null,
          completed_at: sent_at,
        },
        ...(state === 'DECLINED' ? { reason: this.pick(['Insufficient funds', 'Stolen card', 'Do not honor']) } : {}),
      })
    })
  }

  draft(record: readonly Row[], fedBack: boolean): { rows: Row[]; faults: Row[] } {
    const faults: Row[] = []
    const ours = record.filter((row) => row.batch_id !== OF_OTHER)
    const rows = Array.from({ length: this.whole(1, 30) }, (_, i) => {
      const like = this.pick(ours)
      const { batch_id = OPEN, row_no = 1, ...columns } = like ?? recorded(1, 'A')
      const place = fedBack && this.chance(0.9) ? { came_batch: batch_id, came_row: row_no } : {}
      if (this.chance(0.15)) {
        for (let n = this.whole(1, 3); n > 0; n -= 1)
          faults.push(
            wrong(i + 1, {
              column_name: this.pick(['amount', 'reference', null]),
              value: this.pick(['1', null]),
              problem: this.pick(['bad', 'bad (here)']),
            }),
          )
        return unread(i + 1, this.chance(0.7) ? (columns.reference as string) : this.reference(), place)
      }
      const again = { content: columns.content as string, reference: columns.reference as string }
      const over = this.chance(0.5) ? again : {}
      return drafted(i + 1, this.instruction(this.reference()), {
        ...place,
        ...over,
        ...{ run_key: this.pick([null, '2026-05']), made: this.whole(0, 1) },
      })
    })
    return { rows, faults }
  }
}

test.each(Array.from({ length: 25 }, (_, seed) => seed))(
  'whatever is recorded and drafted, of chance %i',
  async (seed) => {
    const chance = new Chance(seed)
    const record = chance.record()
    const fedBack = chance.chance(0.5)
    const retry = chance.pick([
      [],
      ['FAILED'],
      ['FAILED', 'CANCELLED'],
      ['INVALID'],
      ['FAILED', 'CANCELLED', 'INVALID'],
    ] as const)
    const { rows, faults } = chance.draft(record, fedBack)
    const header = headed({ fedBack, retry, reattempt: chance.chance(0.7) ? REATTEMPT : null })
    await reviewed({ instruction: record, draft_row: rows, draft_fault: faults }, header)
    await engines.add({
      instruction: chance
        .record()
        .slice(0, 3)
        .map((row, i) => ({ ...row, row_no: 100 + i, holds_reference: 0 })),
      move: Array.from({ length: 6 }, (_, i) =>
        moved(i + 1, chance.whole(1, record.length), chance.pick(STATES), chance.pick(STATES)),
      ),
      act: [1, 2, 3].map((id) => ({
        id,
        at: NOW,
        by: '',
        what: 'late-answer',
        batch_id: chance.pick([OPEN, OPEN_TOO]),
      })),
    })
    await same(() => holdsStill(header, { seen: { ...upTo(record.length), act: 2 }, batchId: 'none' }))
    for (let n = 0; n < 8; n += 1) {
      const { reference, xtlOrderId, operation, orderId, money } = chance.instruction(chance.reference())
      const arriving = {
        accountId: SHOP,
        nowMs: NOW,
        lookalikeDays: 20,
        captureTolerance: 0,
        reference,
        runKey: chance.pick([null, '2026-05']),
      }
      await same(() => xtlTaken(arriving, xtlOrderId, operation))
      const lookalike = String(chance.pick(record).lookalike)
      await same(() => likeRowOf(arriving, lookalike))
      if (orderId === null || money === null) continue
      const { amountMinor, currency } = money
      for (const operation of ['CAUTH', 'CANCEL', 'REFUND'] as const) {
        const row = { operation, orderKey: orderId, amountMinor, currency }
        await same(() => orderVerdictOn(SHOP, row, { captureTolerance: 15 }))
      }
    }
  },
)
