// The directory of the witness as people and containers set it up: it is used, or the command says why not. Never ignored.

import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { expectKnownToBoth, useWitnessed } from './witnessed.ts'

const witnessed = useWitnessed()

const witnessesIn = (dir: string) => readdirSync(dir).filter((name) => name.endsWith('.witness'))

describe('a directory for the witness that a person named', () => {
  test.each([
    ['whose group can write to it', (at: string) => mkdirSync(at) === undefined && chmodSync(at, 0o2775), 'chmod go-w'],
    ['that every user can write to', (at: string) => mkdirSync(at) === undefined && chmodSync(at, 0o777), 'chmod go-w'],
    ['that is a file', (at: string) => writeFileSync(at, ''), 'cannot be used'],
    ['that is a link to nothing', (at: string) => symlinkSync('/proc/none', at), 'cannot be used'],
    ['that leads into the data directory', (at: string) => symlinkSync('d', at), 'into the data directory'],
  ])('%s is refused, by doctor too', async (_what, make, says) => {
    const { office, input, at, env } = await witnessed()
    make(at)
    const ran = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'))
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(says)])
    expect(ran.stderr).toContain('TRANCHE_WITNESS_DIR')
    const doctor = await office.trancheWith(env, 'doctor')
    expect([doctor.code, doctor.stdout]).toEqual([2, expect.stringMatching(/^FIX {2}witness: TRANCHE_WITNESS_DIR/m)])
    expect(office.sandbox.received()).toBe(0)
  })

  test('that cannot be used is refused by every command', async () => {
    const { office, input, at, env } = await witnessed()
    writeFileSync(at, '')
    for (const args of [['init'], ['submit', input], ['worker', '--until-idle'], ['in-doubt', 'list']]) {
      const ended = await office.trancheWith(env, ...args)
      expect([ended.code, ended.stderr], args.join(' ')).toEqual([2, expect.stringContaining('TRANCHE_WITNESS_DIR')])
    }
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
    const { office, input, at } = await witnessed()
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
      const { office, input, at, env } = await witnessed()
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
  const { office, env } = await witnessed()
  const unknown = await office.trancheWith(env, 'doctor')
  expect([unknown.code, unknown.stdout]).toEqual([2, expect.stringContaining('FIX  witness: nothing outside')])
  const chosen = await office.trancheWith({ TRANCHE_WITNESS_DIR: 'none' }, 'doctor')
  expect(chosen.stdout).toContain('ok   witness: nothing outside the data directory remembers the ledger')
})

test('on one ledger, the witness of one environment knows what another one did, when a state from before is put back', async () =>
  expectKnownToBoth(await witnessed(), (_file, batch) => ['cancel', batch, '--reason', 'paid by bank transfer']))
