import { expect, test } from 'vitest'
import {
  cancelledReason,
  executedBeforeReason,
  forgottenReason,
  restoredReason,
  sweptReason,
  warningWhenCancelled,
} from '../../../src/ledger/rules/unanswered.ts'
import { given } from './given.ts'

test.each([
  [null, false, null],
  ['odd', false, 'odd'],
  [null, true, 'it was in doubt before: see its history'],
  ['odd', true, 'odd; it was in doubt before: see its history'],
])('a row that warned of %s is cancelled; it was in doubt before: %s', (warning, wasInDoubt, result) => {
  given(warning)
    .when((before) => warningWhenCancelled(before, wasInDoubt))
    .then(result)
})

test.each([
  [sweptReason, /^the process that claimed it at 2026-05-04T09:00:00.007Z ended .*; it may have been executed$/],
  [forgottenReason, /^what became of the attempt claimed at 2026-05-04T09:00:00.007Z .*; it may have been executed$/],
])('a claim without an answer says when it was, and that it may have been executed', (reasonOf, reason) => {
  given(Date.UTC(2026, 4, 4, 9, 0, 0, 7))
    .when(reasonOf)
    .then(expect.stringMatching(reason))
})

test.each([
  ['wrong file', 'cancelled: wrong file'],
  [null, 'cancelled: no reason kept'],
])('a batch that was cancelled for %s gives its rows a reason', (why, reason) => {
  given(why).when(cancelledReason).then(reason)
})

test('a row that was open in an older state says who put that back', () => {
  given('disk broke')
    .when(restoredReason)
    .then(
      'an older state of the ledger was put back (disk broke); it may have been executed since that state was written',
    )
})

test('a row that was executed before says how that is known', () => {
  given('answered late')
    .when(executedBeforeReason)
    .then('it was to be sent again, but it was executed before: answered late')
})
