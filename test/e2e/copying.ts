// What the tests of copied ledgers share.

import { execFileSync } from 'node:child_process'
import { afterEach, expect } from 'vitest'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

/** Opens offices that are closed after the test. */
export function useOffices(): typeof openOffice {
  const offices: Office[] = []
  afterEach(async () => {
    for (const office of offices.splice(0).toReversed()) await office.close()
  })
  return async (options) => {
    const office = await openOffice({ ...options, apart: true })
    offices.push(office)
    return office
  }
}

export async function submitted(office: Office, count: number, first = 1): Promise<{ input: string; batch: string }> {
  const rows = refunds(count, first)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put(`in-${first}.csv`, toCsv(rows))
  const said = await office.tranche('submit', input, '--json')
  expect(said.code, said.stderr).toBe(0)
  return { input, batch: said.last.batch as string }
}

/** Files as an operator copies them; by a process of its own, because this one must not touch an open ledger. */
export function copy(...args: readonly string[]): void {
  execFileSync('cp', args)
}

export const statesOf = (office: Office) => recordedIn(office).map((row) => row.state)
export const approved = (office: Office) => statesOf(office).filter((state) => state === 'APPROVED').length
