// Answers that wait in a file of the machine for a server that is away: they are as masked as those in the ledger.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { CardDetails } from '../../../../src/domain/card.ts'
import type { Outcome } from '../../../../src/domain/outcome.ts'
import { verdictOn } from '../../../../src/domain/verdict.ts'
import { settlementOf } from '../../../../src/processors/settlement.ts'
import { httpAnswer, openFaultyGateway } from '../../../fixtures/faulty-gateway.ts'
import { claimed, dueIn, NOW, refund, statesIn, submit } from '../../../fixtures/ledgers.ts'
import { openProxy } from '../../../fixtures/proxy.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../../fixtures/use-ledger.ts'
import { clientOf, GO, instructionOf, NEVER } from '../../../gateway/arrange.ts'

usePostgresLedger()

const CARD: CardDetails = { number: '378282246310005', code: '9173', expiry: { month: '12', year: '2030' } }
const MASK = { bin: '378282', lastFour: '0005', expiry: CARD.expiry }
const SALE = instructionOf('CAPTURE', { card: MASK, xtlOrderId: 'x1' })
const PASSWORD = 'sesame & "open"'

/** The gateway declines it, and says that besides. */
async function declined(said: string): Promise<Outcome> {
  await using gateway = await openFaultyGateway([
    async (visit) => {
      await visit.request()
      const answer = { REQUEST_ACTION: 'CAPTURE', TRANS_STATUS_NAME: 'DECLINED', XTL_ORDER_ID: 'x1', API_ADVICE: said }
      visit.write(httpAnswer(200, JSON.stringify(answer)))
    },
  ])
  await using client = clientOf(gateway.url)
  return await client.send(SALE, GO, NEVER, CARD)
}

test('an answer that repeats card number, security code or password is written down without them', async () => {
  const folder = new URL(postgres.address.url).searchParams.get('host')
  await using proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
  const cutOff = postgres.openAt(`postgres://tranche@127.0.0.1:${proxy.port}/postgres`, { answerWithinMs: 500 }, 'desk')
  const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
  const told = [`no funds on ${CARD.number}`, `no such code: ${CARD.code}`, `who is ${PASSWORD}?`]
  const settlements = []
  for (const [i, row] of (await dueIn(cutOff, batchId)).entries()) {
    const { attempt } = await claimed(cutOff, row)
    const outcome = await declined(told[i]!)
    const judging = { instruction: SALE, everInDoubt: false, notExecutedStatus: [], deleteAnswer: 'status' as const }
    const attempted = {
      attempt,
      outcome,
      verdict: verdictOn(outcome, judging),
      refused: null,
      atMs: NOW,
      backoffMs: 0,
      limited: false,
      reasonRules: [],
    }
    settlements.push(settlementOf(row, attempted).settlement)
  }
  proxy.treatStanding('reset')
  proxy.treat('reset')
  const settling = settlements.map((settlement) => cutOff.settle(settlement))
  try {
    const kept = () => readFileSync(postgres.answersAt('desk'), 'utf8')
    await expect.poll(() => kept().trimEnd().split('\n'), { timeout: 20_000 }).toHaveLength(3)
    expect(kept()).toContain('the answer repeated the card number; withheld')
    expect(kept()).toContain('no such code: ')
    expect(kept()).toContain('the answer repeated our credentials; withheld')
    for (const secret of [CARD.number, CARD.code, 'sesame', 'merchant-one']) expect(kept()).not.toContain(secret)
  } finally {
    proxy.treat('pass') // the worker is not dead here
    await Promise.all(settling)
  }
  expect(await statesIn(ledger, batchId)).toEqual(['DECLINED', 'DECLINED', 'DECLINED'])
})
