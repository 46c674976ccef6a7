// What a person was told their word does goes with it to the ledger.

import { describe, expect, test } from 'vitest'
import { asShown } from '../../src/app/doubts.ts'
import { asTold, type WorklistEntry } from '../../src/app/worklist.ts'
import type { DoubtRow, Proposal } from '../../src/domain/doubt.ts'
import { findingOn } from '../fixtures/ledgers.ts'

const PROPOSAL: Proposal = { by: 'ann', reason: 'not there', atMs: 5, untilMs: 100 }
const doubt = (over: Partial<DoubtRow>) =>
  ({ merchant: 'shop', instruction: { reference: 'A' }, twoPeople: true, proposal: null, ...over }) as DoubtRow
const AGAIN = findingOn('A', { finding: 'send-again' })

describe('one word', () => {
  test.each<[string, DoubtRow | null, number, ReturnType<typeof told>]>([
    ['only proposes where it takes two', doubt({}), 10, { proposedAtMs: null, onlyProposes: true }],
    ['confirms the proposal that stands', doubt({ proposal: PROPOSAL }), 10, { proposedAtMs: 5, onlyProposes: false }],
    [
      'proposes anew where one has lapsed',
      doubt({ proposal: PROPOSAL }),
      100,
      { proposedAtMs: null, onlyProposes: true },
    ],
    ['sends where one is enough', doubt({ twoPeople: false }), 10, { proposedAtMs: null, onlyProposes: false }],
    ['sends where the row was not found', null, 10, { proposedAtMs: null, onlyProposes: false }],
  ])('%s', (_, shown, nowMs, expected) => {
    expect(told(asShown(AGAIN, shown, nowMs))).toEqual(expected)
  })

  const told = ({ proposedAtMs, onlyProposes }: ReturnType<typeof asShown>) => ({ proposedAtMs, onlyProposes })
})

test('a line of a file only proposes where it takes two', () => {
  const entry = { reference: 'A', merchant: 'shop', row: null, finding: 'send-again' } as WorklistEntry
  const proposes = (doubts: readonly DoubtRow[]) => asTold([entry], doubts).map(({ onlyProposes }) => onlyProposes)
  expect([proposes([doubt({})]), proposes([doubt({ twoPeople: false })]), proposes([])]).toEqual([
    [true],
    [false],
    [false],
  ])
})
