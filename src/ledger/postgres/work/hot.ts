// The way of a row that goes well: claims and plain settlements, in groups, beside those of other workers. What is not plain goes to the
// script, and no later claim of this worker is written before it.

import { isAboveLimit, type LimitedAmount } from '../../../domain/daily-limit.ts'
import { assert } from '../../../domain/fault.ts'
import type { RowId } from '../../../domain/ids.ts'
import { isFinal } from '../../../domain/states.ts'
import type { SharedClock } from '../../../ports/clock.ts'
import type { Claim, ClaimAnswer, Settled, Settlement, WorkLedger } from '../../../ports/ledger/work.ts'
import { type Engine, KEPT, type Mode } from '../../texts/engine.ts'
import { exists, one, type Script } from '../../texts/script.ts'
import { holdAboveLimit, mayExceed, spentOn } from '../../texts/work/daily-limit.ts'
import { cancelIfExpired } from '../../texts/work/expiring.ts'
import { cancelMisfit, findMisfit } from '../../texts/work/misfits.ts'
import { settle } from '../../texts/work/settle.ts'
import { createWriteQueue, type Entry, type Transacted, type Turns } from '../../write-queue.ts'
import { RESTORED_AFTER } from '../copies/identity.ts'
import { isTaken, whyNotWritten } from '../errors.ts'
import type { Transactor } from '../transactor.ts'
import type { Claiming } from './claims.ts'
import { type Claimed, groupOf, LATER, type Unlimited, type Work } from './group.ts'
import type { KeptAnswer, KeptAnswers, Token } from './kept-answers.ts'
import { nameOf } from './limited.ts'
import type { Member } from './member.ts'
import { plainOf } from './settlements.ts'

export interface Hot extends Pick<WorkLedger, 'claim' | 'settle'> {
  /** Hands in what the process before this one could not. */
  settleLeft(): Promise<void>
  drained(): Promise<void>
}

export interface HotParts {
  readonly engine: Engine
  readonly transactor: Transactor
  readonly member: Member
  readonly kept: KeptAnswers
  readonly claiming: Claiming
  /** null: a claim counts without a standby. */
  readonly hasStandby: (() => Promise<boolean>) | null
  readonly clock: SharedClock
  readonly fullText: string
  readonly turns: Turns
  readonly onUnknownAnswer: OnUnknownAnswer
}

/** Told of an answer to a request of a row that this ledger does not have. `keptIn`: the file that has it now. */
export type OnUnknownAnswer = (settlement: Settlement, keptIn: string) => void

