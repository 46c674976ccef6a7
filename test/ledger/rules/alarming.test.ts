import { describe, expect, test } from 'vitest'
import type { Alarm } from '../../../src/domain/alarm.ts'
import {
  alarmIn,
  generationOf,
  isUnknownSince,
  type Testimony,
  type Traces,
  WORKED_ELSEWHERE,
  witnessAgainst,
} from '../../../src/ledger/rules/alarming.ts'
import { given } from './given.ts'

const QUIET: Traces = {
  ...{ ledgerId: 'l1', epochFile: 'ledger.epoch', beside: { ledgerId: 'l1', epoch: '7-a' }, epochs: ['7-a'] },
  ...{ progress: 10, overtakenBy: null, testimonies: [], witnessInside: '/data/l1.witness', copiedAtMs: null },
  ...{ movedTo: null, restoring: false, otherMachine: false, otherFiles: false, touched: false },
}
const said = (over: Partial<Testimony> = {}): Testimony => ({
  ...{ file: '/var/l1.witness', ledgerPath: '/data/ledger.db', epoch: '7-a', progress: 10 },
  ...over,
})
const kindIn = (traces: Traces): Alarm['kind'] | null => alarmIn(traces)?.kind ?? null

describe('a ledger', () => {
  test('that is the one that it remembers to be raises no alarm', () => {
    given(QUIET).when(alarmIn).then(null)
  })

  test.each<[string, Partial<Traces>, Alarm['kind'] | null]>([
    ['beside the epoch of another', { beside: { ledgerId: 'l2', epoch: '7-a' } }, 'other'],
    ['without an epoch beside it', { beside: null }, 'unmarked'],
    ['beside an epoch that it never had', { beside: { ledgerId: 'l1', epoch: '8-b' } }, 'older'],
    ['beside the epoch that is about to be', { epochs: ['6-z', '7-a'] }, null],
    ['that remembers no epoch', { epochs: [] }, 'older'],
    ['made as a copy', { copiedAtMs: 1 }, 'backup'],
    ['made as a copy and without an epoch', { copiedAtMs: 1, beside: null }, 'backup'],
    ['on another machine', { otherMachine: true }, 'elsewhere'],
    ['in other files', { otherFiles: true }, 'elsewhere'],
    ['whose directory was touched', { touched: true }, 'touched'],
    ['that was touched, and vouched for', { touched: true, testimonies: [said()] }, null],
    [
      'that was touched, and known by an earlier epoch',
      { touched: true, testimonies: [said({ epoch: '6-z' })] },
      'touched',
    ],
    [
      'that was touched, and vouched for by what a copy carries along',
      { touched: true, testimonies: [said({ file: '/data/l1.witness' })] },
      'touched',
    ],
    ['that a witness knows further', { testimonies: [said({ progress: 11 })] }, 'older'],
    ['that a witness knows less far', { testimonies: [said({ progress: 9 })] }, null],
    ['that something spoke against before', { overtakenBy: said(), copiedAtMs: 1 }, 'older'],
    ['that is taken over as an older state', { restoring: true }, 'restoring'],
    ['that is taken over as an older state, made as a copy', { restoring: true, copiedAtMs: 1 }, 'restoring'],
    ['whose other copy has worked', { testimonies: [said({ epoch: '7-b', progress: 1 })] }, 'older'],
    ['whose earlier copy has worked', { testimonies: [said({ epoch: '6-b', progress: 99 })] }, null],
    [
      'of another, which a witness knows further',
      { beside: { ledgerId: 'l2', epoch: '' }, overtakenBy: said() },
      'other',
    ],
  ])('%s', (_which, over, kind) => {
    given({ ...QUIET, ...over })
      .when(kindIn)
      .then(kind)
  })

  test.each<[Partial<Traces>, RegExp]>([
    [{ beside: { ledgerId: 'l2', epoch: '' } }, /^ledger.epoch beside it belongs to another ledger/],
    [{ overtakenBy: said() }, /^\/var\/l1.witness records later work by this ledger in \/data\/ledger.db/],
    [{ copiedAtMs: 0 }, /a backup, made at 1970-01-01T00:00:00.000Z$/],
    [{ restoring: true }, /^taking it over as an older state has not come to its end$/],
    [{ beside: null }, /^ledger.epoch, which belongs beside it, is missing$/],
    [{ epochs: [] }, /an older state that was put back$/],
    [{ otherMachine: true }, /moved from another machine$/],
    [{ otherFiles: true }, /its files are other ones/],
    [{ touched: true }, /TRANCHE_WITNESS_DIR/],
  ])('with %o says what was noticed', (over, noticed) => {
    given({ ...QUIET, ...over })
      .when((traces) => alarmIn(traces)?.noticed)
      .then(expect.stringMatching(noticed))
  })
})

describe('an epoch', () => {
  test.each([
    ['7-a', ['7-a'], false],
    ['7-b', ['7-a'], true],
    ['8-b', ['7-a'], true],
    ['6-b', ['7-a'], false],
    ['word', ['7-a'], false],
    ['word', ['other'], true],
    ['7-b', ['6-a', '8-a'], false],
  ])('%s is of a copy that worked since %o: %s', (epoch, known, isUnknown) => {
    given(known)
      .when((epochs) => isUnknownSince(epoch, epochs))
      .then(isUnknown)
  })

  test.each([
    ['7-a', 7],
    ['999999999999-a', 999_999_999_999],
    ['1000000000000-a', 0],
    ['word', 0],
  ])('%s has the number %d', (epoch, number) => {
    given(epoch).when(generationOf).then(number)
  })
})

test('a ledger without epochs goes by progress alone', () => {
  given({ testimonies: [said({ epoch: '9-z', progress: 10 }), said({ progress: 11 })], epochs: [], progress: 10 })
    .when(witnessAgainst)
    .then(said({ progress: 11 }))
})

test('what Redis registered elsewhere proves later work', () => {
  expect(WORKED_ELSEWHERE.kind).toBe('older')
})
