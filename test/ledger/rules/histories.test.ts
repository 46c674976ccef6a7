// What a ledger remembers of its server and what this machine remembers of the ledger, against what is there.

import { describe, expect, test } from 'vitest'
import { alarmInHistory, type History, type Testimony } from '../../../src/ledger/rules/histories.ts'

const SERVER = { systemId: '70', timeline: '00000001', database: '5.900' }
const SAID = { ledgerId: 'ours', epochNo: 40, epoch: 'forty', transactorId: 7, commitNo: 12 }

function witnessed(over: Partial<Testimony> = {}, said: Partial<Testimony['said']> = {}): Testimony {
  return { by: '/data/worker-1.witness', said: { ...SAID, ...said }, epochHere: 'forty', commitNoHere: 12, ...over }
}

function kindOf(over: Partial<History> = {}, remembered: Partial<History['remembered']> = {}) {
  const history: History = {
    ...{ ledgerId: 'ours', server: SERVER, testimonies: [witnessed()] },
    remembered: { ...SERVER, epochNo: 41, adoptedAt: 0, unfinished: null, ...remembered },
    ...over,
  }
  return alarmInHistory(history)?.kind ?? null
}

describe('no alarm', () => {
  test.each<[string, Partial<History>, Partial<History['remembered']>]>([
    ['is raised by a ledger that went on as it was seen', {}, {}],
    ['is raised where nothing was seen', { testimonies: [] }, {}],
    [
      'is raised by a machine that was off for a week',
      { testimonies: [witnessed({ epochHere: null }, { epochNo: 3 })] },
      { epochNo: 20_000 },
    ],
    [
      'is raised by a transactor that was forgotten since',
      { testimonies: [witnessed({ epochHere: null, commitNoHere: null }, { epochNo: 3 })] },
      { epochNo: 20_000 },
    ],
    [
      'is raised by what was seen before a person took the ledger over',
      { testimonies: [witnessed({ epochHere: null, commitNoHere: null })] },
      { adoptedAt: 41 },
    ],
    [
      'is raised by a machine that saw an epoch and committed nothing in it',
      { testimonies: [witnessed({ commitNoHere: null }, { commitNo: 0 })] },
      {},
    ],
    [
      'is raised by a server that tells neither, of a ledger that remembers neither',
      { server: { ...SERVER, systemId: null, timeline: null } },
      { systemId: null, timeline: null },
    ],
  ])('%s', (_what, over, remembered) => {
    expect(kindOf(over, remembered)).toBe(null)
  })
})

describe('an alarm', () => {
  test.each<[string, string, Partial<History>, Partial<History['remembered']>]>([
    ['older', 'a later epoch was seen than the ledger has', {}, { epochNo: 39 }],
    ['older', 'that epoch was another', { testimonies: [witnessed({ epochHere: 'other' })] }, {}],
    ['older', 'a commit was seen that the ledger has not', { testimonies: [witnessed({ commitNoHere: 11 })] }, {}],
    ['older', 'no commit of the transactor is there', { testimonies: [witnessed({ commitNoHere: null })] }, {}],
    ['older', 'an adoption was broken off', {}, { unfinished: 'adopting' }],
    ['older', 'a move was broken off', {}, { unfinished: 'arriving' }],
    ['other', 'this machine worked for another ledger', { testimonies: [witnessed({}, { ledgerId: 'theirs' })] }, {}],
    ['elsewhere', 'the server is another one', { server: { ...SERVER, systemId: '71' } }, {}],
    ['elsewhere', 'it is in another database of the server', { server: { ...SERVER, database: '6.900' } }, {}],
    [
      'failed-over',
      'this host compares no timeline, and others did',
      { server: { ...SERVER, systemId: null, timeline: null } },
      {},
    ],
    ['failed-over', 'this host compares timelines, and others did not', {}, { systemId: null, timeline: null }],
    ['failed-over', 'the server has another timeline', { server: { ...SERVER, timeline: '00000002' } }, {}],
    [
      'older',
      'the timeline is another, and a commit is missing',
      { server: { ...SERVER, timeline: '00000002' }, testimonies: [witnessed({ commitNoHere: 11 })] },
      {},
    ],
  ])('(%s) is raised where %s', (kind, _what, over, remembered) => {
    expect(kindOf(over, remembered)).toBe(kind)
  })
})
