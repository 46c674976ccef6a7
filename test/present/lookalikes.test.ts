import { expect, test } from 'vitest'
import type { Lookalike } from '../../src/domain/draft.ts'
import type { LookalikesRefused } from '../../src/domain/submission.ts'
import { lookalikeLine, lookalikesRefusal } from '../../src/present/lookalikes.ts'

const HANDED_IN = Date.parse('2026-10-27T09:00:00Z')
const refused = (over: Partial<LookalikesRefused>): LookalikesRefused => ({
  ...{ kind: 'lookalikes', found: 11, allowed: 0, accepted: 12, recorded: 11, changed: 0, lost: 0, questions: 0 },
  ...{ isOnlyNew: false, hasRunKey: false },
  ...{ longAgo: new Map(), stillToSend: new Map(), ...over },
})

test('a file that asks for what one of another month asked for names that one and the three ways on', () => {
  const longAgo = new Map([
    ['261027-aaaaa', { rows: 1, handedInMs: HANDED_IN }],
    ['261027-bbbbb', { rows: 10, handedInMs: HANDED_IN }],
  ])
  expect(lookalikesRefusal(refused({ longAgo }))).toBe(
    '11 rows look like one that is in this file or recorded already. What was entered twice or has run already would be executed twice: take it out of the file. ' +
      '10 of the 12 rows to be sent ask for what batch 261027-bbbbb of 2026-10-27 asked for (others what 1 other batch did): this may be that file again. ' +
      "To send only what no earlier file holds, add --only-new. If it is another month's, give it a run key, such as its month: --run-key YYYY-MM. " +
      'Only if all of it is to be executed once more, add --allow-lookalikes 11.',
  )
})

test('a way on that was taken already is not named again', () => {
  const longAgo = new Map([['261027-bbbbb', { rows: 11, handedInMs: HANDED_IN }]])
  const text = lookalikesRefusal(refused({ longAgo, isOnlyNew: true, hasRunKey: true }))
  expect(text).not.toMatch(/--only-new|--run-key/)
  expect(text).toContain('add --allow-lookalikes 11')
})

test('where most of a file was sent lately, the number that lets it through is not for copying', () => {
  const text = lookalikesRefusal(refused({}))
  expect(text).toContain('this may be an earlier file again')
  expect(text).toContain('add --allow-lookalikes N,')
  expect(text).not.toMatch(/--allow-lookalikes \d/)
})

test('a card that is to be stored has no amount, and is told by itself and its name', () => {
  const lookalike = {
    ...{ line: 3, reference: 'B', changedFrom: null, refundedBefore: null, question: null, lost: false },
    ...{ besideVoid: false, moneyWarning: null, money: null, operation: 'VAULT_CREATE' },
    like: { batchId: null, rowNo: 1, reference: 'A', state: null, money: null },
  } as unknown as Lookalike
  expect(lookalikeLine(lookalike)).toBe('line 3: B has the same card and name as A (row 1 of this file)')
  expect(lookalikeLine({ ...lookalike, operation: 'REFUND' })).toContain(
    'has the same operation, amount and order as A',
  )
})
