// How the workers divide one account: each holds a share of its rate and of the requests that may be open. Pure.
//
// A worker changes only its own share, in this order. Shrinking: its limiter first (`shareInForce`), then the ledger (`shrinkOf`).
// Growing: under the lock of the account the ledger first (`grownShare`), and its limiter once that is committed. So what is held
// and what was freed a moment ago are never more than the allowance together, and no clock of a worker is compared with another's.

import type { AccountId } from '../../domain/ids.ts'
import { lowerRate, spanMs, usableRate } from '../../domain/pace.ts'
import type { Share } from '../../domain/share.ts'

/** A live worker with a lane to the account. */
export interface ShareMember {
  readonly workerId: number
  /** Its wish, as `settledWish` says it: while it backs off it wants one request a second at most. */
  readonly rests: boolean
}

/** Of any worker, as long as the ledger has it: of one that is silent and not yet taken for dead as well. */
export interface HeldShare extends Share {
  readonly workerId: number
}

/** What nobody holds, but may still be in use. */
export interface FreedShare extends Share {
  readonly untilMs: number
}

/** Read at one moment: a share and what was freed of it must never be seen apart. All times are by the clock of the ledger. */
export interface ShareFacts {
  readonly accountId: AccountId
  readonly nowMs: number
  readonly allowance: Share
  readonly members: readonly ShareMember[]
  readonly held: readonly HeldShare[]
  readonly freed: readonly FreedShare[]
}

/** What a worker writes when it shrinks, both in one commit. `freed` is added to what it freed before, and counts for so long from the writing on, not from the reading of the facts. */
export interface Shrink {
  readonly share: Share
  /** null: nothing can still be in use. */
  readonly freed: { readonly ratePerSecond: number | null; readonly inFlightMax: 0; readonly forMs: number } | null
}

/** A small account has one or two holders: a thinner share would gain nothing, and leave most slices to whoever may not send. */
const RATE_OF_A_HOLDER = 10
/** A wish must last so long before it counts: shares move with trouble that stays, not with each back-off. */
const WISH_LASTS_MS = 30_000
const NOTHING: Share = { ratePerSecond: 0, inFlightMax: 0 }

// ───────────────────────────────────────────────────────────── What there is to divide

/** `dial`: the rate that a person set, which holds instead of the configured ones; null: none. `configured`: of every live worker. */
export function allowanceOf(dial: number | null, configured: readonly Share[]): Share {
  return {
    ratePerSecond: dial ?? configured.map(({ ratePerSecond }) => ratePerSecond).reduce(lowerRate, null),
    inFlightMax: configured.map(({ inFlightMax }) => inFlightMax).reduce((one, other) => Math.min(one, other)),
  }
}

/** As the pace cuts it: workers must not divide what none of them may use. */
function usable({ ratePerSecond, inFlightMax }: Share): Share {
  return { ratePerSecond: ratePerSecond === null ? null : usableRate(ratePerSecond), inFlightMax }
}

// ───────────────────────────────────────────────────────────── What each should have

/**
 * What a worker comes to hold when nothing changes any more: the same for whoever computes it from the same members and allowance,
 * whatever is held now. All targets together are the allowance.
 */
export function targetShare(workerId: number, facts: ShareFacts): Share {
  const { ratePerSecond, inFlightMax } = usable(facts.allowance)
  const { holders, resting } = holdersOf(facts)
  if (resting.includes(workerId)) return { ratePerSecond: ratePerSecond === null ? null : 1, inFlightMax: 1 }
  const nth = holders.indexOf(workerId)
  if (nth < 0) return NOTHING
  const partOf = (whole: number) => nthPart(nth, holders.length, whole - resting.length)
  return { ratePerSecond: ratePerSecond === null ? null : partOf(ratePerSecond), inFlightMax: partOf(inFlightMax) }
}

