// The page of a check in every state. The process that reads files is played: what it writes down stands here.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { detailsIn, readCheck } from '../../../src/app/checks.ts'
import type { FirstRow } from '../../../src/domain/ingest.ts'
import { type Currency, parseCurrency } from '../../../src/domain/money.ts'
import { putCheck } from '../../fixtures/checks.ts'
import { CLERK, headerOf, refund, submit } from '../../fixtures/ledgers.ts'
import type { Desk } from './desk.ts'
import type { Screen } from './screens.ts'

const AS = ['submitter'] as const
const EUR = parseCurrency('EUR') as Currency

interface Found {
  readonly over?: object
  readonly lookalikes?: readonly object[]
}

/** Of a file with four rows. Resolves to the path of its page. */
async function checked(desk: Desk, { over = {}, lookalikes = [] }: Found = {}): Promise<string> {
  const { id, path } = await put(desk, { state: 'done', result: resultOf(desk, over) })
  const rows = [1, 2, 3, 4].map((n) => ({
    ...{ row: n, line: n + 1, status: n === 4 ? 'invalid' : 'accepted', reference: desk.text(`R-${n}`) },
    ...{ operation: 'REFUND', amount: n === 4 ? null : '10.00', currency: 'EUR', order_id: desk.text(`70${n}`) },
    ...{ vault_id: null, due_at: null, cells: ['10,00', desk.text('as ordered')] },
  }))
  for (const [name, items] of Object.entries({ rows, lookalikes }))
    await writeFile(join(detailsIn(path), `${name}.jsonl`), items.map((item) => `${JSON.stringify(item)}\n`).join(''))
  return `/checks/${id}`
}

async function put(desk: Desk, over: object): Promise<{ readonly id: string; readonly path: string }> {
  const person = (await desk.ledger.people()).find(({ grants }) => grants.some((grant) => grant.name === 'submitter'))
  const by = `person:${person?.id}`
  const incoming = await desk.spool.receive(by, null)
  await incoming.write(Buffer.from('reference\n'))
  const { id: file, sha256 } = await incoming.keep('refunds.csv', null)
  const id = await putCheck(
    desk.spool,
    { id: file, name: desk.text('refunds.csv'), sha256, bytes: 4_096 },
    { by, ...over },
  )
  return { id, path: desk.spool.checkPath(id) ?? '' }
}

function resultOf(desk: Desk, over: object): Readonly<Record<string, unknown>> {
  const sum = { operation: 'REFUND', currency: 'EUR', count: 3, amount: '30.00' }
  const at = (line: number) => ({ line, amount: '10.00' })
  return {
    ...{ ok: true, rows: 3, accepted: 3, duplicate: 0, invalid: 0, lookalikes: 0 },
    ...{ above_limit: 0, held_by_doubt: 0, faults_total: 0 },
    ...{ totals: [sum], totals_read: [sum], amounts_unread: 0, causes: [], refusals: [], cancelled_before: [] },
    extents: [{ operation: 'REFUND', currency: 'EUR', smallest: at(2), largest: at(3) }],
    again: { repeated: {}, changed: 0 },
    columns: { mapped: [{ written: desk.text('Betrag'), field: 'amount' }], carried: [desk.text('note')] },
    details_columns: [desk.text('Betrag'), desk.text('note')],
    read: {
      ...{ encoding: 'utf-8', delimiter: ';', decimal: ',', sheet: desk.text('Sheet1'), header_row: 1 },
      warnings: [desk.text('two of the rows are hidden')],
    },
    given: { merchant: 'shop', operation: 'REFUND', runKey: desk.text('november') },
    ...over,
  }
}

function faultOf(desk: Desk, rows: number) {
  const cause = {
    ...{
      rows,
      first_line: 5,
      last_line: 4 + rows,
      column: desk.text('Betrag'),
      value: desk.text('ten'),
      same_value: true,
    },
    ...{ problem: desk.text('is no amount'), remedy: desk.text('write one') },
  }
  return { invalid: rows, faults_total: rows, ok: false, causes: [cause], refusals: [{ kind: 'bad-rows', rows }] }
}

function pairOf(desk: Desk, n: number, batch: string | null) {
  const asks = { amount: '10.00', currency: 'EUR', order_id: desk.text(`70${n}`) }
  const like = { batch, row: n, line: batch === null ? n : null, reference: desk.text(`OLD-${n}`) }
  return {
    ...{
      pair: `${n} ${batch ?? 'file'} ${n} same`,
      row: n,
      line: n + 1,
      reference: desk.text(`R-${n}`),
      operation: 'REFUND',
    },
    ...{
      ...asks,
      changed_from: null,
      may_have_run_again: false,
      beside_void: false,
      money_warning: null,
      refunded_before: null,
    },
    like: {
      ...{ ...like, ...asks, status: batch === null ? null : 'APPROVED' },
      handed_in: batch === null ? null : '2026-05-04T09:00:00.000Z',
    },
  }
}

