// The same references at every door at once: messages, a submit, a run, an inbox, some with another amount or another order.

import { mkdir } from 'node:fs/promises'
import { Queue } from 'bullmq'
import { test } from 'vitest'
import { query, recordedIn } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { type FileRow, orderOf, refundRow, toCsv } from '../fixtures/files.ts'
import { openDice } from '../nemesis/schedule.ts'
import { openPlace, type Place } from './place.ts'

const REFERENCES = 60
const MESSAGES = 350
/** The order that a reference names where it names another than usual. */
const OTHER = 5_000

test.concurrent.for([1, 2])(
  'round %i: a reference is executed once, as the first door had it',
  async (round, { expect, onTestFinished }) => {
    await using place = await openPlace({ TRANCHE_IN_FLIGHT: '8' })
    const { office, gateway } = place
    const dice = openDice(round)
    const worker = await office.worker()
    const queue = new Queue('tranche-intake', { connection: { path: office.redisSocket } })
    queue.on('error', () => {})
    onTestFinished(() => queue.close())
    const inbox = office.path('in')
    await mkdir(inbox)
    const plain = Array.from({ length: REFERENCES }, (_, i) => refundRow(i + 1))
    const whole = await place.file('whole', plain)
    const half = await place.file('half', plain.slice(0, REFERENCES / 2))
    await office.put(
      'in/zeros.csv',
      toCsv(plain.map((row) => ({ ...row, request_ref_po_id: `00${row.request_ref_po_id}` }))),
    )

    const doors = [
      () => sendMessages(queue, dice.below),
      () => office.tranche('submit', whole.input),
      () => office.tranche('run', half.input, '--out', half.out),
      () => office.tranche('inbox', inbox, '--once', '--stable-for', '0'),
    ]
    // Each round another one is first.
    const ended = await Promise.all([...doors.slice(round), ...doors.slice(0, round)].map((door) => door()))
    for (const command of ended) if (command !== null) expect([0, 6, 7], command.stderr).toContain(command.code)
    const left = async () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized')
    await until('every message was taken', async () => (await left()) === 0, worker)
    const open = () => recordedIn(office).filter(({ state }) => state === 'READY' || state === 'SENDING')
    await until('every row is settled', () => open().length === 0, worker)
    const accepted = (await queue.getCompleted()).filter((job) => job.returnvalue.status === 'accepted')
    expect(await queue.getFailedCount()).toBe(MESSAGES - (await queue.getCompletedCount()))
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
    expect(accepted.length).toBe(new Set(accepted.map((job) => job.data.reference)).size)
    expect(recordedIn(office).filter(({ state }) => state === 'APPROVED')).toHaveLength(REFERENCES)
    const executed = plain.map((_, i) =>
      [orderOf(i + 1), orderOf(i + 1 + OTHER)].map((id) => gateway.executed().get(id) ?? 0),
    )
    expect(executed.filter(([usual = 0, other = 0]) => usual + other !== 1)).toEqual([])
    expect(place.lies(...(await reportsOf(place)))).toEqual([])
  },
)

/** Some as the files have them, some with another amount, another order, an order with zeros in front, and some that are wrong. */
async function sendMessages(queue: Queue, below: (n: number) => number): Promise<null> {
  const messages = Array.from({ length: MESSAGES }, (_, nth): object => {
    const n = (nth % REFERENCES) + 1
    const row = { schema_version: 1, ...refundRow(n) }
    const over: Partial<FileRow>[] = [
      {},
      { request_ref_po_id: `000${orderOf(n)}` },
      { amount: '77.77' },
      { request_ref_po_id: orderOf(n + OTHER) },
      { amount: '1e1' },
    ]
    return { ...row, ...over[below(over.length)] }
  })
  for (let at = 0; at < MESSAGES; at += 25)
    await queue.addBulk(messages.slice(at, at + 25).map((data) => ({ name: 'instruction', data })))
  return null
}

async function reportsOf({ office }: Place): Promise<{ input: null; out: string }[]> {
  const batches = query<{ id: string }>(office, "SELECT id FROM batch WHERE stage = 'open'")
  for (const { id } of batches) await office.tranche('results', id, '--out', office.path(`${id}.csv`))
  return batches.map(({ id }) => ({ input: null, out: office.path(`${id}.csv`) }))
}
