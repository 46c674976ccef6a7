// What was said to sending a row once more, and what became of a proposal.

import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/domain/acts.ts'
import { type DoubtRow, PROPOSAL_LIVES_MS } from '../../src/domain/doubt.ts'
import { lapsedProposal, lapsedText, sayingLines } from '../../src/present/proposals.ts'

const NOW = Date.UTC(2026, 10, 21, 20)

const word = (what: string, over: Partial<LogEntry> = {}) =>
  ({ atMs: NOW, what, by: 'ann@desk', reason: 'not there', details: { row: 1, attempt: 1 }, ...over }) as LogEntry
const PROPOSED = word('propose-send-again')
const STANDING = { by: 'ann@desk', reason: 'not there', atMs: NOW, untilMs: NOW + PROPOSAL_LIVES_MS }
const inDoubt = (over: Partial<DoubtRow> = {}) =>
  ({ attempt: 1, twoPeople: true, proposal: STANDING, ...over }) as DoubtRow

test('each word has who, what, after which attempt, and why', () => {
  const lapsed = word('lapse-send-again', {
    ...{ by: 'worker', reason: 'the row was resolved otherwise' },
    details: { row: 1, attempt: 1, proposed_by: 'ann@desk' },
  })
  expect(sayingLines([PROPOSED, word('refuse-send-again', { by: 'bob@desk' }), PROPOSED, lapsed], null, NOW)).toEqual([
    '  2026-11-21T20:00:00.000Z  ann@desk proposed to send it once more, after attempt 1',
    '    not there',
    '  2026-11-21T20:00:00.000Z  bob@desk refused to send it once more, after attempt 1',
    '    not there',
    '  2026-11-21T20:00:00.000Z  ann@desk proposed to send it once more, after attempt 1',
    '    not there',
    '  2026-11-21T20:00:00.000Z  the proposal of ann@desk to send it once more lapsed, after attempt 1',
    '    the row was resolved otherwise',
  ])
})

test.each<[string, DoubtRow | null, number, string]>([
  ['waits', inDoubt(), NOW, 'Nothing is sent until another person confirms it'],
  [
    'was not confirmed in time',
    inDoubt(),
    NOW + PROPOSAL_LIVES_MS,
    'It lapsed at 2026-11-28T20:00:00.000Z: it was not confirmed in time.',
  ],
  ['is not needed any more', inDoubt({ twoPeople: false, proposal: null }), NOW, 'since the policy changed'],
  ['is of a row that is settled', null, NOW, 'It lapsed when the row was resolved otherwise.'],
  ['is of an earlier attempt', inDoubt({ attempt: 2, proposal: null }), NOW, 'It lapsed when the row was sent again.'],
])('a proposal that %s says so', (_, doubt, nowMs, said) => {
  expect(sayingLines([PROPOSED], doubt, nowMs).at(-1)).toContain(said)
})

test('of a row in doubt it is told that a proposal is gone, and why', () => {
  const details = { row: 1, attempt: 1, proposed_by: 'ann@desk' }
  const lapsed = word('lapse-send-again', { by: 'worker', reason: 'its proposer left', details })
  const none = inDoubt({ proposal: null })
  const gone = lapsedProposal([PROPOSED, lapsed], none, NOW)
  expect(gone === null ? null : lapsedText(gone)).toBe(
    'The proposal of ann@desk no longer stands; it lapsed at 2026-11-21T20:00:00.000Z: its proposer left. Nothing was sent by it.',
  )
  expect(lapsedProposal([PROPOSED], inDoubt(), NOW + PROPOSAL_LIVES_MS)?.reason).toBe('it was not confirmed in time')
  const laxer = inDoubt({ twoPeople: false, proposal: null })
  expect(lapsedProposal([PROPOSED], laxer, NOW)?.reason).toBe('the policy asks for no second person')
  for (const words of [[], [PROPOSED], [PROPOSED, word('refuse-send-again')]])
    expect(lapsedProposal(words, inDoubt(), NOW)).toBeNull()
  expect(lapsedProposal([PROPOSED, lapsed], inDoubt({ attempt: 2, proposal: null }), NOW)).toBeNull()
})
