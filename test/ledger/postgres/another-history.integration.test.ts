// A ledger that remembers another server, database or timeline than it is on. Nothing is sent from it, and nothing taken in, until a person has
// adopted it.

import { expect, test } from 'vitest'
import { CLERK, claim, dueIn, heartbeatOf, messageOf, NOW, refund, statesIn, submit } from '../../fixtures/ledgers.ts'
import { queryIn } from '../../fixtures/postgres.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const inDatabase = (text: string) => queryIn(postgres.address, text)
const rememberAnother = (what: string) => inDatabase(`UPDATE meta SET value = '1' WHERE key = '${what}'`)

test('a ledger that was dumped and restored elsewhere sends nothing until it is adopted', async () => {
  await rememberAnother('system_id')
  expect(await ledger.alarm()).toMatchObject({ kind: 'elsewhere' })
  await ledger.adopt('moved', 'new server', CLERK, NOW)
  expect(await ledger.alarm()).toBe(null)
})

test.each(['timeline', 'database'])('a worker claims nothing and may not send on another %s', async (what) => {
  const [a] = await dueIn(ledger, await submit(ledger, accountId, [refund('A')]))
  await ledger.beat(heartbeatOf('x:1'))
  expect(ledger.maySend()).toBe(true)
  await rememberAnother(what)
  expect(await claim(ledger, a!)).toEqual({ kind: 'not-free' })
  await ledger.beat(heartbeatOf('x:1'))
  expect(ledger.maySend()).toBe(false)
})

test('what comes in is not acknowledged on another timeline, and is recorded when a person has adopted it', async () => {
  await rememberAnother('timeline')
  const hand = () => ledger.recordMessage(messageOf(accountId, refund('M')))
  const file = () => submit(ledger, accountId, [refund('A')])
  const refused = { code: 'unavailable', message: expect.stringMatching(/replaced or put back.*Nothing was recorded/) }
  await expect(hand()).rejects.toMatchObject(refused)
  await expect(file()).rejects.toMatchObject(refused)
  expect(await inDatabase('SELECT 1 FROM instruction UNION ALL SELECT 1 FROM batch')).toEqual([])
  await ledger.adopt('moved', 'it took over', CLERK, NOW)
  expect(await hand()).toMatchObject({ kind: 'accepted' })
  expect(await statesIn(ledger, await file())).toEqual(['READY'])
})