/** The first ones have one more where it does not come out even. */
function nthPart(nth: number, parts: number, whole: number): number {
  if (parts === 1) return whole // may be below one
  return Math.floor(whole / parts) + (nth < whole % parts ? 1 : 0)
}

/**
 * A small account has few holders, and the order of its own says who: so many small ones spread over all workers. One of them that
 * rests has one request to find out when it is over, if there is one to spare. Where all rest, nobody could use what another gave up.
 */
function holdersOf(facts: ShareFacts): { holders: readonly number[]; resting: readonly number[] } {
  const { ratePerSecond, inFlightMax } = usable(facts.allowance)
  const most = Math.min(Math.ceil(ratePerSecond ?? Number.POSITIVE_INFINITY), inFlightMax)
  const worthwhile = ratePerSecond === null ? most : Math.max(1, Math.floor(ratePerSecond / RATE_OF_A_HOLDER))
  const ordered = inOrder(facts)
  const allRest = ordered.every(({ rests }) => rests)
  const able = ordered.filter(({ rests }) => allRest || !rests)
  const count = Math.min(most, worthwhile)
  const holders = able.slice(0, count)
  const wouldHold = ordered.slice(0, count)
  const resting = wouldHold.filter((member) => !able.includes(member)).slice(0, most - holders.length)
  const ids = (members: readonly ShareMember[]) => members.map(({ workerId }) => workerId)
  return { holders: ids(holders), resting: ids(resting) }
}

/** Another order for every account; a worker that joins or leaves moves no two others past each other. */
function inOrder({ accountId, members }: ShareFacts): readonly ShareMember[] {
  const orderOf = ({ workerId }: ShareMember) => hash(`${accountId} ${workerId}`)
  return members.toSorted((one, other) => orderOf(one) - orderOf(other) || one.workerId - other.workerId)
}

