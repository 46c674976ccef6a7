// Approval before money moves: how many people must approve a batch, who may, and what they are shown. Pure.

import { type Actor, identitiesOf, identityOf } from './actor.ts'
import type { BatchTotal } from './batch.ts'
import type { DraftReview } from './draft.ts'
import type { BatchId } from './ids.ts'
import type { Operation } from './instruction.ts'
import type { Fingerprint } from './interpretation.ts'
import { type Currency, exponentOf, type Money } from './money.ts'
import type { AccountOf, UnfitPerson } from './person.ts'
import type { State } from './states.ts'

/** Up to which sum so many must approve. `upTo`: a decimal in units of the currency; null: any sum. */
export interface Band {
  readonly upTo: string | null
  readonly approvals: number
}

/** One rule of a policy. Rules add nothing to each other: the strictest one that fits counts. */
export interface ApprovalRule {
  /** null: of every merchant, and every operation. */
  readonly merchants: readonly string[] | null
  readonly operations: readonly Operation[] | null
  /** One approval for everything. */
  readonly fourEyes: boolean
  /** Lowest first. A currency without any gets the strictest of all. */
  readonly bands: Readonly<Record<string, readonly Band[]>>
  /** A single row above this asks for one more. By currency, or under `*` for any other. */
  readonly rowOver: Readonly<Record<string, string>>
}

export interface ApprovalPolicy {
  readonly rules: readonly ApprovalRule[]
  /** A batch that nobody decides on for so long is cancelled. */
  readonly expireAfterMs: number
  /** Users of the operating system may approve on the command line. */
  readonly osUsers: boolean
}

/** One other person for everything: what is in force where people with roles exist and nobody has decided otherwise. They have a console,
 * and a user of the operating system beside an account there would be two people. */
export const FOUR_EYES: ApprovalPolicy = {
  rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
  expireAfterMs: 7 * 86_400_000,
  osUsers: false,
}

/** Over which earlier batches of the same submitter sums are taken, so that splitting a file gains nothing. */
export const SUMMED_OVER_MS = 24 * 3600 * 1000

/** What is to be sent of one operation and currency. */
export interface AskedSum {
  readonly operation: Operation | ''
  readonly currency: Currency | ''
  readonly amountMinor: bigint
}

export interface AskedFor {
  readonly merchant: string
  /** Of the batch itself. */
  readonly sums: readonly (AskedSum & { /** Of one row. */ readonly largestMinor: bigint })[]
  /** Of earlier batches of the same submitter. */
  readonly earlier: readonly AskedSum[]
}

/** How many people must approve it; 0: nobody. */
export function approvalsNeeded({ rules }: ApprovalPolicy, asked: AskedFor): number {
  return Math.max(0, ...rules.map((rule) => neededBy(rule, asked)))
}

/** As far as the file alone tells: what the same submitter handed in lately may ask for more, never for fewer. null: no policy. */
export function leastApprovals(
  policy: ApprovalPolicy | null,
  merchant: string,
  { totals, extents }: Pick<DraftReview, 'totals' | 'extents'>,
): number {
  const largestOf = ({ operation, currency }: AskedSum) =>
    extents.find((one) => one.operation === operation && one.currency === currency)?.largest.amountMinor ?? 0n
  const sums = totals.map((total) => ({ ...total, largestMinor: largestOf(total) }))
  return policy === null ? 0 : approvalsNeeded(policy, { merchant, sums, earlier: [] })
}

/** Whether one person alone may not have a request sent once more that may have been executed: whatever its amount. */
export function asksForTwo(
  policy: ApprovalPolicy | null,
  { merchant, operation }: { readonly merchant: string; readonly operation: Operation },
): boolean {
  return policy?.rules.some((rule) => isOfMerchant(rule, merchant) && isOfOperation(rule, operation)) ?? false
}

function isOfMerchant({ merchants }: ApprovalRule, merchant: string): boolean {
  return merchants === null || merchants.includes(merchant)
}

function isOfOperation({ operations }: ApprovalRule, operation: Operation | ''): boolean {
  return operations === null || (operation !== '' && operations.includes(operation))
}

function neededBy(rule: ApprovalRule, { merchant, sums, earlier }: AskedFor): number {
  if (!isOfMerchant(rule, merchant)) return 0
  const isMeant = ({ operation }: AskedSum) => isOfOperation(rule, operation)
  const meant = sums.filter(isMeant)
  if (meant.length === 0) return 0
  const currencies = new Set(meant.flatMap(({ currency }) => (currency === '' ? [] : [currency])))
  const all = [...meant, ...earlier.filter(isMeant)]
  const banded = [...currencies].map((currency) => bandOf(rule, currency, sumOf(all, currency)))
  const isOfUnknown = meant.some(isOfUnknownAmount)
  if (isOfUnknown) banded.push(strictest(Object.values(rule.bands).flat()))
  const isLarge = meant.some(({ currency, largestMinor }) => isOver(rule, currency, largestMinor))
  const more = isLarge || (isOfUnknown && Object.keys(rule.rowOver).length > 0) ? 1 : 0
  return Math.max(rule.fourEyes ? 1 : 0, ...banded) + more
}

