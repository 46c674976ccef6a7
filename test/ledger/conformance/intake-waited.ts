// Messages that waited in a queue while an older state of the ledger was put back: what is lost may have taken them, and sent them.

import { describe, expect, test } from 'vitest'
import type { Instruction } from '../../../src/domain/instruction.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import {
  CLERK,
  claimNamed,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  refund,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

export function describeWaited(): void {
  const MINUTE_MS = 60_000
  const RESTORED = NOW + 10 * MINUTE_MS
  const LATER = RESTORED + 5 * MINUTE_MS
  const restore = () => ledger.adopt('restored', 'disk failed', CLERK, RESTORED)
  const take = (instruction: Instruction, over: Partial<IntakeMessage> = {}) =>
    ledger.recordMessage(messageOf(accountId, instruction, { nowMs: LATER, ...over }))

  describe('a message that waited while an older state was put back', () => {
    test('comes into doubt, is sent by nobody, and a person finds it among the doubts', async () => {
      await restore()
      const taken = await take(refund('A'), { handedInAtMs: NOW })
      expect(taken).toMatchObject({ kind: 'accepted', state: 'IN_DOUBT' })
      if (taken.kind !== 'accepted') return
      expect(await ledger.workable(LATER, 10)).toEqual([])
      const [doubt, ...others] = await ledger.doubts()
      expect(others).toEqual([])
      expect(doubt).toMatchObject({ attempt: 0, claimedAtMs: null, instruction: { reference: 'A' } })
      expect(doubt?.reason).toMatch(/handed in before an older state .* may have been taken and executed/)
      expect((await ledger.batch(taken.batchId))?.counts).toEqual({ IN_DOUBT: 1 })
      expect((await ledger.history('A')).at(-1)).toMatchObject({ cause: 'restore', to: 'IN_DOUBT' })
      expect(await take(refund('A'), { handedInAtMs: NOW })).toMatchObject({ kind: 'duplicate', state: 'IN_DOUBT' })
    })

    test('is sent where a person looked it up and has it sent', async () => {
      await restore()
      const taken = await take(refund('A'), { handedInAtMs: NOW })
      if (taken.kind !== 'accepted') throw new Error('not taken')
      await ledger.resolve(findingOn('A', { finding: 'send-again' }), CLERK, LATER)
      await claimNamed(ledger, taken.batchId, 'A', LATER)
      expect(await statesIn(ledger, taken.batchId)).toEqual(['SENDING'])
    })

    test.each([
      ['as long before as it may be', 0],
      ['a moment before', RESTORED - 1],
      ['by a clock that is a minute ahead', RESTORED + MINUTE_MS],
      ['by a clock that is wrong by years', NOW * 2],
    ])('comes into doubt where it was handed in %s', async (_, handedInAtMs) => {
      await restore()
      expect(await take(refund('A'), { handedInAtMs })).toMatchObject({ state: 'IN_DOUBT' })
    })

    test.each([
      ['handed in since', { handedInAtMs: RESTORED + MINUTE_MS + 1 }],
      ['did not wait in a queue', {}],
    ])('one that was %s is sent', async (_, over) => {
      await restore()
      expect(await take(refund('A'), over)).toMatchObject({ state: 'READY' })
    })

    test('is sent at its time where that is still to come', async () => {
      await restore()
      const toCome = refund('A', { executeAtMs: LATER + 2 * MINUTE_MS })
      expect(await take(toCome, { handedInAtMs: NOW })).toMatchObject({ state: 'READY' })
      const over = refund('B', { executeAtMs: LATER - MINUTE_MS })
      expect(await take(over, { handedInAtMs: NOW })).toMatchObject({ state: 'IN_DOUBT' })
    })

    test('is sent where no older state was put back', async () => {
      expect(await take(refund('A'), { handedInAtMs: NOW })).toMatchObject({ state: 'READY' })
    })
  })

  test('a batch that waited while an older state was put back comes into doubt whole; a file does not', async () => {
    await restore()
    const queued = headerOf(accountId, { fileName: 'n', queueName: 'n', handedInAtMs: NOW, nowMs: LATER })
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')], queued)
    expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'IN_DOUBT'])
    expect((await ledger.batch(batchId))?.counts).toEqual({ IN_DOUBT: 2 })
    const file = await submit(ledger, accountId, [refund('C')], { nowMs: LATER })
    expect(await statesIn(ledger, file)).toEqual(['READY'])
  })
}
