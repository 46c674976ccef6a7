// What goes to a file, to stdout and to stderr: where results go when nobody says, `-`, and `--quiet`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, utimesSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { countsIn, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { CLI } from '../fixtures/program.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number, name = 'refunds.csv'): Promise<string> {
  office = await openOffice()
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return office.put(name, toCsv(rows))
}

describe('without --out', () => {
  test('run writes the results beside the file, under its name', async () => {
    const file = await prepared(3)
    const ran = await office.tranche('run', file)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toContain(`Results: ${office.path('refunds.results.csv')}\n`)
    expect(countsIn(office.path('refunds.results.csv'))).toEqual({ APPROVED: 3 })
    const again = await office.tranche('run', file)
    expect(again.code, again.stderr).toBe(0)
    expect(office.sandbox.received()).toBe(3)
  })

  test('a card number in the name of the file is not in that of the results', async () => {
    const file = await prepared(1, 'a 4111111111111111.csv')
    const ran = await office.tranche('run', file)
    expect(ran.code, ran.stderr).toBe(0)
    expect(countsIn(office.path('a 4111110000001111.results.csv'))).toEqual({ APPROVED: 1 })
    mkdirSync(office.path('4111111111111111'))
    const inside = await office.put('4111111111111111/b.csv', readFileSync(file, 'utf8'))
    const refused = await office.tranche('run', inside)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('say with --out where the results go')
  })

  test('a rehearsal says SANDBOX in the name', async () => {
    const file = await prepared(2)
    await office.tranche('run', file, '--sandbox')
    expect(existsSync(office.path('refunds.results.SANDBOX.csv'))).toBe(true)
    expect(existsSync(office.path('refunds.results.csv'))).toBe(false)
  })

  test('the results of another batch are not written over, and nothing is sent', async () => {
    const file = await prepared(2)
    expect((await office.tranche('run', file)).code).toBe(0)
    const before = readFileSync(office.path('refunds.results.csv'), 'utf8')
    renameSync(file, office.path('old.csv'))
    const other = await office.put('refunds.csv', toCsv(refunds(4).slice(2)))
    const ran = await office.tranche('run', other)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(
      /refunds\.results\.csv exists and holds the results of batch .*name another file with --out/,
    )
    expect(readFileSync(office.path('refunds.results.csv'), 'utf8')).toBe(before)
    expect(office.sandbox.received()).toBe(2)
  })
})

describe('--out -', () => {
  test('run writes the reconciliation alone to stdout, and all else to stderr', async () => {
    const file = await prepared(3)
    const ran = await office.tranche('run', file, '--out', '-')
    expect(ran.code, ran.stderr).toBe(0)
    expect(await statusesIn(ran.stdout)).toEqual({ APPROVED: 3 })
    expect(ran.stderr).toContain('3 rows read, 3 in the results: 3 approved')
    expect(ran.stderr).not.toContain('Results: ')
    expect(readdirSync(office.dir).filter((name) => /^-$|results/.test(name))).toEqual([])
  })

  test('results does so as well, and what it wrote there counts as not written', async () => {
    const file = await prepared(3)
    const { batch } = (await office.tranche('run', file, '--json')).last
    const before = await office.tranche('status', batch, '--json')
    const written = await office.tranche('results', batch, '-o', '-')
    expect(written.code, written.stderr).toBe(0)
    expect(written.stdout).toBe(readFileSync(office.path('refunds.results.csv'), 'utf8'))
    expect((await office.tranche('status', batch, '--json')).last).toEqual(before.last)
    expect((await office.tranche('log', '--json')).stdout).toContain('/dev/stdout')
  })

  test('lets others work while the reader of its results is slow', async () => {
    await prepared(300)
    office.sandbox.prepare(preparationFor(refunds(1, 500)))
    const wide = refunds(300).map((row) => ({ ...row, note: `${row.reference}${'x'.repeat(3_000)}` }))
    const [file, other] = [
      await office.put('wide.csv', toCsv(wide)),
      await office.put('other.csv', toCsv(refunds(1, 500))),
    ]
    const slow = office.start('run', file, '--out', '-')
    slow.leaveUnread('stdout')
    const settled = () => recordedIn(office).filter(({ state }) => state === 'APPROVED').length
    await until('all of it is sent', () => settled() === 300, slow)
    const ran = await office.tranche('run', other, '--give-up-after', '5s')
    expect(ran.code, ran.stderr).toBe(0)
    expect((await office.tranche('status', '--json')).last.workers).toEqual([])
    expect(slow.saidAside().join()).not.toContain('300 in the results') // it still delivers
    slow.kill('SIGKILL')
    await slow.ended
  })

  test('leaves nothing where it was killed, once another has run; one that runs keeps its own', async () => {
    const file = await prepared(4)
    office.sandbox.addFault({ kind: 'hang-after', match: { any: true }, times: 2 })
    const left = () => readdirSync(office.dir).filter((name) => name.startsWith('tranche-results-'))
    const age = () => {
      for (const name of left()) utimesSync(office.path(name), new Date(0), new Date(0))
    }
    const killed = office.start('run', file, '--out', '-')
    await until('it sends', () => office.sandbox.received() > 0, killed)
    killed.kill('SIGKILL')
    await killed.ended
    const first = left()
    age()
    const other = await office.put('other.csv', toCsv(refunds(2, 20)))
    const runs = office.start('run', other, '--out', '-')
    await until('it has a folder of its own', () => left().some((name) => !first.includes(name)), runs)
    await until('it sends', () => office.sandbox.received() > 1, runs)
    age()
    const { batch } = (await office.tranche('submit', file, '--json')).last
    expect((await office.tranche('results', batch, '--out', '-')).code).toBe(0)
    expect(left()).toHaveLength(1)
    expect(first).not.toEqual(left())
  })

  test.each([
    ['--json beside it', ['run', 'refunds.csv', '--out', '-', '--json'], /leave one of them out/],
    ['the exceptions', ['run', 'refunds.csv', '--exceptions', '-'], /only the results can \(--out -\)/],
    ['a file from a pipe', ['run', '-'], /A file is read twice.*Save it first/],
    ['a file to check from a pipe', ['check', '-'], /A file is read twice.*Save it first/],
    ['a file to submit from a pipe', ['submit', '-'], /A file is read twice.*Save it first/],
    ['a worklist', ['in-doubt', 'list', '--out', '-'], /is a file that a person fills in/],
  ])('is refused with a sentence: %s', async (_, words, says) => {
    const file = await prepared(1)
    const ended = await office.tranche(...words.map((word) => (word === 'refunds.csv' ? file : word)))
    expect(ended.code).toBe(2)
    expect(ended.stderr + ended.stdout).toMatch(says)
    expect(office.sandbox.received()).toBe(0)
    expect(existsSync('-')).toBe(false)
  })
})

