// A merchant: one account at a gateway, under the name that it has here.

import type { DailyLimits } from './daily-limit.ts'
import { Fault } from './fault.ts'
import type { Currency } from './money.ts'
import type { Connection } from './outcome.ts'
import type { ReasonRule } from './reason-categories.ts'
import type { Secret } from './secret.ts'
import { defaultOf } from './settings.ts'
import { type Text, words } from './words.ts'

/** Which world an account belongs to: money moves in `live` alone. */
export const ENVIRONMENTS = ['live', 'test'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

export interface Merchant {
  readonly name: string
  /** Base address, without a slash at its end. */
  readonly url: string
  readonly username: string
  /** null: it was not read, because no gateway is asked. */
  readonly password: Secret | null
  /** Where it was read; null: in the environment. */
  readonly passwordFile: string | null
  /** null: it is not said. */
  readonly environment: Environment | null
  /** It is an account of its own, although another merchant has its username and password under another address. */
  readonly ownAccount: boolean
  /** null: no limit of ours. */
  readonly ratePerSecond: number | null
  readonly inFlightMax: number
  readonly timeoutMs: number
  readonly connections: Connection
  /** Of whom it is believed that a gateway is this one, and who we are to it. */
  readonly trust: { readonly ca: string | null; readonly clientCert: string | null; readonly clientKey: Secret | null }
  /** HTTP codes with which nothing was executed, confirmed in writing by the gateway's operator. */
  readonly notExecutedStatus: readonly number[]
  /** `any-2xx`: the gateway's operator has confirmed in writing that a deletion answered so was executed. */
  readonly deleteAnswer: 'status' | 'any-2xx'
  /** `request_action`: the earlier interface, in which a refund is called CCCREDIT. */
  readonly refundParameter: 'transaction_type' | 'request_action'
  /** How the charset of a request is declared; null: not at all. */
  readonly charset: string | null
  /** Of rows that name none. */
  readonly currency: Currency | null
  /** How this merchant's files write decimals; null: each file tells. */
  readonly decimal: '.' | ',' | null
  readonly lookalikeDays: number
  /** Per cent by which the captures of an order may exceed its authorization. */
  readonly captureTolerance: number
  /** For how many days an authorization may be captured: later captures are told. */
  readonly authorizationDays: number
  /** Refunds of older sales are told; null: none are. */
  readonly refundDays: number | null
  /** null: no day is limited. */
  readonly dailyLimits: DailyLimits | null
  /** How long the batch is open that takes messages which name none. */
  readonly messageBatches: 'daily' | 'hourly'
  /** A service that is told of every outcome of this merchant, by the name of its queue; null: only who asks is told. */
  readonly outcomes: string | null
  /** Categories of reasons that this merchant's gateway words in its own way; they come before the built-in ones. */
  readonly reasonRules: readonly ReasonRule[]
}

/** The limits of a merchant, which the environment sets for every one that has none of its own. */
export type Traffic = Pick<Merchant, 'ratePerSecond' | 'inFlightMax' | 'timeoutMs' | 'connections'>

/** The name of the merchant that the environment describes, and of the one meant where none is named. */
export const DEFAULT_MERCHANT = 'default'

/** What a merchant is like where nothing else is said. */
export const MERCHANT_DEFAULTS: Omit<Merchant, 'name' | 'url' | 'username' | 'password'> = Object.freeze({
  passwordFile: null,
  environment: null,
  ownAccount: false,
  trust: Object.freeze({ ca: null, clientCert: null, clientKey: null }),
  ratePerSecond: null,
  inFlightMax: defaultOf('TRANCHE_IN_FLIGHT'),
  timeoutMs: defaultOf('TRANCHE_TIMEOUT_MS'),
  connections: defaultOf('TRANCHE_CONNECTIONS'),
  notExecutedStatus: Object.freeze([]),
  deleteAnswer: 'status',
  refundParameter: 'transaction_type',
  charset: 'utf-8',
  currency: null,
  decimal: null,
  lookalikeDays: 20,
  captureTolerance: 0,
  authorizationDays: 7,
  refundDays: null,
  dailyLimits: null,
  messageBatches: 'daily',
  outcomes: null,
  reasonRules: Object.freeze([]),
})

/** Stands in where no merchant is configured and none is needed: a file can be checked before there is an account. */
export const NO_MERCHANT: Merchant = Object.freeze({
  ...MERCHANT_DEFAULTS,
  name: DEFAULT_MERCHANT,
  url: '',
  username: '',
  password: null,
})

/** Why an account that was used as `known` is not used by this merchant; null: nothing speaks against it. */
export function whyOtherEnvironment(
  { name, environment }: Pick<Merchant, 'name' | 'environment'>,
  known: Environment | null,
): Text | null {
  if (environment === null || known === null || environment === known) return null
  return words`Merchant "${name}" is ${known} in this ledger and ${environment} in the configuration. Nothing was sent. Look at its address and its environment. If the ledger is wrong, and nothing was sent for it yet: ${{ act: 'adopt-environment', merchant: name }}.`
}

/** The merchant of that name, or a fault that says which there are. */
export function merchantOf({ merchants }: { merchants: ReadonlyMap<string, Merchant> }, name: string): Merchant {
  const merchant = merchants.get(name)
  if (merchant !== undefined) return merchant
  const names = [...merchants.keys()]
  if (names.length === 0) {
    throw new Fault(
      'config',
      'No merchant is configured: set TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME and TRANCHE_GATEWAY_PASSWORD ' +
        '(the last two also as …_FILE), or TRANCHE_CONFIG.',
    )
  }
  throw new Fault(
    'config',
    words`There is no merchant "${name}"; configured: ${names.join(', ')}. Name one with ${{ set: 'merchant', to: null }}.`,
  )
}
