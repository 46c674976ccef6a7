// The way of a row that goes well: claims and plain settlements, in groups, beside those of other workers. What is not plain goes to the
// script, alone in the ledger, and no claim that is asked for after it is written before it.

import type { Claim, ClaimAnswer, Settled, Settlement, WorkLedger } from '../../../ports/ledger/work.ts'
import { type Engine, KEPT, type Mode } from '../../texts/engine.ts'
import { settle } from '../../texts/work/settle.ts'
import { createWriteQueue, type Entry, type Transacted, type Turns } from '../../write-queue.ts'
import { isTaken } from '../errors.ts'
import type { Lane } from '../lane.ts'
import type { Session } from '../session.ts'
import { claimMany, type NumberedClaim } from './claims.ts'
import type { Member } from './member.ts'
import { mayBePlain, type NumberedSettlement, settleMany } from './settlements.ts'
import { createTallyOfMany } from './tally.ts'

type Work =
  | { readonly kind: 'claim'; readonly asked: NumberedClaim }
  | { readonly kind: 'settle'; readonly settlement: NumberedSettlement }

/** Not written: something that was handed in before it must be written first. */
const LATER = 'later'

export interface Hot extends Pick<WorkLedger, 'claim' | 'settle'> {
  drained(): Promise<void>
}

export interface HotParts {
  readonly engine: Engine
  readonly lane: Lane
  readonly member: Member
  readonly clock: () => number
  readonly fullText: string
  readonly turns: Turns
}

export function createHot({ engine, lane, member, clock, fullText, turns }: HotParts): Hot {
  /** The numbers of own claims that are not settled, by row and attempt. */
  const numbers = new Map<string, number>()
  let lastNo = 0
  /** What is written alone and is not there yet. */
  let alone: Promise<unknown> = Promise.resolve()
  let aloneCount = 0

  const queue = createWriteQueue<Work>(
    (entries, ended) => {
      if (entries.length === 0) ended({ kind: 'written' })
      else void transact(entries).then(ended)
    },
    fullText,
    turns,
  )

  async function transact(entries: readonly Entry<Work>[]): Promise<Transacted> {
    const worker = await member.id().catch((error: unknown) => error)
    if (typeof worker !== 'number') return { kind: 'broke', error: worker }
    return lane.write('beside', (session) => writeGroup(session, worker, entries))
  }

  async function writeGroup(session: Session, worker: number, entries: readonly Entry<Work>[]): Promise<void> {
    const tally = createTallyOfMany()
    const settling = entries.flatMap((entry) =>
      entry.work.kind === 'settle' ? [{ entry, of: entry.work.settlement }] : [],
    )
    const claiming = entries.flatMap((entry) => (entry.work.kind === 'claim' ? [{ entry, of: entry.work.asked }] : []))
    const settled = await settleMany(
      session,
      worker,
      settling.map(({ of }) => of),
      (row, to) => tally.moved(row, 'SENDING', to),
    )
    for (const [i, { entry }] of settling.entries()) entry.result = settled[i] ?? LATER
    const mayClaim = !settled.includes(null)
    const claimed = mayClaim
      ? await claimMany(
          session,
          worker,
          claiming.map(({ of }) => of),
          (row) => tally.moved(row, 'READY', 'SENDING'),
        )
      : []
    for (const [i, { entry }] of claiming.entries()) entry.result = claimed[i] ?? LATER
    await tally.write(session)
  }

  /** By the script: alone, and before every claim that is asked for from now on. */
  async function settleAlone(settlement: Settlement): Promise<Settled> {
    aloneCount += 1
    const written = engine.write((book) => settle(book, settlement), KEPT)
    alone = Promise.allSettled([alone, written]).then(() => undefined) // not their results, which would never be let go
    return written.finally(() => {
      aloneCount -= 1
    })
  }

  return {
    async claim(asked: Claim): Promise<ClaimAnswer> {
      const claimNo = ++lastNo
      const mode: Mode<unknown> = {
        kind: 'refusable',
        refused: (why): ClaimAnswer => ({ kind: 'not-written', why }),
        giveUp: () => clock() > asked.sendByMs,
      }
      for (;;) {
        while (aloneCount > 0) await alone
        const answer = (await queue.write({ kind: 'claim', asked: { ...asked, claimNo } }, mode)) as
          | ClaimAnswer
          | typeof LATER
        if (answer === LATER) continue
        if (answer.kind === 'claimed') numbers.set(`${asked.rowId} ${answer.attempt}`, claimNo)
        return answer
      }
    },

    async settle(settlement) {
      const key = `${settlement.rowId} ${settlement.attempt}`
      const claimNo = numbers.get(key)
      if (claimNo === undefined || !mayBePlain(settlement))
        return settleAlone(settlement).finally(() => numbers.delete(key))
      const written = (await queue
        .write({ kind: 'settle', settlement: { ...settlement, claimNo } }, KEPT)
        .catch((error: unknown) => {
          if (isTaken(error)) return LATER
          throw error
        })) as Settled | typeof LATER
      const settled = written === LATER ? await settleAlone(settlement) : written
      numbers.delete(key)
      return settled
    },

    drained: queue.drained,
  }
}