const alike = (n: number) => ({ lookalikes: n, ok: false, refusals: [{ kind: 'lookalikes', found: n, allowed: 0 }] })

/** As far as a file is read that never ends. */
async function reading(desk: Desk, rows: number): Promise<string> {
  const { id } = await put(desk, { state: 'reading', result: null })
  const first = Array.from(
    { length: 10 },
    (_, i): FirstRow => ({
      ...{
        line: i + 2,
        bad: i === 3,
        reference: desk.text(`R-${i}`),
        operation: 'REFUND',
        amount: '10.00',
        currency: EUR,
      },
      ...{ order_id: desk.text(`70${i}`), vault_id: null },
    }),
  )
  const isTold = desk.door.queue.waitForProgress(id, 5_000)
  void desk.door.queue.run({ name: id, caller: 'desk', records: false }, (signal, tell) => {
    tell({ rows, of: 100_000, first })
    return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  })
  await isTold
  return `/checks/${id}`
}

export const CHECK_SCREENS: readonly Screen[] = [
  {
    name: 'check waiting',
    as: AS,
    at: async (desk) => `/checks/${(await put(desk, { state: 'queued', result: null })).id}`,
  },
  { name: 'check reading', as: AS, at: (desk) => reading(desk, 41_200) },
  { name: 'check read, without a verdict', as: AS, at: (desk) => reading(desk, 100_000) },
  { name: 'check done', as: AS, at: (desk) => checked(desk) },
  { name: 'check done, to be approved', as: AS, at: (desk) => desk.fourEyes().then(() => checked(desk)) },
  { name: 'check with faults', as: AS, at: (desk) => checked(desk, { over: { rows: 4, ...faultOf(desk, 1) } }) },
  {
    name: 'check all bad',
    as: AS,
    at: (desk) => checked(desk, { over: { rows: 4, ...faultOf(desk, 4), accepted: 0, totals: [], extents: [] } }),
  },
  {
    name: 'check with look-alikes',
    as: AS,
    async at(desk) {
      const batch = await desk.batch()
      return checked(desk, { over: alike(2), lookalikes: [pairOf(desk, 1, batch), pairOf(desk, 2, null)] })
    },
  },
  {
    name: 'check with an unticked pair',
    as: AS,
    at: (desk) => checked(desk, { over: alike(1), lookalikes: [pairOf(desk, 1, null)] }),
    async does(page) {
      await page.getByLabel(/^Type/).fill('30.00')
      await page.getByRole('button', { name: /^Hand in/ }).evaluate('(button) => { button.form.noValidate = true }')
      await page.getByRole('button', { name: /^Hand in/ }).click()
    },
  },
  {
    name: 'check with many look-alikes',
    as: AS,
    at: (desk) =>
      checked(desk, { over: alike(51), lookalikes: Array.from({ length: 51 }, (_, i) => pairOf(desk, i + 1, null)) }),
  },
  { name: 'check held by a doubt', as: AS, at: (desk) => checked(desk, { over: { held_by_doubt: 2 } }) },
  {
    name: 'check with another total',
    as: AS,
    at: (desk) =>
      checked(desk, {
        over: {
          ok: false,
          refusals: [{ kind: 'total', found: 'EUR=30.00', expected: 'EUR=31.00', difference: '1.00 EUR too little' }],
        },
      }),
  },
  {
    name: 'check of a batch that is there',
    as: AS,
    async at(desk) {
      const at = await checked(desk, { over: { given: { merchant: 'shop', operation: 'REFUND' } } })
      const check = await readCheck(desk.spool, at.split('/').at(-1) ?? '', Date.now())
      const fileSha256 = check?.file.sha256 ?? ''
      const header = headerOf(desk.accounts.shop, { fileSha256, nowMs: Date.now(), fileName: desk.text('in.csv') })
      await submit(desk.ledger, desk.accounts.shop, [refund('A')], header, CLERK)
      return at
    },
  },
  {
    name: 'check refused for card data',
    as: AS,
    async at(desk) {
      const found = { code: 'card-data', line: 12, column: desk.text('note'), problem: desk.text('it may be a card') }
      const result = { ...found, remedy: desk.text('take it out') }
      return `/checks/${(await put(desk, { state: 'refused', result })).id}`
    },
  },
  {
    name: 'check failed',
    as: AS,
    async at(desk) {
      const problem = desk.text('There is no such sheet. Nothing was recorded.')
      return `/checks/${(await put(desk, { state: 'failed', result: null, problem })).id}`
    },
  },
  { name: 'no such check', as: AS, at: async () => '/checks/x' },
]
