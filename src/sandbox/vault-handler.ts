// What happens to one request of the tokenization endpoints: credentials, fields, fault, execution, log, and the reply.

import type { CardMask } from '../domain/card.ts'
import type { VaultOperation } from '../domain/instruction.ts'
import { faultFor, isRefusedByTrigger, type Strike } from './faults.ts'
import { enter } from './log.ts'
import { PROCESSOR_DECLINE } from './orders.ts'
import { answered, type Done, oneMore, type Reply, refusalsIn, replyUnder, type Untruth } from './reply.ts'
import { isMerchant, nowMsOf, type SandboxState } from './state.ts'
import { type Body, missingCredentials, parseBody, parseVaultRequest } from './tokenization.ts'
import { executeInVault, failed, type VaultAnswer, type VaultRequest } from './vault.ts'
import { toVaultJson } from './vault-answer.ts'

export const refuseInVault = refusalsIn('errorMessage')

/** Where it came to and as which of all requests. */
interface Arrival {
  readonly operation: VaultOperation
  readonly requestSeq: number
}

export function receiveInVault(
  operation: VaultOperation,
  state: SandboxState,
  requestSeq: number,
  json: string,
): Reply {
  const body = parseBody(json)
  if (body === null) return refuseInVault(400, 'The body is not a JSON object')
  const stranger = strangerIn(state, body)
  if (stranger !== null) return answered(toVaultJson(failed(stranger), nowMsOf(state)), null)
  const parsed = parseVaultRequest(operation, body, nowMsOf(state))
  const arrival = { operation, requestSeq }
  switch (parsed.kind) {
    case 'wrong': {
      const done = finish(state, arrival, failed(parsed.message), parsed, null)
      return answered(done.body, done.entry)
    }
    case 'request': {
      const { request } = parsed
      const strike = faultFor(state.faults, request)
      return replyUnder(strike, refuseInVault, () => perform(state, arrival, request, strike))
    }
  }
}

/** Why the merchant is not known. Nothing of such a request is executed, and nothing of it is in the log. */
function strangerIn(state: SandboxState, body: Body): string | null {
  const missing = missingCredentials(body)
  if (missing !== null) return missing
  return isMerchant(state, body.username, body.password) ? null : 'Merchant not found'
}

function perform(state: SandboxState, arrival: Arrival, request: VaultRequest, strike: Strike | null): Done {
  const answer = isRefusedByTrigger(state.faults, request)
    ? failed(PROCESSOR_DECLINE)
    : executeInVault(state.book, request)
  const vaultId = 'vaultId' in request ? request.vaultId : null
  const card = 'card' in request ? request.card : null
  return finish(state, arrival, answer, { vaultId, card }, strike)
}

/** What the request named. */
interface Named {
  readonly vaultId: string | null
  readonly card: CardMask | null
}

/** Written down before any answer is attempted: what broke on the way back was executed all the same. */
function finish(
  state: SandboxState,
  { operation, requestSeq }: Arrival,
  answer: VaultAnswer,
  { vaultId, card }: Named,
  strike: Strike | null,
): Done {
  const isSuccess = answer.status === 'Success'
  const entry = enter(state.log, requestSeq, state.options.clock(), {
    operation,
    vaultId: isSuccess ? answer.vaultId : vaultId,
    card,
    transaction: null,
    status: isSuccess ? 'APPROVED' : 'DECLINED',
    fault: strike?.kind ?? null,
  })
  const toJson = (told: VaultAnswer) => toVaultJson(told, nowMsOf(state))
  return { entry, body: toJson(answer), spoilt: (how) => toJson(spoilt(answer, how)) }
}

/** As if it were the answer to another request. A refusal repeats nothing that could be another's. */
function spoilt(answer: VaultAnswer, how: Untruth): VaultAnswer {
  if (how !== 'wrong-echo' || answer.status === 'Failed') return answer
  const { record } = answer
  const vaultId = oneMore(answer.vaultId)
  if (record === null) return { ...answer, vaultId }
  const lastFour = oneMore(record.card.lastFour).slice(-4).padStart(4, '0')
  return { ...answer, vaultId, record: { ...record, card: { ...record.card, lastFour } } }
}
