// People, files, services and the environment put in what must never be kept: card data, our password, and what moves a
// terminal, in every place that takes a text and every writing that reads as text. Afterwards nothing of it stands anywhere.
//
// HOSTILE_SEEDS=7,8   these mixtures instead of the usual one; a failure names its seed

import { mkdirSync, readFileSync } from 'node:fs'
import { Queue } from 'bullmq'
import { expect, test } from 'vitest'
import { type Ended, type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refundRow, toCsv } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { openDice } from '../nemesis/schedule.ts'
import { CANARIES_IN, PASSWORD, type Put, WRITINGS_IN, writtenAs } from './canaries.ts'
import { leaksIn } from './leaks.ts'

const { HOSTILE_SEEDS = '1' } = process.env

/** Commands are processes: so many run beside each other. */
const AT_ONCE = 4

interface Actor {
  readonly office: Office
  tranche(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>
  /** The path of a file with one good refund, changed in one place. */
  file(change?: (csv: string) => string): Promise<string>
  /** Resolves when the message is in the intake queue. */
  send(over: object, name?: string, jobId?: string): Promise<unknown>
}

/** What is done with the text, by where it stands then. Card data ends it with one of these codes. */
type Act = (by: Actor, text: string) => Promise<readonly [Ended, ...(readonly number[])] | null>

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const inNote = (text: string) => (csv: string) => csv.replace(/,\n$/, () => `,${quoted(text)}\n`)
const inHeader = (text: string) => (csv: string) => csv.replace('note', () => quoted(text))
const inField = (field: RegExp, text: string) => (csv: string) => csv.replace(field, () => quoted(text))
/** A slash parts folders; a name has 255 bytes at most. */
const asName = (text: string) => text.replaceAll('/', '_').slice(0, 120)

const PUTS: Readonly<Record<Put, readonly Act[]>> = {
  'a cell': [
    async ({ tranche, file }, text) => [await tranche(['submit', await file(inNote(text))]), 7],
    async ({ tranche, file }, text) => [await tranche(['submit', await file(inField(/R-\d+/, text))]), 7],
    async ({ tranche, file }, text) => [await tranche(['check', await file(inField(/\d+\.01/, text)), '--json']), 7],
    async ({ tranche, file, office }, text) => {
      const input = await file(inField(/\d+\.01/, text))
      const rejects = office.path(`made/${input.replace(/.*\//, '')}`)
      return [await tranche(['check', input, '--rejects', rejects]), 7]
    },
  ],
  'a name': [
    async ({ tranche, file }, text) => [await tranche(['check', await file(inHeader(text)), '--json']), 7],
    async ({ tranche, file, office }, text) => {
      const path = await office.put(`${asName(text)}.csv`, readFileSync(await file(), 'utf8'))
      await tranche(['check', path, '--json'])
      await tranche(['submit', path])
      return null
    },
  ],
  'an option': [
    async ({ tranche }, text) => [await tranche(['cancel', 'b1', '--reason', text]), 2],
    async ({ tranche }, text) => [await tranche(['--as', text, 'cancel', 'b1', '--reason', 'why']), 2],
    async ({ tranche, file }, text) => [await tranche(['submit', await file(), '--run-key', text]), 2],
    async ({ tranche, file }, text) => [await tranche(['check', await file(), '--map', `amount=${text}`]), 2],
    async ({ tranche }, text) => [await tranche(['status', `--${text}`]), 2],
    async ({ tranche }, text) => [await tranche(['status', text, '--json']), 2],
    async ({ tranche }, text) => [await tranche([text]), 2],
  ],
  'a message': [
    async ({ send }, text) => {
      await send({ cust_fname: text })
      await send({ [text]: 'x' })
      await send({ reference: text })
      await send({}, 'refund', `id ${text}`)
      await send({}, text)
      return null
    },
  ],
  'the environment': [
    async ({ tranche }, text) => [await tranche(['status', '--json'], { TRANCHE_RATE: text }), 0],
    async ({ tranche }, text) => [await tranche(['worker', '--json'], { TRANCHE_RATE: text }), 2],
    async ({ tranche }, text) => [await tranche(['doctor'], { TRANCHE_CONFIG: `/nowhere/${text}` }), 2],
    async ({ tranche, file }, text) => {
      const input = await file()
      await tranche(['submit', input], { USER: text, LOGNAME: text, SUDO_USER: text, SUDO_UID: text, TERM: text })
      return null
    },
  ],
}

/** A person's own cells come back in the results as they were, and a file has the name it has; a screen shows both escaped. */
const KEPT_AS_IT_IS = /^(?:instruction\.cells|batch\.file_name) /

test.for(HOSTILE_SEEDS.split(',').map(Number))(
  'mixture %i: nothing of what is put in is kept or shown',
  async (seed) => {
    const dice = openDice(seed)
    const pick = <T>(all: readonly T[]) => all[dice.below(all.length)] as T
    const office = await openOffice({ apart: true, password: PASSWORD })
    await using redis = await openRedisServer(office.path('r.sock'))
    const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
    mkdirSync(office.path('made'))
    const env = { TRANCHE_GATEWAY_PASSWORD: PASSWORD, TRANCHE_REDIS_URL: redis.path, TRANCHE_LOG_LEVEL: 'trace' }
    const shown: string[] = []
    let rows = 0
    const nextRow = () => {
      rows += 1
      const row = refundRow(rows)
      office.sandbox.prepare(preparationFor([row]))
      return row
    }
    const by: Actor = {
      office,
      async tranche(args, over = {}) {
        const ended = await office.trancheWith({ ...env, ...over }, ...args)
        shown.push(ended.stdout, ended.stderr)
        return ended
      },
      file(change = (csv) => csv) {
        const row = nextRow()
        return office.put(`${row.reference}.csv`, change(toCsv([row])))
      },
      send: (over, name = 'refund', jobId = undefined) =>
        queue.add(name, { schema_version: 1, ...nextRow(), ...over }, { ...(jobId === undefined ? {} : { jobId }) }),
    }
    try {
      const tries = Object.entries(PUTS).flatMap(([put, acts]) =>
        acts.flatMap((act, i) => {
          const cards = WRITINGS_IN.map((writing) => ({ writing, canary: pick(CANARIES_IN['card data']) }))
          const escapes = [{ writing: 'as it is', canary: pick(CANARIES_IN.escapes) }]
          const ours = put === 'the environment' ? [{ writing: 'as it is', canary: PASSWORD }] : []
          return [...cards, ...escapes, ...ours].map((said) => ({ ...said, place: `${put} (${i})`, act }))
        }),
      )
      const taken: string[] = []
      const tryOn = async ({ writing, canary, place, act }: (typeof tries)[number]) => {
        const done = await act(by, writtenAs(writing, canary))
        if (done === null || !(CANARIES_IN['card data'] as readonly string[]).includes(canary)) return
        const [{ code, stderr }, ...right] = done
        if (!right.includes(code ?? -1)) taken.push(`${place}, ${writing}, ${canary}: ${code} ${stderr}`)
      }
      const left = tries.values()
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const one of left) await tryOn(one)
        }),
      )
      expect(taken).toEqual([])
      const worker = office.startWith(env, 'worker', '--json')
      const isTaken = async () => {
        const { waiting, active, delayed, prioritized } = await queue.getJobCounts()
        return [waiting, active, delayed, prioritized].every((count) => count === 0)
      }
      await until('all messages are taken', isTaken, worker)
      worker.kill('SIGTERM')
      const { stdout, stderr } = await worker.ended
      shown.push(stdout, stderr)
      await by.tranche(['status', '--json'])
      await by.tranche(['log', '--json'])
      await by.tranche(['backup', office.path('made/backup.db')])
      await queue.close()

      const leaks = await leaksIn(office, shown, redis.path, office.path('made'))
      expect(leaks.filter((leak) => !KEPT_AS_IT_IS.test(leak))).toEqual([])
    } finally {
      await office.close()
    }
  },
)