export function createHot(parts: HotParts): Hot {
  const { engine, transactor, member, kept, claiming, hasStandby, clock, fullText, turns, onUnknownAnswer } = parts
  /** Of own claims, by row and attempt, until the row's state is final or it is claimed again: a late answer must still find its claim. */
  const tokens = new Map<string, Token>()
  /** Days of which the sums were known when this process looked last. */
  const counted = new Set<string>()
  let lastClaimNo = 0
  const exclusive = createCount()

  const queue = createWriteQueue<Work>(
    (entries, ended) => {
      if (entries.length === 0) ended({ kind: 'written' })
      else void transact(entries).then(ended)
    },
    fullText,
    turns,
  )

  async function transact(entries: readonly Entry<Work>[]): Promise<Transacted> {
    const how = await write(entries)
    const [only] = entries
    // Where another row has the gateway's transaction id, its key refuses the settlement, and the script says what that means. Nothing was
    // written: the caller is only told to go there.
    if (how.kind === 'broke' && isTaken(how.error) && entries.length === 1 && only?.work.kind === 'settle') {
      only.result = LATER
      return countPutOff(entries)
    }
    return how.kind === 'written' ? countPutOff(entries) : how
  }

  /** Before anyone is told, so that no claim comes between: what could not be written here is written by the script, and next. */
  function countPutOff(entries: readonly Entry<Work>[]): Transacted {
    for (const { work, result } of entries) if (work.kind === 'settle' && result === LATER) exclusive.begin()
    return { kind: 'written', goesOn: true }
  }

  async function write(entries: readonly Entry<Work>[]): Promise<Transacted> {
    try {
      const worker = await member.id()
      const { first, between, finish } = groupOf(entries, worker, claiming, exclusive.isNone())
      return await transactor.writeGroup(first, finish, between)
    } catch (error) {
      const why = whyNotWritten(error)
      return why === null ? { kind: 'broke', error } : { kind: 'not-written', why }
    }
  }

  /** By the script, before every claim that is asked for from now on. It is counted already. */
  function settleBegun(settlement: Settlement, token: Token | null): Promise<Settled> {
    const written = engine.write(function* (book) {
      const meant = yield* rowMeant(settlement)
      assert(meant !== null, `settling row ${settlement.rowId}, which is not in the ledger`)
      return yield* settle(book, meant, yield* isAnothers(meant, token))
    }, KEPT)
    return written.finally(exclusive.end)
  }

  function settleExclusively(settlement: Settlement, token: Token | null): Promise<Settled> {
    exclusive.begin()
    return settleBegun(settlement, token)
  }

  async function settleOwn(settlement: Settlement, token: Token | null): Promise<Settled> {
    const plain = token === null ? null : plainOf(settlement, token.claimNo)
    if (token === null || plain === null) return settleExclusively(settlement, token)
    const work = { kind: 'settle', settlement: plain, worker: token.worker } as const
    const written = (await queue.write(work, KEPT)) as Settled | typeof LATER
    return written === LATER ? settleBegun(settlement, token) : written
  }

  /** Most rows fit, and looking takes no lock. What a person finds between this and the claim, a moment later, is not noticed. */
  async function endsAsMisfit(asked: Claim): Promise<boolean> {
    if ((await engine.read(() => findMisfit(asked))) === null) return false
    return await engine.write((book) => cancelMisfit(book, asked), KEPT)
  }

  /** Only once both clocks say so: one that is ahead cancels nothing. */
  async function endIfExpired({ rowId, expiresAtMs }: Claim, reachedMs: number): Promise<void> {
    if (expiresAtMs === null || expiresAtMs > reachedMs) return
    await engine.write((book) => cancelIfExpired(book, rowId, reachedMs), KEPT)
  }

  /** Before it is claimed its sum must be known; it is forgotten again where another worker starts. */
  async function countFirst(limited: LimitedAmount): Promise<void> {
    const name = nameOf(limited)
    if (counted.has(name)) return
    await engine.write(() => spentOn(limited), KEPT)
    counted.add(name)
  }

  /** They are all that tells of requests that were sent. */
  function setAside(unknown: readonly KeptAnswer[]): void {
    if (unknown.length === 0) return
    const keptIn = kept.setAside(unknown)
    for (const { settlement } of unknown) onUnknownAnswer(settlement, keptIn)
  }

  return {
    async claim(asked: Claim): Promise<ClaimAnswer> {
      if (asked.sharesOrder && (await endsAsMisfit(asked))) return { kind: 'not-free' }
      const { limited } = asked
      const reachedMs = Math.min(asked.nowMs, clock.reachedMs())
      const passedMs = asked.nowMs + Math.max(0, clock.host.nowMs() - clock.nowMs())
      const work = {
        ...{ ...asked, claimNo: ++lastClaimNo, reachedMs, passedMs },
        mayExceed:
          limited !== null && isAboveLimit(limited) && (await engine.read(() => mayExceed(asked.rowId, limited))),
      }
      const mode: Mode<unknown> = {
        kind: 'refusable',
        refused: (why): Claimed => ({ answer: { kind: 'not-written', why }, worker: 0 }),
        giveUp: () => clock.nowMs() > asked.sendByMs,
      }
      for (;;) {
        while (!exclusive.isNone()) await exclusive.none()
        if (limited !== null) await countFirst(limited)
        const written = (await queue.write({ kind: 'claim', asked: work }, mode)) as Claimed | typeof LATER | Unlimited
        if (written === LATER) continue
        if (written === 'uncounted') {
          if (limited !== null) counted.delete(nameOf(limited))
          continue
        }
        if (written === 'held') {
          if (limited !== null) await engine.write(() => holdAboveLimit(asked, limited), KEPT)
          return { kind: 'not-free' }
        }
        const { answer, worker } = written
        if (answer.kind === 'not-free') await endIfExpired(asked, reachedMs)
        if (answer.kind !== 'claimed') return answer
        tokens.delete(keyOf(asked.rowId, asked.attempt))
        tokens.set(keyOf(asked.rowId, answer.attempt), { worker, claimNo: work.claimNo })
        if (hasStandby !== null && !(await hasStandby().catch(() => false))) await untilLate(clock, asked.sendByMs)
        return answer
      }
    },

    async settle(settlement) {
      const key = keyOf(settlement.rowId, settlement.attempt)
      const token = tokens.get(key) ?? null
      const settled = await kept.until(settleOwn(settlement, token), { settlement, token })
      if (isFinal(settled.state)) tokens.delete(key) // of any other, a true answer may come yet
      return settled
    },

    async settleLeft() {
      const unknown: KeptAnswer[] = []
      for (const answer of kept.left()) {
        const { settlement, token } = answer
        const meant = await engine.read(() => rowMeant(settlement))
        if (meant === null) unknown.push(answer)
        else if (!(await engine.read(() => isRecorded(meant)))) await settleExclusively(meant, token)
      }
      setAside(unknown.filter(({ settlement }) => settlement.to !== 'READY')) // of that, nothing was sent
      kept.forgetLeft()
    },

    drained: queue.drained,
  }
}

