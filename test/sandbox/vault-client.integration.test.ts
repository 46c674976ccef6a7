// Both sides of the contract together: what the client makes of the vault's answers, true ones and spoilt ones.

import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CardDetails, CardMask } from '../../src/domain/card.ts'
import type { Instruction, VaultOperation } from '../../src/domain/instruction.ts'
import { type VaultJudging, verdictOnVaultStatus } from '../../src/domain/vault-verdict.ts'
import { TOKENIZATION } from '../../src/gateway/answer.ts'
import { toVaultRecord, VAULT_PATHS } from '../../src/gateway/vault-record.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/server.ts'
import { call, PASSWORD, USERNAME } from './caller.ts'

const CREDENTIALS = { username: USERNAME, password: PASSWORD } as Parameters<typeof toVaultRecord>[3]
const EXPIRY = { month: '12', year: '2027' }
const CARD: CardDetails = { number: '4111111111111111', code: '123', expiry: EXPIRY }
const MASK: CardMask = { bin: '411111', lastFour: '1111', expiry: EXPIRY }
const DETAILS: Instruction['details'] = { first_name: 'Zoë', last_name: "O'Neil" }
/** More digits than a JavaScript number keeps. */
const VAULT_ID = '98765432109876543210'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: () => Date.UTC(2026, 10, 20) })
  sandbox.prepare({ vault: [{ vaultId: VAULT_ID }] })
})
afterEach(() => sandbox.close())

async function verdictOn(operation: VaultOperation, vaultId = VAULT_ID) {
  const isDelete = operation === 'VAULT_DELETE'
  const sent = {
    vaultId: operation === 'VAULT_CREATE' ? null : vaultId,
    card: isDelete ? null : MASK,
    details: isDelete ? {} : DETAILS,
  }
  const body = toVaultRecord(operation, sent, isDelete ? null : CARD, CREDENTIALS)
  const { httpStatus, text } = await call(sandbox, {
    path: VAULT_PATHS[operation],
    contentType: 'application/json',
    body,
  })
  const answer = TOKENIZATION.parse(text)
  if (answer === null) throw new Error(`no answer: ${text}`)
  const judging: VaultJudging = { operation, sent, everInDoubt: false, httpStatus, connection: 'warm' }
  return verdictOnVaultStatus(answer[TOKENIZATION.status] ?? '', answer, judging)
}

const EVERY = ['VAULT_CREATE', 'VAULT_UPDATE', 'VAULT_DELETE'] as const

it.each(EVERY)('%s is approved without a warning, also over a kept connection', async (operation) => {
  const verdict = await verdictOn(operation)
  expect(verdict).toMatchObject({ kind: 'approved', warnings: [] })
  const [entry] = sandbox.log()
  expect(verdict).toMatchObject({ facts: { vaultId: entry?.vaultId } })
  if (operation !== 'VAULT_DELETE')
    expect(verdict).toMatchObject({ facts: { card: MASK, customerId: expect.any(String) } })
})

it.each(EVERY)('%s with a wrong echo is in doubt', async (operation) => {
  sandbox.addFault({ kind: 'wrong-echo', match: { operation } })
  expect(await verdictOn(operation)).toMatchObject({ kind: 'in-doubt' })
})

it('an unknown vault id is Failed; a merchant that is not known is named so', async () => {
  expect(JSON.stringify(await verdictOn('VAULT_DELETE', '7'))).toContain('customer_vault_id is not known')
  await sandbox.close()
  sandbox = await openSandbox({ username: USERNAME, password: 'other', clock: () => Date.UTC(2026, 10, 20) })
  expect(JSON.stringify(await verdictOn('VAULT_CREATE'))).toContain('Merchant not found')
})