describe('--quiet', () => {
  test('leaves stderr empty where all is well, and stdout as it is', async () => {
    const file = await prepared(2)
    const checked = await office.tranche('check', file, '-q', '--map', 'reference=reference')
    expect(checked.stderr).not.toContain('Columns')
    const ran = await office.tranche('run', file, '--quiet')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toContain('2 rows read, 2 in the results: 2 approved')
  })

  test('keeps notes: they may decide about money', async () => {
    office = await openOffice()
    const file = await office.put('short.csv', 'order_id;amount;currency;note\n1001;5.00;EUR;n\n1002;6.00;EUR\n')
    const checked = await office.tranche('check', file, '--operation', 'REFUND', '-q')
    expect(checked.stderr).toMatch(/^Note: Line 3 has cells too few/m)
    expect(checked.stderr).not.toContain('Columns')
  })

  test('keeps doubts and faults', async () => {
    const file = await prepared(2)
    office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(1) }, times: 1 })
    const ran = await office.tranche('run', file, '-q')
    expect(ran.code, ran.stderr).toBe(5)
    expect(ran.stderr).toContain('IN DOUBT')
    const missing = await office.tranche('run', office.path('nothing.csv'), '-q')
    expect(missing.stderr).toContain('does not exist')
  })
})

async function statusesIn(csv: string): Promise<Record<string, number>> {
  return countsIn(await office.put('seen.csv', csv))
}

describe('what cannot be written to stdout', () => {
  async function toFull(...args: readonly string[]): Promise<readonly [code: number, stderr: string]> {
    const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const
    const child = spawn(process.execPath, [CLI, ...args], { env: office.settings, stdio: [...stdio] })
    let stderr = ''
    child.stderr?.on('data', (chunk) => {
      stderr += chunk
    })
    const [code] = await once(child, 'close')
    return [code, stderr]
  }

  test('is said, and a command that did all else ends with 1', async () => {
    const file = await prepared(2)
    expect(await toFull('run', file, '--yes')).toEqual([1, expect.stringContaining('could not be written (ENOSPC)')])
    expect(countsIn(office.path('refunds.results.csv'))).toEqual({ APPROVED: 2 })
    expect((await toFull('status'))[0]).toBe(1)
    expect((await toFull('status', 'nothing'))[0]).toBe(2) // it would not have said all is well
  })
})

test('the text of an exception that nothing catches is scrubbed, and the process ends with 1', async () => {
  office = await openOffice()
  const thrown = "setTimeout(() => { throw new Error('of s3cret-pass and 4111111111111111') }, 1_000)"
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(thrown)}` }
  const { code, stdout, stderr } = await office.spawnedWith(env, 'worker')
  expect([code, stderr]).toEqual([1, expect.stringContaining('of [secret] and 4111110000001111')])
  expect(stdout + stderr).not.toMatch(/s3cret-pass|4111111111111111/)
})
