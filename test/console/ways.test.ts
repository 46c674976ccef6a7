// How pages and the API tell people without a terminal what to do.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instructionPath } from '../../src/console/paths.ts'
import { linked, pageWays } from '../../src/console/ways.ts'
import type { Why } from '../../src/domain/batch-status.ts'
import { assertNotInterrupted } from '../../src/domain/draft.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Currency } from '../../src/domain/money.ts'
import { type Act, atTerminal, type SettingName, spell, type Text, words } from '../../src/domain/words.ts'
import { commandLine } from '../../src/present/command-line.ts'
import { whyText, whyWords } from '../../src/present/standing.ts'
import { httpWays } from '../../src/server/faults.ts'

const BATCH = '261121-abcde' as BatchId
const health = { sinceMs: 0, why: 'refused', asksToWait: false, failures: 3, openMost: 1, backoffUntilMs: 10_000 }

/** One of each: a new code does not compile before it stands here. */
const EACH: { readonly [Code in Why['code']]: Extract<Why, { readonly code: Code }> } = {
  'being-cancelled': { code: 'being-cancelled' },
  'as-said': { code: 'as-said', reason: 'wait for the bank' },
  'account-stopped': { code: 'account-stopped', reason: 'the gateway refuses the password', merchant: 'shop' },
  'left-open': { code: 'left-open', rows: 2 },
  'awaiting-approval': { code: 'awaiting-approval', needed: 2, given: 1, untilMs: 0 },
  'gateway-trouble': { code: 'gateway-trouble', health, nextTryAtMs: 10_000 },
  unserved: { code: 'unserved', merchant: 'shop' },
  'other-run': { code: 'other-run' },
  'not-configured': { code: 'not-configured', merchant: 'shop' },
  behind: { code: 'behind', rows: 3 },
  'asked-to-wait': { code: 'asked-to-wait', untilMs: 0 },
  'daily-limit': {
    ...{ code: 'daily-limit', direction: 'out', currency: 'EUR' as Currency, limitMinor: 5_000_000n },
    ...{ timeZone: 'Europe/Berlin', untilMs: 0, holdsAbove: true, holdsExpiring: false, isAnyLeft: true },
  },
  'due-later': { code: 'due-later', atMs: 0, isAll: true },
  clock: { code: 'clock', merchant: 'shop', aheadMs: 3_600_000 },
  'no-worker': { code: 'no-worker' },
  'without-redis': { code: 'without-redis' },
  'needs-file': { code: 'needs-file', fileName: 'cards.csv' },
  'in-doubt': { code: 'in-doubt', rows: 2 },
  'late-answers': { code: 'late-answers', answers: 1, batchId: BATCH },
  'no-progress': { code: 'no-progress', seconds: 900, trouble: null },
  'waits-for-batch': { code: 'waits-for-batch', batchId: BATCH },
}
const COMMAND = /tranche [a-z]|(?:^|[ (])--[a-z]/
const AGAIN = /\brun (?:the|that) same|\brun [\w.]+ again/i
const ASKED = /\bask whoever runs this server\b/i

test('the page of an instruction is found by every reference', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (reference, rowNo) => {
      for (const row of [null, { batchId: BATCH, rowNo }]) {
        const { pathname, searchParams, hash } = new URL(instructionPath(reference, row), 'http://127.0.0.1')
        expect([pathname, hash]).toEqual(['/instructions', ''])
        const asked = row === null ? { reference } : { reference, batch: BATCH, row: String(rowNo) }
        expect(Object.fromEntries(searchParams)).toEqual(asked)
      }
    }),
  )
})

