// A gateway that does not deserve kept connections: it says everything twice, leaves ids out and falls silent.
//
// HOSTILE_SEEDS=7,8   these seeds instead of the usual one; `npm run search -- --only kept` takes new ones

import { test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, orderOf, refundRow, saleRow, toCsv } from '../fixtures/files.ts'
import { openDice } from '../nemesis/schedule.ts'
import { httpAnswer, openRawGateway, type Script, toJson } from './gateway.ts'
import { lies } from './truth.ts'

const { HOSTILE_SEEDS = '1' } = process.env
const ORDERS = 20

test.concurrent.for(HOSTILE_SEEDS.split(',').map(Number))(
  'seed %i: an answer said twice on a kept connection is not taken for another row’s',
  async (seed, { expect, onTestFinished }) => {
    await using gateway = await openRawGateway()
    gateway.play(sayingTwice(seed))
    const office = await openOffice({
      env: {
        TRANCHE_GATEWAY_URL: gateway.url,
        TRANCHE_CONNECTIONS: 'warm',
        TRANCHE_IN_FLIGHT: '4',
        TRANCHE_TIMEOUT_MS: '2500',
      },
    })
    onTestFinished(() => office.close())
    const input = await office.put('in.csv', toCsv(rowsOf()))
    const out = office.path('out.csv')
    const code = await runToItsEnd(office, input, out)
    expect(lies(office.ledgerPath, gateway, { input, out })).toEqual([])
    const { APPROVED = 0, IN_DOUBT = 0, PENDING = 0, FAILED = 0 } = countsIn(out)
    expect(APPROVED).toBeGreaterThan(0)
    expect(IN_DOUBT).toBeGreaterThan(0) // else nothing was done to anything
    // A row waits behind a doubt of its own order, and then nothing goes on without a person.
    expect([APPROVED + IN_DOUBT + PENDING + FAILED, code]).toEqual([ORDERS * 4, PENDING > 0 ? 6 : 5])
  },
)

/** Three refunds of each order, of which the first two are of one amount, and a sale. */
function rowsOf(): FileRow[] {
  return Array.from({ length: ORDERS }, (_, n) => [
    refundRow(n, { reference: `A-${n}`, amount: '5.00', request_ref_po_id: orderOf(n) }),
    refundRow(n, { reference: `B-${n}`, amount: '5.00', request_ref_po_id: orderOf(n) }),
    refundRow(n, { reference: `C-${n}`, amount: '7.00', request_ref_po_id: orderOf(n) }),
    saleRow(n),
  ]).flat()
}

/** Each of what a code alone can say: later, wrong, not you. */
const REFUSALS = [429, 400, 403]

function sayingTwice(seed: number): Script {
  const dice = openDice(seed)
  return (_, line) => {
    const how = dice.below(30)
    if (how === 0) return // silence, and nothing is executed
    const refusal = REFUSALS[dice.below(REFUSALS.length * 4)]
    if (refusal !== undefined) {
      // Said again when the next request is there already.
      line.write(httpAnswer(refusal, 'not now'))
      line.socket.once('data', () => line.write(httpAnswer(refusal, 'not now')))
      return
    }
    const entry = line.execute()
    if (how === 1) return // silence
    const json = toJson(entry)
    const told = how < 5 ? json.replace(/"(TRANS_ORDER_ID|XTL_ORDER_ID)":[^,}]+,?/g, '').replace(/,\}$/, '}') : json
    const answer = httpAnswer(200, told)
    line.write(answer)
    // Now at once, now when the next request is there already, now as the connection ends.
    if (how % 3 === 0) line.write(answer)
    else if (how % 3 === 1) line.socket.once('data', () => line.write(answer))
    else line.end(answer)
  }
}

/** Ten doubts pause it; a person lets it go on. */
async function runToItsEnd(office: Office, input: string, out: string): Promise<number | null> {
  for (;;) {
    const ran = await office.tranche('run', input, '--out', out, '--allow-lookalikes', String(ORDERS), '--json')
    if (!/came into doubt/.test(ran.last.reason ?? '')) return ran.code
    await office.tranche('resume', ran.last.batch as string, '--reason', 'looked at it')
  }
}
