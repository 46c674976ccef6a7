// Ordinary mistakes in rosters and vault files: rows that have slipped, customers that stand twice, runs that come once more.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { claimNamed, DAY_MS, EUR, factsWith, NOW, refund, sale, settle, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'
import { check, made } from './given.ts'

export function describeRosters(): void {
  const euros = (amountMinor: bigint) => ({ amountMinor, currency: EUR })
  const paying = (first: string, last = first) => ({
    cust_fname: first,
    cust_lname: last,
    cust_email: `${first.toLowerCase()}@example.com`,
  })
  const holding = (first: string, last = first) => ({
    first_name: first,
    last_name: last,
    email: `${first.toLowerCase()}@example.com`,
  })
  const december: Partial<DraftHeader> = { runKey: '12', nowMs: NOW + 31 * DAY_MS }

  const askedOf = async (rows: readonly Instruction[], over: Partial<DraftHeader> = {}) =>
    (await check(rows, over)).lookalikes.map(({ rowNo, question }) => [rowNo, question?.code ?? null])

  async function approved(rows: readonly Instruction[], over: Partial<DraftHeader> = {}) {
    const batchId = await submit(ledger, accountId, rows, over)
    for (const { reference, vaultId } of rows)
      await work(ledger, batchId, reference, 'APPROVED', { facts: factsWith(`t${reference}`, { vaultId }) })
    return batchId
  }

  const card = (no: number) => ({
    ...{ bin: '411111', lastFour: String(1000 + no) },
    expiry: { month: '12', year: '2030' },
  })
  const vaultRow = (reference: string, operation: Instruction['operation'], over: Partial<Instruction>) =>
    refund(reference, { operation, money: null, orderId: null, ...over })

  /** Records of these customers, under vault ids from 7000 on. */
  async function stored(...names: readonly string[]) {
    const rows = names.map((name, i) =>
      vaultRow(`V${i}`, 'VAULT_CREATE', { card: card(i), details: holding(name, `${name}son`) }),
    )
    const batchId = await submit(ledger, accountId, rows)
    for (const [i, { reference }] of rows.entries()) {
      const facts = factsWith(reference, { transactionId: null, vaultId: `0700${i}` })
      await work(ledger, batchId, reference, 'APPROVED', { facts })
    }
  }

  describe('the first sale of a vault id that is stored here', () => {
    test.each([
      [paying('Bob'), ['other-customer']],
      [paying('Ann', 'Birch'), []],
      [paying('ANN', 'annson'), []],
      [{ cust_email: 'new@example.com' }, []], // one alone may have another address
    ])('for Ann, to the customer %j, is asked about as %j', async (details, codes) => {
      await stored('Ann')
      const row = sale('S', '7000', { details })
      expect(await askedOf([row])).toEqual(codes.map((code) => [1, code]))
      await approved([row])
      expect(await askedOf([{ ...row, reference: 'T', xtlOrderId: 'T', money: euros(5n) }])).toEqual([])
    })

    test('is asked about in a file that has slipped, by what is least', async () => {
      await stored('Ann', 'Bob', 'Cleo', 'Dora')
      const rows = ['Dora', 'Ann', 'Bob', 'Cleo'].map((name, i) =>
        sale(`S${i}`, `700${i}`, { details: { cust_email: `${name}@example.com` } }),
      )
      expect(await askedOf(rows)).toEqual([1, 2, 3, 4].map((no) => [no, 'other-payer']))
    })
  })

  describe('a vault file', () => {
    const names = ['Ann', 'Bob', 'Cleo', 'Dora']
    const slipped = ['Dora', 'Ann', 'Bob', 'Cleo']
    const last = (name: string) => ({ first_name: name, last_name: `${name}son` })
    const rowsOf = (operation: Instruction['operation'], of: readonly string[]) =>
      of.map((name, i) =>
        vaultRow(made('b', i + 1), operation, {
          ...(operation === 'VAULT_CREATE' ? {} : { vaultId: `700${i}` }),
          ...(operation === 'VAULT_DELETE'
            ? { beside: { vaultId: null, card: null, xtlOrderId: null, details: last(name) } }
            : { card: card(i), details: last(name) }),
        }),
      )

    test.each([
      ['VAULT_CREATE', 'other-payer'],
      ['VAULT_UPDATE', 'other-payer'],
      ['VAULT_DELETE', 'other-customer'],
    ] as const)(
      'whose cards or vault ids have slipped against the names is asked about: %s',
      async (operation, code) => {
        await stored(...names)
        expect(await askedOf(rowsOf(operation, slipped))).toEqual([1, 2, 3, 4].map((no) => [no, code]))
      },
    )

    test('of deletions is asked about in one row that names another customer', async () => {
      await stored(...names)
      expect(await askedOf(rowsOf('VAULT_DELETE', ['Ann', 'Zoe', 'Cleo']))).toEqual([[2, 'other-customer']])
      expect(await askedOf(rowsOf('VAULT_DELETE', names))).toEqual([])
    })

    test('of updates is not asked about in one row that has another holder', async () => {
      await stored(...names)
      expect(await askedOf(rowsOf('VAULT_UPDATE', ['Ann', 'Zoe', 'Cleo']))).toEqual([])
    })
  })

  describe('a customer who stands twice in a roster', () => {
    const row = (name: string, vaultId: string, over: Partial<Instruction> = {}, runKey = '12') =>
      sale(`${runKey}/${name}`, vaultId, { xtlOrderId: `${name}${runKey}`, ...over })

    test('with one vault id and amount is asked about', async () => {
      const details = paying('Ann')
      expect(await askedOf([row('a', '5'), row('b', '5')], december)).toEqual([[2, null]])
      expect(await askedOf([row('a', '5', { details }), row('b', '5', { details })], december)).toEqual([[2, null]])
      const moved = { ...details, bill_addr: '7 High Street' }
      expect(await askedOf([row('a', '5', { details }), row('b', '5', { details: moved })], december)).toHaveLength(1)
    })

    test('is not, where two customers share a card, or did in another run', async () => {
      const [ann, bob] = [paying('Ann'), paying('Bob')]
      expect(await askedOf([row('a', '5', { details: ann }), row('b', '5', { details: bob })], december)).toEqual([])
      await approved([row('a', '5', {}, '11'), row('b', '5', {}, '11')], { runKey: '11' })
      expect(await askedOf([row('a', '5'), row('b', '5')], december)).toEqual([])
      expect(await askedOf([row('a', '5'), row('c', '5')], december)).toEqual([[2, null]])
    })

    test('with the card that was replaced and the new one is asked about', async () => {
      const details = paying('Ann')
      await approved([row('a', '5', { details }, '11')], { runKey: '11' })
      const twice = (over: Partial<Instruction>) => [
        row('a', '5', { details }),
        row('x', '7', { details: paying('Bob') }),
        row('b', '6', { details, ...over }),
      ]
      expect(await askedOf(twice({}), december)).toEqual([[3, 'paid']])
      expect(await askedOf(twice({}).toReversed(), december)).toEqual([[3, 'paid']])
      expect(await askedOf(twice({ money: euros(999n) }), december)).toEqual([])
      expect(await askedOf(twice({ details: { ...details, cust_fname: 'Abe' } }), december)).toEqual([])
      await approved([row('z', '6', { details, money: euros(2n) }, '10')], { runKey: '10' })
      expect(await askedOf(twice({}), december)).toEqual([]) // two cards that are both charged
    })
  })

  describe('the amounts of a roster', () => {
    const BEFORE = [1_000n, 2_500n, 700n, 1_900n, 4_000n, 2_500n, 990n]
    const roster = (runKey: string, amounts: readonly bigint[]) =>
      amounts.map((amount, i) =>
        sale(`${runKey}/s${i}`, `70${i}`, { xtlOrderId: `${runKey}x${i}`, money: euros(amount) }),
      )
    const from = (no: number, amounts: readonly bigint[]) => [...BEFORE.slice(0, no), ...amounts]

    test.each([
      ['above', [500n, ...BEFORE.slice(0, -1)], [[2, 'other-reference']]],
      ['below', [...BEFORE.slice(1), 500n], [[1, 'other-reference']]],
      ['above from the third row on', from(2, [2_500n, 700n, 1_900n, 4_000n, 2_500n]), [[3, 'other-reference']]],
      ['above, all but one', [500n, 1_000n, 2_500n, 700n, 1n, 4_000n, 2_500n], [[2, 'other-reference']]],
    ])('that are those of the row %s are asked about, once', async (_, amounts, questions) => {
      await approved(roster('11', BEFORE), { runKey: '11' })
      expect(await askedOf(roster('12', amounts), december)).toEqual(questions)
    })

    test.each([
      ['two exchanged', [2_500n, 1_000n, ...BEFORE.slice(2)]],
      ['all higher', BEFORE.map((amount) => amount + 100n)],
      ['one price for all', BEFORE.map(() => 1_000n)],
    ])('that are %s are not', async (_, amounts) => {
      await approved(roster('11', BEFORE), { runKey: '11' })
      expect(await askedOf(roster('12', amounts), december)).toEqual([])
    })

    test.each([
      ['change of plan in some rows', [1, 2, 2, 1, 2, 1, 1, 2, 2, 1], [1, 1, 2, 2, 2, 1, 2, 2, 2, 1]],
      ['move to one plan', [1, 2, 1, 1, 1, 2, 1, 2, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    ])('that %s are not', async (_, before, now) => {
      await approved(roster('11', before.map(BigInt)), { runKey: '11' })
      expect(await askedOf(roster('12', now.map(BigInt)), december)).toEqual([])
    })
  })

  describe('a roster that comes once more under other references', () => {
    const roster = (suffix: string, amountMinor: bigint) =>
      ['7001', '7002'].map((id, i) =>
        sale(`12/s${i + 1}${suffix}`, id, { xtlOrderId: `s${i}${suffix.replace('-', '')}`, money: euros(amountMinor) }),
      )

    test.each(['-corr', '-dez', '-v2'])('such as %s, with other prices, is asked about', async (suffix) => {
      await approved(roster('', 1_000n), { runKey: '12' })
      expect(await askedOf(roster(suffix, 1_100n), december)).toEqual([
        [1, 'correction'],
        [2, 'correction'],
      ])
      const other = roster(suffix, 1_100n).map((row) => ({ ...row, vaultId: `8${row.vaultId}` }))
      expect(await askedOf(other, december)).toEqual([])
    })

    test('is not asked about in a further charge that the roster has beside the first', async () => {
      await approved(roster('', 1_000n), { runKey: '12' })
      expect(await askedOf([...roster('', 1_000n), ...roster('-extra', 200n)], december)).toEqual([])
    })
  })

  describe('what is no mistake', () => {
    test('two refunds of one order under references of their own that fit into its sale', async () => {
      const batchId = await submit(ledger, accountId, [sale('S', '5')])
      await work(ledger, batchId, 'S', 'APPROVED', { facts: factsWith('41', { orderId: '777' }) })
      const part = (reference: string, amountMinor: bigint) => refund(reference, { orderId: '777', amountMinor })
      expect(await askedOf([part('TICKET-1', 300n), part('TICKET-2', 200n)])).toEqual([])
      await submit(ledger, accountId, [part('TICKET-1', 300n)])
      expect(await askedOf([part('TICKET-2', 400n)])).toEqual([])
    })

    test('a charge of December that was declined and is asked for again after that of January', async () => {
      const charge = sale('12/a', '5', { xtlOrderId: 'A12' })
      const batchId = await submit(ledger, accountId, [charge], { runKey: '12' })
      await work(ledger, batchId, '12/a', 'DECLINED')
      const nowMs = NOW + 25 * DAY_MS
      const next = await submit(ledger, accountId, [sale('1/a', '5', { xtlOrderId: 'A1' })], { runKey: '1', nowMs })
      const again: Partial<DraftHeader> = {
        ...{ nowMs: nowMs + 2 * DAY_MS, runKey: '12' },
        reattempt: {
          categories: ['other'],
          reasonRules: [],
          xtlOrderIdOf: (reference) => reference.replace(/\W/g, ''),
        },
      }
      expect(await askedOf([charge], again)).toEqual([[1, null]]) // both would be sent from now on
      await settle(ledger, await claimNamed(ledger, next, '1/a', nowMs), 'APPROVED', { sentAtMs: nowMs })
      expect(await askedOf([charge], again)).toEqual([])
    })
  })
}