/** It voids whatever the transaction was of, which is below no limit that is known. The vault moves no money. */
function isOfUnknownAmount({ operation, currency }: AskedSum): boolean {
  return operation === 'CANCEL' && currency === ''
}

function sumOf(sums: readonly AskedSum[], currency: Currency): bigint {
  return sums.reduce((sum, one) => (one.currency === currency ? sum + one.amountMinor : sum), 0n)
}

function strictest(bands: readonly Band[]): number {
  return Math.max(0, ...bands.map(({ approvals }) => approvals))
}

function bandOf({ bands }: ApprovalRule, currency: Currency, sumMinor: bigint): number {
  const own = bands[currency]
  if (own === undefined) return strictest(Object.values(bands).flat())
  const fitting = own.find(({ upTo }) => upTo === null || sumMinor <= minorOf(upTo, currency))
  return fitting?.approvals ?? strictest(own)
}

function isOver({ rowOver }: ApprovalRule, currency: Currency | '', amountMinor: bigint): boolean {
  const limit = currency === '' ? undefined : (rowOver[currency] ?? rowOver['*'])
  return limit !== undefined && amountMinor > minorOf(limit, currency as Currency)
}

/** Of a plain decimal. What is below the currency's smallest unit is left out: the limit is a little stricter. */
function minorOf(limit: string, currency: Currency): bigint {
  const [whole = '0', decimals = ''] = limit.split('.')
  const exponent = exponentOf(currency)
  return BigInt(whole + decimals.slice(0, exponent).padEnd(exponent, '0'))
}

/** How a batch stands that needs approvals. */
export interface Approval {
  readonly needed: number
  readonly given: number
  /** When it is cancelled for want of a decision. */
  readonly untilMs: number
  /** Who approved, oldest first, in words. */
  readonly by: readonly string[]
}

export function isAwaiting(approval: Pick<Approval, 'needed' | 'given'> | null): boolean {
  return approval !== null && approval.given < approval.needed
}

/** With which rows of a batch were handed in. */
export interface KeyOfBatch {
  readonly id: string
  readonly name: string
  readonly createdBy: string
  /** Every identity of whoever made it. */
  readonly makers: readonly string[]
}

/** A row that is to be sent, and an earlier one beside which it would be executed. */
export interface AllowedLookalike {
  readonly rowNo: number
  readonly reference: string
  readonly like: Readonly<Record<'batchId' | 'reference', string>> & { readonly rowNo: number; readonly state: State }
}

/** Everything that an approval is of. What is approved is what was shown: the digest is over all of it. */
export interface ApprovalSheet extends Approval {
  readonly batchId: BatchId
  readonly merchant: string
  readonly url: string
  readonly username: string
  readonly source: 'file' | 'queue'
  readonly fileName: string | null
  readonly fileSha256: string | null
  readonly runKey: string | null
  readonly fingerprint: Fingerprint
  readonly rows: number
  readonly totals: readonly BatchTotal[]
  readonly canaryRows: number | null
  readonly maxDeclinedPercent: number | null
  readonly lookalikesAllowed: number
  readonly submittedBy: string
  readonly submittedAtMs: number
  /** Over every row as it was recorded. */
  readonly rowsDigest: string
  readonly digest: string
  /** The row with the largest amount of each currency; derived, so not in the digest. */
  readonly largest: readonly (Money & { readonly rowNo: number; readonly reference: string })[]
  /** The first rows that look like an earlier one, with that one as it stands now; not in the digest. */
  readonly lookalikes: readonly AllowedLookalike[]
  /** Not in the digest. */
  readonly keys: readonly KeyOfBatch[]
  /** Of people who submitted it or approved it; not in the digest. */
  readonly accounts: readonly AccountOf[]
  /** What the same submitter handed in within the last 24 hours before it; not in the digest. */
  readonly earlier: readonly AskedSum[]
}

/** Why the actor may not decide on the batch; null: they may. */
export type Unfit =
  | UnfitPerson
  | 'a-key'
  | 'the-submitter'
  | 'maker-of-its-key'
  | 'an-approver-already'
  | 'not-by-users'

/** `submitter`: who handed it in, and who that may be; null: services did. `approved`: identities that approved it before. `makers`: of keys
 * by which messages of it came. */
export function unfitToApprove(
  actor: Actor,
  submitter: Actor | null,
  approved: readonly string[],
  { osUsers }: Pick<ApprovalPolicy, 'osUsers'>,
  makers: readonly string[] = [],
): Unfit | null {
  if (actor.kind === 'key') return 'a-key'
  if (actor.kind !== 'person' && !osUsers) return 'not-by-users'
  const own = identitiesOf(actor)
  if (submitter !== null) {
    // Two who became the same user are two people; one of them as that user may be either.
    const isSame = own.includes(identityOf(submitter)) || identitiesOf(submitter).includes(identityOf(actor))
    if (isSame) return submitter.kind === 'key' ? 'maker-of-its-key' : 'the-submitter'
  }
  if (makers.some((identity) => own.includes(identity))) return 'maker-of-its-key'
  return approved.some((identity) => own.includes(identity)) ? 'an-approver-already' : null
}