/**
 * If the server waits for no standby, no standby may have the claim, whatever is set later. So the caller learns of the claim only when it is too
 * late to send, and the row becomes free again.
 */
async function untilLate(clock: SharedClock, untilMs: number): Promise<void> {
  while (clock.nowMs() <= untilMs) await clock.sleep(untilMs - clock.nowMs() + 1)
}

/** Settlements that the script writes before the next claim. */
function createCount() {
  let count = 0
  let over = Promise.withResolvers<void>()
  return {
    isNone: () => count === 0,
    /** Resolves when there is none. */
    none: () => over.promise,
    begin(): void {
      if (count === 0) over = Promise.withResolvers()
      count += 1
    },
    end(): void {
      count -= 1
      if (count === 0) over.resolve()
    },
  }
}

function keyOf(rowId: number, attempt: number): string {
  return `${rowId} ${attempt}`
}

const CLAIMED = `
  SELECT 1 FROM move WHERE row_id = :rowId AND attempt = :attempt AND cause = 'claim' AND worker = :worker AND claim_no = :claimNo
    AND id > ${RESTORED_AFTER}`

/**
 * Whether another claim made this attempt: two histories of the ledger may each have one of that number, in doubt by now perhaps. And
 * since an older state was taken over, no claim before speaks for a row: it may have had later attempts, of which that state knows nothing.
 */
function* isAnothers({ rowId, attempt }: Settlement, token: Token | null): Script<boolean> {
  return token === null || !(yield* exists(CLAIMED, { rowId, attempt, ...token }))
}

const BY_NAME = `
  SELECT i.id FROM instruction i JOIN account a ON a.id = i.account_id JOIN batch b ON b.id = i.batch_id
  WHERE a.name = :merchant AND i.reference = :reference AND b.stage = 'open' AND (i.id = :rowId OR i.holds_reference = 1)
  ORDER BY CASE WHEN i.id = :rowId THEN 0 ELSE 1 END LIMIT 1`

/**
 * The settlement with the id that its row has now; null: the ledger has no such row. A server that was put back gives the ids that it lost to
 * other rows. A reference always names the same instruction, even if it was handed in again and has another id.
 */
function* rowMeant(settlement: Settlement): Script<Settlement | null> {
  const { rowId, row } = settlement
  const { merchant, reference } = row
  const found = yield* one<{ id: RowId }>(BY_NAME, { rowId, merchant, reference })
  return found === undefined ? null : { ...settlement, rowId: found.id }
}

const RECORDED = `
  SELECT 1 FROM move WHERE row_id = :rowId AND attempt = :attempt AND to_state = :to AND at = :atMs AND cause <> 'resolve'`

/** It settled the row, and the process died before it knew. */
function* isRecorded({ rowId, attempt, to, atMs }: Settlement): Script<boolean> {
  return yield* exists(RECORDED, { rowId, attempt, to, atMs })
}
