// Rows with card details and rows of the customer vault: what is kept of a card, who may work such a batch off, and in which order.

import { describe, expect, test } from 'vitest'
import type { CardMask } from '../../../src/domain/card.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { NO_FACTS } from '../../../src/ledger/rules/settling.ts'
import {
  auditOf,
  claim,
  dueIn,
  dueRow,
  headerOf,
  NOW,
  refund,
  reviewOnly,
  rowIn,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const CARD: CardMask = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
const NO_PAYMENT = { money: null, orderId: null, xtlOrderId: null } as const

const stored = (reference: string, over: Partial<Instruction> = {}) =>
  refund(reference, { ...NO_PAYMENT, operation: 'VAULT_CREATE', card: CARD, ...over })
const updated = (reference: string, vaultId: string) => stored(reference, { operation: 'VAULT_UPDATE', vaultId })
const deleted = (reference: string, vaultId: string) =>
  refund(reference, { ...NO_PAYMENT, operation: 'VAULT_DELETE', vaultId })

export function describeCards(): void {
  describe('cards: a batch with card details', () => {
    test('is workable only for the process that names it', async () => {
      const cards = await submit(ledger, accountId, [stored('A')])
      const other = await submit(ledger, accountId, [refund('B')])
      expect(await ledger.workable(NOW, 10)).toMatchObject([{ batchId: other }])
      expect(await ledger.workable(NOW, 10, cards)).toMatchObject([{ batchId: cards, due: 1 }])
      expect([(await ledger.batch(cards))?.needsFile, (await ledger.batch(other))?.needsFile]).toEqual([true, false])
    })

    test('holds up rows of the same order in other batches, which wait for a person', async () => {
      await submit(ledger, accountId, [stored('A'), refund('B', { orderId: '55' })])
      const behind = await submit(ledger, accountId, [refund('C', { orderId: '55' })])
      expect(await ledger.batch(behind)).toMatchObject({ blocked: 1, nextDueAtMs: null })
    })

    test('of which no row is to be sent needs no file', async () => {
      const first = await submit(ledger, accountId, [stored('A')])
      await work(ledger, first, 'A', 'APPROVED')
      const again = await submit(ledger, accountId, [stored('A')])
      expect(await ledger.batch(again)).toMatchObject({ needsFile: false, counts: { DUPLICATE: 1 } })
    })

    test('has the mask of the card in its due rows', async () => {
      const batchId = await submit(ledger, accountId, [stored('A', { details: { first_name: 'Ada' } })])
      expect((await dueIn(ledger, batchId))[0]?.instruction).toMatchObject({
        ...{ operation: 'VAULT_CREATE', card: CARD, vaultId: null, details: { first_name: 'Ada' } },
      })
    })
  })

  describe('cards: a row', () => {
    test('looks like one with the same card and holder, and not like one with another', async () => {
      await submit(ledger, accountId, [stored('A')])
      const likes = async (card: CardMask, details: Instruction['details'] = {}) => {
        return (await reviewOnly(ledger, headerOf(accountId), [stored('B', { card, details })])).review.lookalikes
      }
      expect(await likes(CARD)).toBe(1)
      expect(await likes(CARD, { last_name: 'Byron' })).toBe(0)
      expect(await likes({ ...CARD, lastFour: '1112' })).toBe(0)
      expect(await likes({ ...CARD, expiry: { month: '11', year: '2030' } })).toBe(0)
    })

    test('under a recorded reference with another card is refused', async () => {
      await submit(ledger, accountId, [stored('A')])
      const other = stored('A', { card: { ...CARD, lastFour: '1112' } })
      const { review, faults } = await reviewOnly(ledger, headerOf(accountId), [other])
      expect(review).toMatchObject({ invalid: 1 })
      expect(faults[0]?.problem).toContain('card not the same')
    })

    test('under a recorded reference with another record of the customer is another instruction', async () => {
      const details = { first_name: 'Ada', last_name: 'Byron', phone: '0301' }
      const rows = (phone: string) => [
        stored('A', { details: { ...details, phone } }),
        { ...updated('B', '900'), details: { ...details, phone } },
      ]
      const batchId = await submit(ledger, accountId, rows('0301'))
      for (const reference of ['A', 'B']) await work(ledger, batchId, reference, 'APPROVED')
      expect((await reviewOnly(ledger, headerOf(accountId), rows('0301'))).review).toMatchObject({ duplicate: 2 })
      const { review, faults } = await reviewOnly(ledger, headerOf(accountId), rows('0309'))
      expect(review).toMatchObject({ duplicate: 0, invalid: 2 })
      expect(faults[0]?.problem).toContain('other content: record of the customer not the same')
      const onlyNew = await submit(ledger, accountId, [...rows('0309').slice(0, 1), ...rows('0301').slice(1)], {
        onlyNew: true,
      })
      expect((await rowIn(ledger, onlyNew, 'A')).reason).toContain(
        'recorded with other content (record of the customer)',
      )
    })

    test('of a file without references is asked about: another card may have the same mask', async () => {
      const rows = (hash: string) => [1, 2, 3].map((n) => stored(`${hash}-${n}`, { details: { last_name: `${n}` } }))
      await submit(ledger, accountId, rows('0123456789abcdef'))
      for (const onlyNew of [false, true]) {
        const { review } = await reviewOnly(ledger, headerOf(accountId, { onlyNew }), rows('fedcba9876543210'))
        expect(review).toMatchObject({ accepted: 3, duplicate: 0, lookalikes: 3, correction: null })
      }
    })

    test('keeps the vault id, the customer and the card that the vault answered, and its record holds', async () => {
      const batchId = await submit(ledger, accountId, [stored('A')])
      const facts = { ...NO_FACTS, vaultId: '900', customerId: '31', card: CARD }
      await work(ledger, batchId, 'A', 'APPROVED', { facts })
      expect((await rowIn(ledger, batchId, 'A')).facts).toEqual(facts)
      expect(await auditOf(ledger)).toEqual([])
    })

    test('is in doubt when it is answered with the vault id of another card', async () => {
      const other = { ...CARD, lastFour: '2222' }
      const batchId = await submit(ledger, accountId, [stored('A'), stored('B', { card: other }), stored('C')])
      const facts = { ...NO_FACTS, vaultId: '900' }
      await work(ledger, batchId, 'A', 'APPROVED', { facts })
      await work(ledger, batchId, 'B', 'APPROVED', { facts: { ...facts, vaultId: '0900' } })
      await work(ledger, batchId, 'C', 'APPROVED', { facts })
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'IN_DOUBT', 'APPROVED'])
      expect((await rowIn(ledger, batchId, 'B')).reason).toContain('under which another card was stored')
    })

    test('that changes a vault record waits for an earlier change of the same, and for no other', async () => {
      const batchId = await submit(ledger, accountId, [updated('A', '0900'), deleted('B', '900'), deleted('C', '901')])
      expect((await dueIn(ledger, batchId)).map(({ instruction }) => instruction.reference)).toEqual(['A', 'C'])
      const later = await dueRow(ledger, batchId, 'A')
      expect(await claim(ledger, later)).toMatchObject({ kind: 'claimed' })
    })
  })
}
