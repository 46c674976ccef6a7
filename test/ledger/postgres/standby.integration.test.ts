// What is claimed while the server waits for no standby that has it: on a server of its own, because this is a setting of the whole server.

import { expect, onTestFinished, test } from 'vitest'
import { claim, dueRow, NOW, openAccount, refund, statesIn, submit } from '../../fixtures/ledgers.ts'
import { openCluster, query } from '../../fixtures/postgres.ts'
import { postgresPlaceOn } from '../../fixtures/postgres-places.ts'

test('a claim whose wait for a standby was called off is not told while it could be sent, whatever is set meanwhile', async () => {
  const cluster = openCluster()
  onTestFinished(() => cluster.remove())
  const place = await postgresPlaceOn(cluster.url)
  onTestFinished(() => place.remove())
  const first = place.open()
  const batchId = await submit(first, await openAccount(first), [refund('A')])
  await first.close()
  const names = async (name: string) => {
    await query(cluster.url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await query(cluster.url, 'SELECT pg_reload_conf()')
    const shown = () => query(cluster.url, 'SHOW synchronous_standby_names')
    await expect.poll(shown, { timeout: 20_000 }).toEqual([{ synchronous_standby_names: name }])
  }
  const careful = place.openAt(cluster.url, {}, 'careful', { failover: 'synchronous' })
  const row = await dueRow(careful, batchId, 'A')
  await expect(claim(careful, row)).resolves.toMatchObject({ kind: 'not-free' })
  await names('none_there')
  const told: unknown[] = []
  void claim(careful, row, NOW, Date.now() + 30_000).then((answer) => told.push(answer)) // later than this test ends
  // Of all that wait for a standby, beats too, the claim alone holds the turnstile.
  const waits = () =>
    query(
      cluster.url,
      "SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE wait_event = 'SyncRep' AND locktype = 'advisory' AND classid = 20817001",
    )
  await expect.poll(async () => (await waits()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  await names('')
  await expect.poll(() => statesIn(careful, batchId), { timeout: 20_000 }).toEqual(['SENDING'])
  const look = async () => {
    for (let reads = 0; reads < 20; reads += 1) await careful.batches()
    return told
  }
  expect(await look()).toEqual([])
  await names('none_there')
  expect(await look()).toEqual([])
  await names('') // or the close would wait for it
})
