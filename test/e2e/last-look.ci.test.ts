// The last look: on a terminal, what cannot be taken back is shown and asked about; elsewhere nothing ever asks.

import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Ended, type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { CTRL_C, HAS_TERMINALS, onTerminal } from '../fixtures/terminals.ts'

const ROWS = refunds(3)

let office: Office
let input: string
beforeEach(async () => {
  office = await openOffice({ env: { TRANCHE_RATE: '50' } })
  office.sandbox.prepare(preparationFor(ROWS))
  input = await office.put('in.csv', toCsv(ROWS))
})
afterEach(() => office.close())

const batches = () => query<{ id: string; hold: string }>(office, "SELECT id, hold FROM batch WHERE stage = 'open'")
const run = (...more: string[]) => ['run', input, '--out', office.path('out.csv'), ...more]

describe.skipIf(!HAS_TERMINALS)('on a terminal', () => {
  test('run shows what leaves, to whom and for how long, and sends it when told to', async () => {
    const seen = await onTerminal(office, 'y\n', ...run())
    expect(seen.screen).toMatch(/REFUND +3 rows +6\.03 +EUR/)
    expect(seen.screen).toContain(`To ${office.sandbox.url} as s… (merchant default), in 1 s or more, at 50 a second.`)
    expect(seen.screen).toContain('Send 3 rows? [y/N]')
    expect([seen.code, countsIn(office.path('out.csv'))], seen.screen).toEqual([0, { APPROVED: 3 }])
  })

  test.each([
    ['no', 'n\n'],
    ['nothing but Enter', '\n'],
    ['Ctrl-C', CTRL_C],
  ])('answered with %s, nothing is recorded and nothing is sent', async (_, answer) => {
    for (const args of [run(), ['submit', input]]) {
      const seen = await onTerminal(office, answer, ...args)
      expect(seen.screen).toContain('othing was recorded and nothing was sent')
      expect(seen.code, seen.screen).toBe(130)
    }
    expect([batches(), office.sandbox.received()]).toEqual([[], 0])
  })

  test('--yes and a rehearsal are not asked about', async () => {
    expect((await onTerminal(office, null, ...run('--sandbox'))).code).toBe(0)
    const seen = await onTerminal(office, null, ...run('--yes'))
    expect([seen.code, office.sandbox.received()], seen.screen).toEqual([0, 3])
  })

  test('what is left of a batch is asked about before it goes on', async () => {
    expect((await office.tranche('submit', input)).code).toBe(0)
    const refused = await onTerminal(office, 'n\n', ...run())
    expect(refused.screen).toContain('Send the 3 rows that are left? [y/N]')
    expect([refused.code, office.sandbox.received()]).toEqual([130, 0])
    const seen = await onTerminal(office, 'y\n', ...run())
    expect([seen.code, office.sandbox.received()], seen.screen).toEqual([0, 3])
  })

  test('who is asked keeps nobody from working, and passes for no worker', async () => {
    const workers = async () => (await office.tranche('status', '--json')).last.workers
    const seen: unknown[] = []
    const refused = await onTerminal(
      office,
      async () => {
        seen.push(await workers())
        return 'n\n'
      },
      ...run(),
    )
    expect([refused.code, seen]).toEqual([130, [[]]])
    expect((await office.tranche('submit', input)).code).toBe(0)
    const followed = await onTerminal(
      office,
      async () => {
        seen.push(await workers())
        expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
        return 'y\n'
      },
      ...run(),
    )
    expect([followed.code, seen, office.sandbox.received()], followed.screen).toEqual([0, [[], []], 3])
    expect(countsIn(office.path('out.csv'))).toEqual({ APPROVED: 3 })
  })

  test('what is left is asked about although another run works, which sends its own batch only', async () => {
    const rows = refunds(40, 10)
    office.sandbox.prepare(preparationFor(rows))
    const other = await office.put('other.csv', toCsv(rows))
    expect((await office.tranche('submit', input)).code).toBe(0)
    const slow = { TRANCHE_RATE: '4' }
    const running = office.startWith(slow, 'run', other, '--out', office.path('other.out.csv'))
    await until('it sends', () => office.sandbox.received() > 0, running)
    const refused = await onTerminal(office, 'n\n', ...run())
    expect(refused.screen).toContain('Send the 3 rows that are left? [y/N]')
    expect(refused.code, refused.screen).toBe(130)
    running.kill('SIGINT')
    const ended = await running.ended
    expect(ended.stderr).toContain('Nothing more of it is sent, unless another run follows it or a worker starts.')
    expect(
      recordedIn(office)
        .filter(({ reference }) => /^R-[123]$/.test(reference))
        .map(({ state }) => state),
    ).toEqual([...['READY', 'READY', 'READY']])
  })

  test('another submit says what it waits for while somebody is asked', async () => {
    const other = await office.put('other.csv', toCsv(refunds(1, 9)))
    const waitsFor = /^Waiting for process \d+ on \S+, which is submitting a file and may be asking somebody about it/
    const ended: Ended[] = []
    let following: Running | null = null
    const seen = await onTerminal(
      office,
      async () => {
        const stopped = office.start('run', other, '--out', office.path('other.out.csv'))
        await until('it says so', () => stopped.saidAside().some((line) => waitsFor.test(line)), stopped)
        stopped.kill('SIGINT')
        ended.push(await stopped.ended)
        following = office.start('submit', other)
        await until('it says so', () => following?.saidAside().some((line) => waitsFor.test(line)) === true, following)
        return 'y\n'
      },
      ...['submit', input],
    )
    expect([seen.code, ended[0]?.code], ended[0]?.stderr).toEqual([0, 130])
    expect((await (following as Running | null)?.ended)?.code).toBe(0)
    expect(batches()).toHaveLength(2)
  })

  test('cancel asks, and no leaves the batch as it was', async () => {
    const { last } = await office.tranche('submit', input, '--json')
    const cancel = ['cancel', last.batch as string, '--reason', 'wrong file']
    const kept = await onTerminal(office, 'n\n', ...cancel)
    expect(kept.screen).toContain('3 rows of batch')
    expect([kept.code, batches()[0]?.hold]).toEqual([130, 'none'])
    expect((await onTerminal(office, 'yes\n', ...cancel)).code).toBe(0)
    expect(recordedIn(office).map(({ state }) => state)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
  })
})

test('--dry-run checks the file and records nothing', async () => {
  const ran = await office.tranche(...run('--dry-run'))
  expect([ran.code, batches(), office.sandbox.received()], ran.stderr).toEqual([0, [], 0])
  expect(ran.stdout).toContain('3 rows: 3 to be sent')
  expect(existsSync(office.path('out.csv'))).toBe(false)
})

test('where there is no terminal nothing asks', async () => {
  const ran = await office.tranche(...run())
  expect([ran.code, ran.stderr.includes('[y/N]')], ran.stderr).toEqual([0, false])
  expect(existsSync(office.path('out.csv'))).toBe(true)
})
