// Who did what: recorded beside what a person claims, and told by tranche log.

import { afterEach, expect, test } from 'vitest'
import { query } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

/** As sudo sets it for what it starts. */
const BY_SUDO = { SUDO_USER: 'alice', SUDO_UID: '4001' }

async function submitted(count = 3): Promise<string> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  const said = await office.tranche('submit', await office.put('in.csv', toCsv(rows)), '--json')
  expect(said.code, said.stderr).toBe(0)
  return said.last.batch as string
}

test('an act under sudo names the person behind it, beside the name that was claimed', async () => {
  office = await openOffice()
  const batch = await submitted()
  const paused = await office.trancheWith(BY_SUDO, '--as', 'Carol', 'pause', batch, '--reason', 'look first')
  expect(paused.code, paused.stderr).toBe(0)

  const [act] = query(office, "SELECT by FROM act WHERE what = 'pause'")
  expect((act as { by: string }).by).toMatch(/^alice@\S+ \(sudo, as \S+\), says "Carol"$/)
})

test('rows that a person cancelled have the parts of who did it in their history', async () => {
  office = await openOffice()
  const batch = await submitted()
  await office.trancheWith(BY_SUDO, '--as', 'Carol', 'cancel', batch, '--reason', 'the wrong file')
  const said = await office.trancheWith(BY_SUDO, 'history', 'R-1', '--json')
  expect(said.last.moves[0]).toMatchObject({ cause: 'recorded', actor: { sudo_user: null, as: null } })
  expect(said.last.moves.at(-1)).toMatchObject({
    cause: 'cancel',
    by: expect.stringMatching(/^alice@/),
    actor: { sudo_user: 'alice', sudo_uid: 4001, as: 'Carol' },
  })
})
