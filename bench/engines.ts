// Measures the two engines of the ledger side by side: recording a file, and claims with their settlements, by the real commands. Both have
// their turn in each round, on the same disk; the server is PostgreSQL 18 with its usual settings.
//
//   npx node bench/engines.ts [rows to record] [rows to send] [rounds]      default 1000000 20000 3

import { tmpdir } from 'node:os'
import { makeDirectory, newSchemaName, openCluster } from '../test/fixtures/postgres.ts'
import { openBench, QUICK } from './parts/bench.ts'
import { machineNow } from './parts/machine.ts'
import type { Office } from './parts/office.ts'
import { assertDone, type Ended, startTranche } from './parts/process.ts'

const [large = 1_000_000, sent = 20_000, rounds = 3] = process.argv.slice(2).map(Number)

const bench = openBench(QUICK, () => {})
const settings = ['shared_buffers=256MB', 'max_wal_size=4GB', 'full_page_writes=on']
const cluster = openCluster({ dir: makeDirectory(tmpdir()), settings })
process.once('exit', () => {
  bench.close()
  cluster.remove()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

interface Measured {
  readonly recordedASecond: number
  readonly recordingMiB: number
  readonly sentASecond: number
}

say(JSON.stringify(machineNow()))
const seen: { readonly file: Measured; readonly server: Measured }[] = []
for (let round = 0; round < rounds; round++) {
  const [first, second] = round % 2 === 0 ? (['file', 'server'] as const) : (['server', 'file'] as const)
  const of = { [first]: await measure(first), [second]: await measure(second) } as { file: Measured; server: Measured }
  seen.push(of)
  say(`round ${round + 1}: ${JSON.stringify(of)}`)
}
for (const what of ['recordedASecond', 'sentASecond', 'recordingMiB'] as const) {
  const ratios = seen.map(({ file, server }) => server[what] / file[what]).toSorted((one, other) => one - other)
  const told = [ratios[0], ratios[Math.floor(ratios.length / 2)], ratios.at(-1)].map((ratio) => ratio?.toFixed(3))
  say(`${what}, server over file: ${told.join(' / ')}`)
}
process.exit(0)

async function measure(where: 'file' | 'server'): Promise<Measured> {
  const recorded = await inOffice(where, (run) =>
    run('submit', bench.refunds(large), '--operation', 'REFUND', '--json'),
  )
  assertDone(recorded.last.accepted === large, `submit did not record ${large} rows`, recorded)
  const sentASecond = await inOffice(where, async (run, start) => {
    await run('submit', bench.refunds(sent), '--operation', 'REFUND', '--json')
    const gateway = await bench.gateway()
    const { last } = await gateway.begin(sent)
    const worker = start('worker', '--until-idle')
    await worker.meanwhile(last)
    await worker.ended
    const { firstMs, lastMs, requests, distinct } = await gateway.counted()
    if (requests !== sent || distinct !== sent) throw new Error(`${requests} requests for ${sent} rows`)
    return (sent * 1_000) / (lastMs - firstMs)
  })
  return { recordedASecond: large / recorded.seconds, recordingMiB: recorded.peakMiB, sentASecond }
}

type Start = (...args: readonly string[]) => ReturnType<typeof startTranche>

async function inOffice<T>(
  where: 'file' | 'server',
  use: (run: (...args: readonly string[]) => Promise<Ended>, start: Start) => Promise<T>,
): Promise<T> {
  const office: Office = await bench.office()
  const server = { TRANCHE_LEDGER_URL: cluster.url, TRANCHE_LEDGER_SCHEMA: newSchemaName() }
  const how = { ...office, env: { ...office.env, ...(where === 'server' && server) } }
  const start: Start = (...args) => startTranche(args, how)
  const run = async (...args: readonly string[]) => {
    const ended = await start(...args).ended
    assertDone(ended.code === 0, `tranche ${args[0]} did not end with 0`, ended)
    return ended
  }
  try {
    await run('init')
    return await use(run, start)
  } finally {
    office.close()
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
