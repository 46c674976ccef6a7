// Another side of the worker: a task of graphile-worker per row on a PostgreSQL that syncs each commit, set as its makers advise for many
// short tasks: a local queue, and completions in batches. A task is claimed durably before it runs; one that was running when its worker died
// runs again. All tasks are added first; then one worker takes them. No verdict.
//
//   graphile.ts SERVER_DIR SERVER_URL URL ROWS OPEN

import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'undici'
import { amountOf, FIRST_ORDER } from '../parts/files.ts'
import { momentMs, serverCpuMsIn } from '../parts/moment.ts'
import { refund } from './refund.ts'

const [serverDir, connectionString, url, rowCount, openCount] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const [rows, open] = [Number(rowCount), Number(openCount)]
const TASKS_AT_ONCE = 1_000
const options = { connectionString, schema: `graphile_${process.pid}`, logger: new Logger(() => () => {}) }

const utils = await makeWorkerUtils(options)
await utils.migrate()
for (let from = 0; from < rows; from += TASKS_AT_ONCE) await utils.addJobs(tasksFrom(from))
const before = serverCpuMsIn(serverDir)
const worked = await work()
console.log(JSON.stringify({ ...worked, serverMs: serverCpuMsIn(serverDir) - before }))
process.exit()

function tasksFrom(from: number) {
  return Array.from({ length: Math.min(TASKS_AT_ONCE, rows - from) }, (_, i) => ({
    identifier: 'row',
    payload: { amount: amountOf(from + i), orderId: String(FIRST_ORDER + from + i) },
    maxAttempts: 1,
  }))
}

async function work(): Promise<{ approved: number; endMs: number }> {
  const pool = new Pool(url, { connections: open, pipelining: 1 })
  const runner = await run({
    ...options,
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: open,
        maxPoolSize: 20,
        localQueue: { size: 200 },
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
      },
    },
    taskList: {
      async row(payload) {
        const { amount, orderId } = payload as { amount: string; orderId: string }
        await refund(pool, amount, orderId)
      },
    },
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let approved = 0
  runner.events.on('job:success', () => {
    approved += 1
    if (approved === rows) resolve()
  })
  runner.events.on('job:error', ({ error }) => reject(error))
  await promise
  const endMs = momentMs()
  await runner.stop() // what was completed is written by then
  return { approved, endMs }
}
