// How fast rows that were settled are told to an endpoint that answers after 5 ms: alone, and beside an endpoint that never answers.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openFileLedger } from '../../test/fixtures/file-ledger.ts'
import { CLERK, claim, dueIn, openAccount, refund, settle, submit } from '../../test/fixtures/ledgers.ts'
import type { Bench, Case, Line } from '../parts/case.ts'
import { ratiosOf } from '../parts/figures.ts'
import { plainEnvironment } from '../parts/office.ts'
import { startNode } from '../parts/process.ts'

const ANSWER_MS = 5
const DELIVERER = fileURLToPath(new URL('../../test/fixtures/child-deliverer.ts', import.meta.url))

export const webhooks: Case = {
  name: 'webhooks',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.told
    const { ours, other } = await bench.rounds({
      ours: () => tell(bench, rows, true),
      other: () => tell(bench, rows, false),
    })
    const what = `${rows} rows told, ${ANSWER_MS} ms an answer`
    return [
      { what, unit: 'rows/s', ours: other, goal: { atLeast: 200 } },
      {
        what: `${what}, beside a dead endpoint`,
        unit: 'rows/s',
        ours,
        other: { name: 'alone', figures: other },
        ratios: ratiosOf(ours, other),
        goal: { atLeast: 0.9 },
      },
    ]
  },
}

/** Rows a second, from the first delivery to the last. */
async function tell(bench: Bench, rows: number, withDead: boolean): Promise<number> {
  const dir = mkdtempSync(join(bench.root, 'w-'))
  const dataDir = join(dir, 'd')
  const good = await listenFor(rows)
  const dead = await listen(() => {})
  await settleAll(dataDir, rows, [good.url, ...(withDead ? [dead.url] : [])])
  const deliverer = startNode([DELIVERER, dataDir, join(dir, 'no-redis.sock')], {
    ...{ env: plainEnvironment(), dir, bare: true },
  })
  try {
    const { firstMs, lastMs } = await deliverer.meanwhile(good.told)
    return ((rows - 1) * 1_000) / (lastMs - firstMs)
  } finally {
    deliverer.kill('SIGKILL')
    await deliverer.ended
    good.close()
    dead.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function settleAll(dataDir: string, rows: number, urls: readonly string[]): Promise<void> {
  const ledger = await openFileLedger(dataDir)
  const accountId = await openAccount(ledger)
  const endpoint = { secret: 'whsec_AAAA', types: ['row.settled'], merchant: null, allowsPrivate: true }
  for (const [i, url] of urls.entries())
    await ledger.addEndpoint({ id: `ep_${i}`, url, ...endpoint }, CLERK, Date.now())
  const refunds = Array.from({ length: rows }, (_, i) => refund(`R${i}`))
  const batchId = await submit(ledger, accountId, refunds)
  for (let due = await dueIn(ledger, batchId); due.length > 0; due = await dueIn(ledger, batchId))
    await Promise.all(
      due.map(async (row) => {
        const { attempt } = (await claim(ledger, row)) as { attempt: number }
        await settle(ledger, { rowId: row.rowId, attempt }, 'APPROVED')
      }),
    )
  await ledger.close()
}

interface Told {
  readonly firstMs: number
  readonly lastMs: number
}

interface Receiver {
  readonly url: string
  close(): void
}

/** Answers each delivery; `told` resolves when every row has come, which must be once. */
async function listenFor(rows: number): Promise<Receiver & { readonly told: Promise<Told> }> {
  const { promise: told, resolve, reject } = Promise.withResolvers<Told>()
  const ids = new Set<string | undefined>()
  let firstMs = 0
  const receiver = await listen((id, respond) => {
    setTimeout(() => {
      respond()
      if (ids.size === 0) firstMs = performance.now()
      if (ids.has(id)) return reject(new Error(`${id} was told twice`))
      ids.add(id)
      if (ids.size === rows) resolve({ firstMs, lastMs: performance.now() })
    }, ANSWER_MS)
  })
  return { ...receiver, told }
}

async function listen(answer: (id: string | undefined, respond: () => void) => void): Promise<Receiver> {
  const server = createServer((request, response) => {
    const id = request.headers['webhook-id'] as string | undefined
    request.resume().on('end', () => answer(id, () => response.writeHead(204).end()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}
