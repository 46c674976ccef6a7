// Links of the chain, where several processes add them.

import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/app/clock.ts'
import { engineOn } from '../../../src/ledger/postgres/engine.ts'
import { THIS_MACHINE } from '../../../src/ledger/postgres/machine.ts'
import { createReads, quietBy } from '../../../src/ledger/postgres/reads.ts'
import { sealRecord } from '../../../src/ledger/postgres/seal.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { createSessions } from '../../../src/ledger/postgres/sessions.ts'
import { createTransactor } from '../../../src/ledger/postgres/transactor.ts'
import { type Engine, FAULTING } from '../../../src/ledger/texts/engine.ts'
import { addLink, nextLink } from '../../../src/ledger/texts/record/chain.ts'
import { refund, submit } from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

function openEngine(): Engine {
  const sessions = createSessions(() => openSession(postgres.address))
  onTestFinished(() => sessions.closeAll())
  const die = (error: unknown): never => {
    throw error
  }
  const { schema } = postgres.address
  const transactor = () =>
    createTransactor({ ...TRANSACTOR_HERE, schema, die, connect: sessions.kept(), reconnect: sessions.open })
  const reads = createReads(sessions.open, quietBy(transactor()), systemClock)
  return engineOn(transactor(), reads, THIS_MACHINE.turns)
}

test('whoever asked for a seal has one over all that was committed before, although another process adds a shorter link first', async () => {
  const engine = openEngine()
  await submit(ledger, accountId, [refund('A')])
  const shorter = await engine.read(nextLink, 'settled')
  await submit(ledger, accountId, [refund('B')])
  let isFirst = true
  const overtaken: Engine = {
    ...engine,
    async write(script, mode) {
      if (isFirst) {
        isFirst = false
        expect(await engine.write(() => addLink(shorter!.link), FAULTING)).toBe(true)
      }
      return engine.write(script, mode)
    },
  }
  await sealRecord(overtaken)
  const { url, schema } = postgres.address
  const [left] = await query<{ moves: boolean; acts: boolean; recorded: boolean }>(
    url,
    `SELECT coalesce((SELECT max(id) FROM ${schema}.move), 0) > max(last_move) AS moves,
       coalesce((SELECT max(id) FROM ${schema}.act), 0) > max(last_act) AS acts,
       coalesce((SELECT max(id) FROM ${schema}.recorded), 0) > max(last_recorded) AS recorded FROM ${schema}.chain`,
  )
  expect(left).toEqual({ moves: false, acts: false, recorded: false })
})
