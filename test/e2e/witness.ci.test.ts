// The directory of the witness as people and containers set it up: it is used, or the command says why not. Never ignored.

import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const ROWS = 3

/** With a file to run, and the witness in a directory called `at`. */
async function officeWith(): Promise<{ office: Office; input: string; at: string; env: NodeJS.ProcessEnv }> {
  const office = await openOffice()
  closing.push(() => office.close())
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const at = office.path('named')
  return { office, input: await office.put('in.csv', toCsv(rows)), at, env: { TRANCHE_WITNESS_DIR: at } }
}

const witnessesIn = (dir: string) => readdirSync(dir).filter((name) => name.endsWith('.witness'))

describe('a directory for the witness that a person named', () => {
  test.each([
    ['whose group can write to it', (at: string) => mkdirSync(at) === undefined && chmodSync(at, 0o2775), 'chmod go-w'],
    ['that every user can write to', (at: string) => mkdirSync(at) === undefined && chmodSync(at, 0o777), 'chmod go-w'],
    ['that is a file', (at: string) => writeFileSync(at, ''), 'cannot be used'],
    ['that is a link to nothing', (at: string) => symlinkSync('/proc/none', at), 'cannot be used'],
    ['that leads into the data directory', (at: string) => symlinkSync('d', at), 'into the data directory'],
  ])('%s is refused by every command, and by doctor', async (_what, make, says) => {
    const { office, input, at, env } = await officeWith()
    make(at)
    const commands = [
      ['init'],
      ['submit', input],
      ['run', input, '--out', office.path('out.csv')],
      ['worker', '--until-idle'],
      ['in-doubt', 'list'],
    ]
    for (const args of commands) {
      const ended = await office.trancheWith(env, ...args)
      expect([ended.code, ended.stderr], args.join(' ')).toEqual([2, expect.stringContaining(says)])
      expect(ended.stderr).toContain('TRANCHE_WITNESS_DIR')
    }
    const doctor = await office.trancheWith(env, 'doctor')
    expect([doctor.code, doctor.stdout]).toEqual([2, expect.stringMatching(/^FIX {2}witness: TRANCHE_WITNESS_DIR/m)])
    expect(office.sandbox.received()).toBe(0)
  })

  test.each([
    ['is made, with what leads to it', (_at: string) => {}, 'a/b/c'],
    [
      'may be reached by a link',
      (at: string) => mkdirSync(`${at}.real`, { mode: 0o700 }) === undefined && symlinkSync(`${at}.real`, at),
      '',
    ],
  ])('%s', async (_what, make, below) => {
    const { office, input, at } = await officeWith()
    make(at)
    const named = below === '' ? at : `${at}/${below}`
    const ran = await office.trancheWith({ TRANCHE_WITNESS_DIR: named }, 'run', input, '--out', office.path('out.csv'))
    expect(ran.code, ran.stderr).toBe(0)
    expect(witnessesIn(named)).toHaveLength(1)
    const doctor = await office.trancheWith({ TRANCHE_WITNESS_DIR: named }, 'doctor')
    expect(doctor.stdout).toContain('ok   witness:')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'that belongs to another user, as a container’s volume, gets a directory of our own in it',
    async () => {
      const { office, input, at, env } = await officeWith()
      mkdirSync(at)
      chownSync(at, 12_345, 12_345)
      chmodSync(at, 0o2775)
      const own = `${at}/tranche-0`
      const ran = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'))
      expect(ran.code, ran.stderr).toBe(0)
      expect(witnessesIn(own)).toHaveLength(1)
      chmodSync(own, 0o2770) // as a volume is mounted once more
      expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(0)
      expect(statSync(own).mode & 0o777).toBe(0o700)
      expect((await office.trancheWith(env, 'doctor')).stdout).toContain('ok   witness:')
    },
  )
})

test('doctor says that no witness knows the ledger, and where a person chose so', async () => {
  const { office, env } = await officeWith()
  const unknown = await office.trancheWith(env, 'doctor')
  expect([unknown.code, unknown.stdout]).toEqual([2, expect.stringContaining('FIX  witness: nothing outside')])
  const chosen = await office.trancheWith({ TRANCHE_WITNESS_DIR: 'none' }, 'doctor')
  expect(chosen.stdout).toContain('ok   witness: nothing outside the data directory remembers the ledger')
})

describe('on one ledger, the witness of one environment knows what another one did', () => {
  const acts = [
    ['a cancelled batch', (_input: string, batch: string) => ['cancel', batch, '--reason', 'paid by bank transfer']],
    ['a file that was submitted', (other: string) => ['submit', other]],
    ['the work of a worker', () => ['worker', '--until-idle']],
  ] as const
  test.each(acts)('%s, when a state from before is put back', async (_what, command) => {
    const { office, input, env } = await officeWith()
    const first = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'))
    expect(first.code, first.stderr).toBe(0)
    const rows = refunds(ROWS, 10)
    office.sandbox.prepare(preparationFor(rows))
    const submitted = await office.trancheWith(env, 'submit', await office.put('b.csv', toCsv(rows)), '--json')
    const other = await office.put('c.csv', toCsv(refunds(ROWS, 20)))
    execFileSync('cp', ['-a', office.dataDir, office.path('bak')])
    const second = { TRANCHE_WITNESS_DIR: office.path('second') }
    const did = await office.trancheWith(second, ...command(other, submitted.last.batch as string))
    expect(did.code, did.stderr).toBe(0)
    const sent = office.sandbox.received()
    execFileSync('cp', ['-a', `${office.path('bak')}/.`, office.dataDir])
    const back = await office.trancheWith(env, 'worker', '--until-idle')
    expect([back.code, back.stderr]).toEqual([6, expect.stringContaining('records later work')])
    expect(office.sandbox.received()).toBe(sent)
  })
})
