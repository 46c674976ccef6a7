// A gateway that repeats what it was sent: the password, card numbers, security codes and what moves a terminal, in every
// field, name, header and writing, with every kind of verdict. Afterwards nothing of it stands anywhere.
//
// HOSTILE_SEEDS=7,8   these mixtures instead of the usual one; a failure names its seed

import { readFileSync } from 'node:fs'
import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readCsv } from '../fixtures/books.ts'
import { openOffice } from '../fixtures/cli.ts'
import { refundRow, toCsv } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { type Dice, openDice } from '../nemesis/schedule.ts'
import { jsonIn, KINDS, type Kind, PASSWORD, saidIn, USERNAME, WRITINGS } from './canaries.ts'
import { answerTruly, httpAnswer, type Line, openRawGateway, type Script } from './gateway.ts'
import { leaksIn } from './leaks.ts'

const { HOSTILE_SEEDS = '1' } = process.env

interface Said {
  readonly kind: Kind
  readonly writing: string
}

interface Told {
  readonly order: string
  /** The canaries as a string of JSON, and as they stand. */
  readonly json: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

interface Play {
  readonly status: 'APPROVED' | 'DECLINED' | 'FAILED' | 'IN_DOUBT'
  readonly play: (told: Told, line: Line) => void
}

/** Around the fields that make the verdict: free fields, names, nested values and numbers. */
function answer({ order, json, text, headers }: Told, fields: string, status: string, code = 200): Buffer {
  const key = json.length < 3_000 ? json : '"k"'
  const nested = `"${'x'.repeat(40)}":{${key}:[${json},{"deeper":{${key}:${json}}}]},"echo":${JSON.stringify(text)}`
  const free = `"API_ADVICE":${json},"SERVICE_ADVICE":${JSON.stringify(text)},"ERROR_MESSAGE":${json},"card":{"cvv":"737"}`
  const own = fields.includes('TRANS_ORDER_ID') ? '' : `"TRANS_ORDER_ID":${order},`
  return httpAnswer(
    code,
    `{${own}${status === '' ? '' : `"TRANS_STATUS_NAME":${status},`}${fields}${free},${nested}}`,
    headers,
  )
}

const REFUND = '"REQUEST_ACTION":"REFUND",'

/** By what becomes of the row. */
const PLAYS: readonly Play[] = [
  {
    status: 'APPROVED',
    play: (told, line) =>
      line.write(
        answer(
          told,
          `${REFUND}"TRANS_REQUEST_ID":"${told.order} ${told.json.slice(1)},"CUSTOMER_VAULT_ID":${told.json},`,
          '"APPROVED"',
        ),
      ),
  },
  {
    status: 'DECLINED',
    play: (told, line) =>
      line.write(
        answer(
          told,
          `${REFUND}"TRANS_VALUE":${told.json},"TRANS_CUR":${told.json},"TRANS_RECORD_ID":${told.json},`,
          '"DECLINED"',
        ),
      ),
  },
  {
    status: 'DECLINED',
    play: (told, line) => line.write(answer(told, `"XTL_ORDER_ID":${told.json},`, '"DECLINED"', 409)),
  },
  {
    status: 'FAILED',
    play: (told, line) =>
      line.write(httpAnswer(400, `{"ERROR_MESSAGE":${told.json},"why":${told.json}}`, told.headers)),
  },
  {
    status: 'FAILED',
    play: (told, line) => line.write(httpAnswer(422, `refused ${told.text}`.replace(/["<>[\]{}]/g, ' '), told.headers)),
  },
  {
    status: 'FAILED',
    play: (told, line) => line.write(httpAnswer(415, `<html><body>${told.text}</body></html>`, told.headers)),
  },
  { status: 'IN_DOUBT', play: (told, line) => line.write(answer(told, REFUND, told.json)) },
  {
    status: 'IN_DOUBT',
    play: (told, line) => line.write(answer(told, `"REQUEST_ACTION":${told.json},`, '"APPROVED"')),
  },
  {
    status: 'IN_DOUBT',
    play: (told, line) => line.write(answer(told, `"TRANS_ORDER_ID":${told.json},`, '"APPROVED"')),
  },
  {
    status: 'IN_DOUBT',
    play: (told, line) => line.end(httpAnswer(200, `{"half":${told.json},"TRANS_STATUS_NAME":`, told.headers)),
  },
  {
    status: 'IN_DOUBT',
    play: (told, line) => line.write(httpAnswer(503, `${told.text}`, { ...told.headers, 'retry-after': '0' })),
  },
]

const DOUBTS_IN_A_RUN = 8

interface Part extends Said {
  readonly play: Play
}

/** An answer may hide in it, so that no code of refusal is believed beside it. */
function isOpaque({ writing, kind }: Said): boolean {
  return kind === 'escapes' || writing === 'base64' || writing === 'hexadecimal'
}

/** Every kind in every writing once, in a doubt and twice without one. */
function runsOf(dice: Dice): Part[][] {
  const pick = <T>(all: readonly T[]) => all[dice.below(all.length)] as T
  const certainIn = (said: Said) =>
    PLAYS.filter(({ status }) => status !== 'IN_DOUBT' && !(status === 'FAILED' && isOpaque(said)))
  const doubts = PLAYS.filter(({ status }) => status === 'IN_DOUBT')
  const threes = WRITINGS.flatMap((writing) => KINDS.map((kind) => ({ writing, kind }))).map((said) =>
    [pick(certainIn(said)), pick(doubts), pick(certainIn(said))].map((play) => ({ ...said, play })),
  )
  const runs: Part[][] = []
  for (let at = 0; at < threes.length; at += DOUBTS_IN_A_RUN) runs.push(threes.slice(at, at + DOUBTS_IN_A_RUN).flat())
  return runs
}

const HEADERS = {
  'x-echo': `${PASSWORD} 4111111111111111`,
  'content-type': PASSWORD,
  'set-cookie': 'cvv=737',
  'retry-after': PASSWORD,
}

function scriptOf(partOf: ReadonlyMap<string, Part>): Script {
  return (asked, line) => {
    const part = partOf.get(asked.target)
    if (part === undefined) return answerTruly(asked, line, line.execute())
    const { writing, kind, play } = part
    play.play({ order: asked.target, json: jsonIn(writing, kind), text: saidIn(writing, kind), headers: HEADERS }, line)
  }
}

test.for(HOSTILE_SEEDS.split(',').map(Number))(
  'mixture %i: nothing of what a gateway repeats is kept or shown',
  async (seed) => {
    const dice = openDice(seed)
    await using gateway = await openRawGateway()
    const office = await openOffice({ apart: true })
    await using redis = await openRedisServer(office.path('r.sock'))
    const env = {
      TRANCHE_GATEWAY_URL: gateway.url,
      TRANCHE_GATEWAY_USERNAME: USERNAME,
      TRANCHE_GATEWAY_PASSWORD: PASSWORD,
      TRANCHE_REDIS_URL: redis.path,
      TRANCHE_IN_FLIGHT: '4',
      TRANCHE_LOG_LEVEL: 'trace',
    }
    try {
      const shown: string[] = []
      const tranche = async (...args: readonly string[]) => {
        const ended = await office.trancheWith(env, ...args)
        shown.push(ended.stdout, ended.stderr)
        return ended
      }
      const wrong: string[] = []
      const references: string[] = []
      let rowsSoFar = 0
      const nextRow = () => {
        rowsSoFar += 1
        return rowsSoFar
      }
      for (const [run, parts] of runsOf(dice).entries()) {
        const rows = parts.map((part) => ({ row: refundRow(nextRow()), part }))
        gateway.play(scriptOf(new Map(rows.map(({ row, part }) => [row.request_ref_po_id as string, part]))))
        const input = await office.put(`in-${run}.csv`, toCsv(rows.map(({ row }) => row)))
        const out = office.path(`out-${run}.csv`)
        const ran = await tranche('run', input, '--out', out, '--exceptions', office.path(`look-${run}.csv`))
        expect(ran.code, ran.stderr).toBe(5)
        // Ten doubts would hold the account: a person has looked at these.
        expect((await tranche('resume', '--merchant', 'default', '--reason', 'looked')).code).toBe(0)
        const lines = readCsv(out)
        for (const [i, { part }] of rows.entries()) {
          const line = lines[i]
          if (line?.result_status === part.play.status) continue
          wrong.push(
            `${part.writing}, ${part.kind} is ${line?.result_status} (${line?.result_reason}), not ${part.play.status}`,
          )
        }
        references.push(`R-${rowsSoFar - dice.below(rows.length)}`)
        shown.push(readFileSync(out, 'utf8'), readFileSync(office.path(`look-${run}.csv`), 'utf8'))
      }
      expect(wrong).toEqual([])
      expect(shown.join('').match(/repeats our password/g)).toHaveLength(runsOf(openDice(seed)).length)

      const [{ batch }] = (await tranche('status', '--json')).last.batches
      await tranche('status', batch)
      await tranche('in-doubt', 'list')
      await tranche('in-doubt', 'list', '--out', office.path('doubts.csv'))
      shown.push(readFileSync(office.path('doubts.csv'), 'utf8'))
      await tranche('in-doubt', 'list', '--json')
      for (const reference of references.slice(0, 6)) await tranche('history', reference)
      await tranche('history', references[0] as string, '--json')
      await tranche('results', batch, '--out', office.path('out.xlsx'))
      for (const bytes of Object.values(unzipSync(readFileSync(office.path('out.xlsx')))))
        shown.push(Buffer.from(bytes).toString())

      expect(await leaksIn(office, shown, redis.path)).toEqual([])
    } finally {
      await office.close()
    }
  },
)
