// Measures how fast rows are told to a webhook endpoint that answers after 5 ms, alone and beside one that never answers. The goal is 200 a
// second, and no more than a tenth less beside the dead one.
//
//   npx node bench/webhooks.ts [rows] [rounds]      default 2000 3

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../test/fixtures/children.ts'
import { until } from '../test/fixtures/cli.ts'
import { openFileLedger } from '../test/fixtures/file-ledger.ts'
import { CLERK, claim, dueIn, openAccount, refund, settle, submit } from '../test/fixtures/ledgers.ts'
import { machineNow } from './parts/machine.ts'

const [rows = 2_000, rounds = 3] = process.argv.slice(2).map(Number)
const ANSWER_MS = 5

console.log(JSON.stringify(machineNow()))
for (let round = 1; round <= rounds; round += 1) {
  const [alone, besideDead] = [await measure(false), await measure(true)]
  console.log(`round ${round}: ${JSON.stringify({ rows, alone, besideDead })}`)
}
process.exit(0)

/** Deliveries a second, from the first to the last. */
async function measure(withDead: boolean): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'bw-'))
  const dataDir = join(dir, 'd')
  const ledger = await openFileLedger(dataDir)
  const times: number[] = []
  const good = await listen((respond) => {
    setTimeout(() => {
      times.push(performance.now())
      respond()
    }, ANSWER_MS)
  })
  const dead = await listen(() => {})
  const endpoint = { secret: 'whsec_AAAA', types: ['row.settled'], merchant: null, allowsPrivate: true }
  const accountId = await openAccount(ledger)
  await ledger.addEndpoint({ id: 'ep_good', url: good.url, ...endpoint }, CLERK, Date.now())
  if (withDead) await ledger.addEndpoint({ id: 'ep_dead', url: dead.url, ...endpoint }, CLERK, Date.now())
  const batchId = await submit(
    ledger,
    accountId,
    Array.from({ length: rows }, (_, i) => refund(`R${i}`)),
  )
  for (let due = await dueIn(ledger, batchId); due.length > 0; due = await dueIn(ledger, batchId))
    await Promise.all(
      due.map(async (row) => {
        const { attempt } = (await claim(ledger, row)) as { attempt: number }
        await settle(ledger, { rowId: row.rowId, attempt }, 'APPROVED')
      }),
    )
  const child = startChild('child-deliverer.ts', dataDir, join(dir, 'no-redis.sock'))
  await until('all are delivered', () => times.length >= rows)
  await child.kill()
  await ledger.close()
  good.close()
  dead.close()
  await rm(dir, { recursive: true, force: true })
  return Math.round(((times.length - 1) * 1_000) / ((times.at(-1) as number) - (times[0] as number)))
}

async function listen(answer: (respond: () => void) => void): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(() => response.writeHead(204).end()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}