describe('why nothing moves', () => {
  test.each(Object.values(EACH))('$code is told without a command that nobody is asked for', (why) => {
    const page = whyText([why], pageWays) ?? ''
    const api = whyText([why], httpWays) ?? ''
    const lines = String(linked(whyWords([why]) ?? '')).replaceAll(/<[^>]+>/g, '')
    expect(api).not.toMatch(COMMAND)
    for (const said of [page, api, lines]) {
      if (COMMAND.test(said) || AGAIN.test(said)) expect(said).toMatch(ASKED)
      expect(said).not.toMatch(/\s[,.;:)]|\(\)|undefined/)
    }
    const moments = page.replaceAll(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.000Z/g, '$1 $2 UTC')
    expect(lines.replaceAll('&#39;', "'")).toBe(moments)
    expect(whyText([why], commandLine)).not.toMatch(ASKED)
  })

  test.each([
    ['no-worker', 'no worker is running. Ask whoever runs this server to start one: tranche worker'],
    [
      'left-open',
      '2 rows were being sent when the worker ended and may have been executed. No worker is running: ask whoever runs this server to start one (tranche worker), to bring them into doubt',
    ],
    [
      'account-stopped',
      'the gateway refuses the password. The rows that wait were not executed. Ask whoever runs this server to correct it: with other credentials the account goes on by itself, and a running worker reads a password file again. Otherwise: resume merchant shop',
    ],
    [
      'needs-file',
      'its rows have card details, which are nowhere but in its file. Ask whoever runs this server to run cards.csv again as before: it goes on with them',
    ],
    ['asked-to-wait', 'the gateway asked to wait until 1970-01-01T00:00:00.000Z; a worker goes on then'],
  ] as const)('%s at a page', (code, said) => {
    expect(whyText([EACH[code]], pageWays)).toBe(said)
  })

  test.each([
    ['no-worker', 'no worker is running. Start one: tranche worker'],
    [
      'needs-file',
      'its rows have card details, which are nowhere but in its file. Run cards.csv again as before: it goes on with them',
    ],
    [
      'asked-to-wait',
      'the gateway asked to wait until 1970-01-01T00:00:00.000Z; a worker goes on then; or run the same command again',
    ],
  ] as const)('%s at the command line', (code, said) => {
    expect(whyText([EACH[code]], commandLine)).toBe(said)
  })
})

/** One of each: a new act or setting does not compile before it stands here. */
const ACTS: { readonly [Name in Act['act']]: Extract<Act, { readonly act: Name }> } = {
  adopt: { act: 'adopt', as: 'moved' },
  'adopt-policy': { act: 'adopt-policy' },
  'adopt-environment': { act: 'adopt-environment', merchant: 'shop' },
  'adopt-merchant': { act: 'adopt-merchant', merchant: 'shop' },
  'approve-batch': { act: 'approve-batch', batchId: BATCH },
  'cancel-batch': { act: 'cancel-batch', batchId: BATCH },
  diagnose: { act: 'diagnose', look: 'deep' },
  'enable-endpoint': { act: 'enable-endpoint', endpoint: 'ep_1' },
  init: { act: 'init', beside: true },
  'list-doubts': { act: 'list-doubts', toFile: true },
  migrate: { act: 'migrate' },
  'resume-batch': { act: 'resume-batch', batchId: BATCH },
  'resume-merchant': { act: 'resume-merchant', merchant: 'shop' },
  'run-again': { act: 'run-again', what: 'command' },
  'run-file': { act: 'run-file' },
  'save-format': { act: 'save-format', name: 'bank' },
  'show-batch': { act: 'show-batch', batchId: BATCH },
  'show-history': { act: 'show-history', reference: 'A' },
  'start-worker': { act: 'start-worker', untilIdle: true },
  'trust-clock': { act: 'trust-clock', merchant: 'shop' },
  'use-vault': { act: 'use-vault', to: 'create' },
  'verify-audit': { act: 'verify-audit' },
  'write-results': { act: 'write-results', batchId: null, as: 'csv' },
}
const SETTINGS: { readonly [Name in SettingName]: string | null } = {
  ...{ 'allow-hidden': '3', attempt: '2', canary: '5', correct: null, currency: 'EUR', decimal: ',', exceptions: null },
  ...{ format: 'bank', 'give-up-after': '2h', 'header-row': '4', map: null, 'max-declined': '9', merchant: 'shop' },
  ...{ 'not-a-card': 'Ref', 'only-new': null, operation: 'REFUND', out: null, reason: null, rejects: null },
  ...{ report: null, retry: 'cancelled', 'run-key': 'k', scale: 'minor', sheet: 'May', sign: 'minus', timezone: 'UTC' },
}

