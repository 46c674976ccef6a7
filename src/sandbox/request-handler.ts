// What happens to one request of the transaction endpoint: credentials, form, fault, execution, log, and the reply.

import { type GatewayAnswer, toJson } from './answer.ts'
import { faultFor, type Strike } from './faults.ts'
import { parseForm, parseRequest } from './form.ts'
import { enter } from './log.ts'
import { execute, PROCESSOR_DECLINE, type TransactionRequest } from './orders.ts'
import { addPrepared, unknownIn } from './prepare.ts'
import { type Done, oneMore, type Reply, refusalsIn, replyUnder, type Untruth } from './reply.ts'
import { isMerchant, nowMsOf, type SandboxState } from './state.ts'

export const refuse = refusalsIn('ERROR_MESSAGE')

export function receive(state: SandboxState, requestSeq: number, body: string): Reply {
  const form = parseForm(body)
  const { fields } = form
  if (!isMerchant(state, fields.get('req_username') ?? null, fields.get('req_password') ?? null)) {
    return refuse(401, 'The username or the password is wrong')
  }
  const parsed = parseRequest(form, nowMsOf(state))
  switch (parsed.kind) {
    case 'wrong':
      return refuse(400, parsed.message)
    case 'request': {
      const { request } = parsed
      const strike = faultFor(state.faults, request)
      return replyUnder(strike, refuse, () => perform(state, requestSeq, request, strike))
    }
  }
}

/** Written down before any answer is attempted: what broke on the way back was executed all the same. */
function perform(state: SandboxState, requestSeq: number, request: TransactionRequest, strike: Strike | null): Done {
  const currency = state.options.acceptsUnknownIn ?? null
  if (currency !== null) addPrepared(state.book, unknownIn(request, currency), nowMsOf(state))
  const ordered = strike?.kind === 'decline' ? (strike.reason ?? PROCESSOR_DECLINE) : null
  const execution = execute(state.book, request, nowMsOf(state), ordered)
  const { answer, operation, orderId, money, vaultId, card, xtlOrderId } = execution
  const entry = enter(state.log, requestSeq, state.options.clock(), {
    operation,
    vaultId,
    card,
    transaction: {
      orderId,
      amountMinor: money === null ? null : money.amountMinor.toString(),
      currency: money === null ? null : money.currency,
      xtlOrderId,
      transactionId: answer.transactionId,
    },
    status: answer.status,
    fault: strike?.kind ?? null,
  })
  return { entry, body: toJson(answer), spoilt: (how) => toJson(spoilt(answer, how)) }
}

function spoilt(answer: GatewayAnswer, how: Untruth): GatewayAnswer {
  switch (how) {
    case 'wrong-echo':
      return withOtherIds(answer)
    case 'other-amount':
      return { ...answer, value: answer.value === null ? '1.00' : oneMore(answer.value) }
    case 'other-currency':
      return { ...answer, currency: answer.currency === 'EUR' ? 'USD' : 'EUR' }
    case 'repeated':
      return {
        ...{ ...answer, status: 'DECLINED', transactionId: oneMore(answer.transactionId) },
        advice: 'Duplicate transaction',
      }
  }
}

function withOtherIds(answer: GatewayAnswer): GatewayAnswer {
  return {
    ...answer,
    orderId: oneMore(answer.orderId),
    recordId: answer.recordId === null ? null : oneMore(answer.recordId),
    xtlOrderId: answer.action === 'REFUND' || answer.action === 'CANCEL' ? null : `OTHER${answer.xtlOrderId ?? ''}`,
  }
}