/** FNV-1a, and the last step of MurmurHash3: ids that differ by one must not keep their order from account to account. */
function hash(text: string): number {
  let bits = 0x811c9dc5
  for (const letter of text) bits = Math.imul(bits ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

// ───────────────────────────────────────────────────────────── What each may do now

/** For the limiter, at every reading of the facts: no more than the ledger says it holds, and at once no more than it should. */
export function shareInForce(workerId: number, facts: ShareFacts): Share {
  const held = heldBy(workerId, facts)
  const target = targetShare(workerId, facts)
  return {
    ratePerSecond: shrunkRate(held.ratePerSecond, target.ratePerSecond),
    inFlightMax: Math.min(held.inFlightMax, target.inFlightMax),
  }
}

/** Where there was no limit nobody knows what was used: it is all given up, and taken again as by anyone else. */
function shrunkRate(held: number | null, target: number | null): number | null {
  return held === null && target !== null ? 0 : lowerRate(held, target)
}

/**
 * What to write in order to shrink; null: nothing. `inFlight` is counted after the limiter was resized to `shareInForce`: until
 * it is resized again it only falls, so what is given up here is in use no more.
 */
export function shrinkOf(workerId: number, facts: ShareFacts, inFlight: number): Shrink | null {
  // Nobody lives, this worker no more than others, who says what the account may do: for how long its last start counts is not known.
  if (facts.allowance.ratePerSecond === 0) return null
  const held = heldBy(workerId, facts)
  const { ratePerSecond, inFlightMax } = shareInForce(workerId, facts)
  const share = { ratePerSecond, inFlightMax: Math.max(inFlightMax, Math.min(held.inFlightMax, inFlight)) }
  if (share.ratePerSecond === held.ratePerSecond) {
    return share.inFlightMax === held.inFlightMax ? null : { share, freed: null }
  }
  const freedRate = held.ratePerSecond === null ? null : held.ratePerSecond - (share.ratePerSecond ?? 0)
  return { share, freed: { ratePerSecond: freedRate, inFlightMax: 0, forMs: startsCountMs(facts.allowance) } }
}

/**
 * What a worker may hold from now on, by facts that were read under the lock of the account. Never less than it holds. It is
 * written under the same lock, and used (`shareInForce`) once that is committed.
 */
export function grownShare(workerId: number, facts: ShareFacts): Share {
  const held = heldBy(workerId, facts)
  const target = targetShare(workerId, facts)
  const left = leftFor(workerId, facts)
  return {
    ratePerSecond: grownRate(held.ratePerSecond, target.ratePerSecond, left.ratePerSecond),
    inFlightMax: Math.max(held.inFlightMax, Math.min(target.inFlightMax, left.inFlightMax)),
  }
}

function grownRate(held: number | null, target: number | null, left: number | null): number | null {
  if (held === null || target === null) return null
  return Math.max(held, lowerRate(target, left) ?? target)
}

/** What the others neither hold nor have freed too lately. Only where there is no limit it is none. */
function leftFor(workerId: number, { allowance, held, freed, nowMs }: ShareFacts): Share {
  const { ratePerSecond, inFlightMax } = usable(allowance)
  const taken: readonly Share[] = [
    ...held.filter((one) => one.workerId !== workerId),
    ...freed.filter(({ untilMs }) => untilMs > nowMs),
  ]
  const rateTaken = taken.reduce((sum, one) => sum + (one.ratePerSecond ?? Number.POSITIVE_INFINITY), 0)
  return {
    ratePerSecond: ratePerSecond === null ? null : wholeRate(ratePerSecond, rateTaken),
    inFlightMax: taken.reduce((left, one) => left - one.inFlightMax, inFlightMax),
  }
}

/** Below one a second it is all or nothing. */
function wholeRate(ratePerSecond: number, taken: number): number {
  if (ratePerSecond < 1) return taken > 0 ? 0 : ratePerSecond
  return Math.max(0, Math.floor(ratePerSecond - taken))
}

// ───────────────────────────────────────────────────────────── What is left of the dead

/** The latest times at which a request of a dead worker may have left, and may still be open. */
export interface LastSeen {
  readonly startMs: number
  readonly answerByMs: number
}

/** What still counts when the share of a dead worker is taken from it. */
export function freedByDeath(share: Share, last: LastSeen, allowance: Share): readonly FreedShare[] {
  const { ratePerSecond, inFlightMax } = share
  const freed: readonly FreedShare[] = [
    { ratePerSecond, inFlightMax: 0, untilMs: last.startMs + startsCountMs(allowance) },
    { ratePerSecond: 0, inFlightMax, untilMs: last.answerByMs },
  ]
  return freed.filter((one) => one.ratePerSecond !== 0 || one.inFlightMax > 0)
}

/** A second; below one a second the whole interval, or the next holder would start too soon after the last start of this one. */
function startsCountMs({ ratePerSecond }: Share): number {
  return spanMs(ratePerSecond ?? Number.POSITIVE_INFINITY)
}

// ───────────────────────────────────────────────────────────── What a worker wishes

/** Times are the worker's own monotonic milliseconds. */
export interface Wish {
  readonly rests: boolean
  /** Since when it has been otherwise, without a break; null: it is as it says. */
  readonly otherwiseSinceMs: number | null
}

export const OPENING_WISH: Wish = { rests: false, otherwiseSinceMs: null }

/** `restsNow`: whether it has failed and had no true answer since; not whether it backs off, which every probe interrupts. */
export function settledWish(wish: Wish, restsNow: boolean, nowMs: number): Wish {
  if (restsNow === wish.rests) return { ...wish, otherwiseSinceMs: null }
  const sinceMs = wish.otherwiseSinceMs ?? nowMs
  if (nowMs - sinceMs >= WISH_LASTS_MS) return { rests: restsNow, otherwiseSinceMs: null }
  return { ...wish, otherwiseSinceMs: sinceMs }
}

function heldBy(workerId: number, { held }: ShareFacts): Share {
  return held.find((one) => one.workerId === workerId) ?? NOTHING
}
