// Instructions of services, one by one, through a door that answers at once. Each is taken in as a message of the queue is.

import type { App } from '../app.ts'
import { type ApiKey, seesMerchant } from '../domain/api-key.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { MessageResult } from '../domain/message.ts'
import type { IntakeLedger } from '../ports/ledger/intake.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { MessageAccount, MessageParts } from '../processors/take-message.ts'
import { accountKeyOf, sendingAccountOf } from './accounts.ts'

type ToXtlOrderId = (accountKey: string, reference: string) => string

/** Where the messages of a merchant go. */
export function messageAccountOf(merchant: Merchant, accountId: AccountId, toXtlOrderId: ToXtlOrderId): MessageAccount {
  const accountKey = accountKeyOf(merchant)
  return {
    ...{ accountId, accountKey, environment: merchant.environment },
    ...{ lookalikeDays: merchant.lookalikeDays, captureTolerance: merchant.captureTolerance },
    authorizationDays: merchant.authorizationDays,
    dailyLimits: merchant.dailyLimits,
    into: merchant.messageBatches === 'hourly' ? 'hour' : 'day',
    xtlOrderIdOf: (reference) => toXtlOrderId(accountKey, reference),
  }
}

/** Those of `accounts` that are there for the key; null: all of them, and no key says for which world. */
export function addresseesIn(
  accounts: ReadonlyMap<string, MessageAccount>,
  key: Pick<ApiKey, 'merchants' | 'environment'> | null,
): MessageParts['addressees'] {
  const sees = (name: string) => key === null || seesMerchant(key, name)
  return {
    names: [...accounts.keys()].filter(sees),
    areSeveral: accounts.size > 1,
    accountOf: (name) => (sees(name) ? (accounts.get(name) ?? null) : null),
    keyEnvironment: key?.environment ?? null,
  }
}

export interface MessageDoor {
  /** The published form of an instruction: JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>
  /** `key`: of who asks. `sourceId`: names the request, and a refusal is kept once under it. */
  take(
    payload: unknown,
    sourceId: string,
    ledger: Recording,
    key: Pick<ApiKey, 'id' | 'merchants' | 'environment'>,
  ): Promise<TakenMessage>
}

type Recording = Pick<IntakeLedger, 'recordMessage' | 'recordRefusal'>
export type TakenMessage = Exclude<MessageResult, { kind: 'recorded' | 'repeated' | 'cancelled' }>

/** `sandbox`: of a rehearsal. */
export async function openMessageDoor(app: App, ledger: Ledger, sandbox: boolean): Promise<MessageDoor> {
  const [{ takeMessage }, { parseMessage, instructionMessageJsonSchema }, { toXtlOrderId }] = await Promise.all([
    import('../processors/take-message.ts'),
    import('../ingest/message.ts'),
    import('../ingest/fields/xtl-order-id.ts'),
  ])
  const { clock, log, config } = app
  const accounts = new Map<string, MessageAccount>()
  for (const merchant of config.merchants.values()) {
    const accountId = await sendingAccountOf(app, ledger, merchant, (text) => log.warn({}, text))
    accounts.set(merchant.name, { ...messageAccountOf(merchant, accountId, toXtlOrderId), sandbox })
  }
  return {
    schema: instructionMessageJsonSchema(),
    async take(payload, sourceId, recording, key) {
      const handed = { jobName: 'instruction', payload, sourceId }
      const taken = await takeMessage(handed, {
        ...{ ledger: recording, clock, log, parse: parseMessage, batches: null, cancelling: null, comesAgain: false },
        addressees: addresseesIn(accounts, key),
        keyId: key.id,
        knows: null,
      })
      if ('rows' in taken || taken.kind === 'cancelled') throw new Error('bug: an instruction was taken as another job')
      return taken
    },
  }
}
