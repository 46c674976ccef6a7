// What the tests of the witness share.

import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import type { Office } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { useOffices } from './copying.ts'

const ROWS = 3

interface Witnessed {
  readonly office: Office
  /** A file to run. */
  readonly input: string
  /** The directory of the witness, which nobody has made. */
  readonly at: string
  readonly env: NodeJS.ProcessEnv
}

export function useWitnessed(): () => Promise<Witnessed> {
  const open = useOffices()
  return async () => {
    const office = await open()
    const rows = refunds(ROWS)
    office.sandbox.prepare(preparationFor(rows))
    const at = office.path('named')
    return { office, input: await office.put('in.csv', toCsv(rows)), at, env: { TRANCHE_WITNESS_DIR: at } }
  }
}

/** What is done under a second witness; a state from before it is then put back under the first one. */
export async function expectKnownToBoth(
  { office, input, env }: Witnessed,
  command: (file: string, batch: string) => readonly string[],
): Promise<void> {
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
}