describe('the API', () => {
  const settings = Object.entries(SETTINGS).map(([set, to]) => ({ set: set as SettingName, to }))
  test.each([...Object.values(ACTS), ...settings])('tells nobody to type a command: %j', (way) => {
    for (const text of [words`Then ${way}.`, words`${atTerminal`Do it: ${way}`}.`])
      expect(spell(text, httpWays)).not.toMatch(COMMAND)
  })

  test('names a setting of a check as its request has it', () => {
    const columns = { set: 'map', column: 'Betrag', field: 'amount' } as const
    const named = [...settings.filter(({ set }) => ['header-row', 'retry', 'sign'].includes(set)), columns]
    expect(named.map(httpWays)).toEqual([
      '"header_row": 4',
      '"retry": ["cancelled"]',
      '"sign": "minus"',
      '"map": {"Betrag":"amount"}',
    ])
  })
})

describe('a way', () => {
  const FILE = { act: 'run-again', what: 'file' } as const
  const cases: readonly (readonly [string, Text, string])[] = [
    [
      'with a page is its link',
      words`See ${{ act: 'list-doubts', toFile: false }}.`,
      'See <a href="/doubts">Doubts</a>.',
    ],
    [
      'without a page is what somebody else is asked for',
      words`Create it: ${{ act: 'init' }}.`,
      'Create it: <code>tranche init</code> (ask whoever runs this server).',
    ],
    [
      'without a page has the words before it once',
      words`A list${{ act: 'use-vault', to: 'create', lead: '; cards are stored by ' }}.`,
      'A list; cards are stored by <code>tranche vault create FILE</code> (ask whoever runs this server).',
    ],
    [
      'that begins a sentence does so here',
      words`${atTerminal`Call ${'<b>'}`}.`,
      'Ask whoever runs this server to call &lt;b&gt;.',
    ],
    [
      'to hand a file in again leads to where that is done',
      words`Please ${FILE}.`,
      'Please <a href="/new">hand the same file in again</a>.',
    ],
    ['beside another one is left out', words`Wait${{ ...FILE, lead: ', or ' }}.`, 'Wait.'],
    [
      'that no form has is asked for',
      words`With ${{ set: 'attempt', to: '2' }}.`,
      'With <code>--attempt 2</code> (ask whoever runs this server).',
    ],
    [
      'keeps its lead',
      words`Mend it${{ set: 'sheet', to: 'May', lead: ', or set ' }}.`,
      'Mend it, or set “Sheet: May”.',
    ],
  ]
  test.each(cases)('%s', (_, text, shown) => {
    expect(String(linked(text))).toBe(shown)
    expect(spell(text, pageWays)).toBe(shown.replaceAll(/<[^>]+>/g, '').replace('&lt;b&gt;', '<b>'))
  })

  test('to give the command again is to hand the file in again', () => {
    const interrupt = () => assertNotInterrupted(AbortSignal.abort())
    expect(interrupt).toThrow(Fault)
    try {
      interrupt()
    } catch (error) {
      const [pages, line] = [pageWays, commandLine].map((door) => (error as Fault).linesIn(door).join('\n'))
      expect(pages).toBe(
        'Interrupted. Nothing was recorded and nothing was sent. To start over: hand the same file in again.',
      )
      expect(line).toContain('To start over: run the same command again.')
    }
  })
})
