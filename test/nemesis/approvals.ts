// People who approve a batch while everything breaks, and what must hold of it: nothing of it leaves before all of them have.

import { isAwaiting } from '../../src/domain/approval.ts'
import { query } from '../fixtures/books.ts'
import type { Hosts } from './hosts.ts'

/** Only root is believed about who called sudo, so other people can be played by root alone. */
export const PEOPLE = process.getuid?.() === 0 ? (['ken', 'ann'] as const) : []

/** What is worth so much needs them all. */
const LIMIT = '9000.00'

export const POLICY = `approvals:\n  bands: {EUR: [[${LIMIT}, 0], [null, ${PEOPLE.length}]]}\n`

export interface Approvals {
  /** One of them looks at it and says yes. What they are told in answer may get lost, so they may say it again. */
  next(): Promise<void>
  /** Until it needs no more. */
  all(): Promise<void>
  /** What left too early, in words. */
  tooEarly(books: { readonly ledgerPath: string }): string[]
}

/** `isOfBatch`: whether that order is one of the batch. */
export function approvalsOf(hosts: Hosts, batch: string, isOfBatch: (orderId: string) => boolean): Approvals {
  /** When each of them said it for the first time: before that it cannot have counted. */
  const saidMs = new Map<string, number>()
  let turn = 0

  async function digest(): Promise<string | null> {
    const { code, last } = await hosts.tranche('status', batch, '--json')
    return code !== 1 && isAwaiting(last.approval ?? null) ? (last.approval.digest as string) : null
  }

  async function next(): Promise<void> {
    const person = PEOPLE[turn % PEOPLE.length]
    const shown = await digest().catch(() => null)
    if (person === undefined || shown === null) return
    turn += 1
    if (!saidMs.has(person)) saidMs.set(person, Date.now())
    await hosts.by(person, 'approve', batch, '--digest', shown, '--reason', 'agrees with the list')
  }

  return {
    next,
    async all() {
      for (let tries = 0; tries < 20 && (await digest()) !== null; tries++) await next()
    },
    tooEarly(books) {
      const { log } = hosts.office.sandbox
      const sent = log().filter(({ orderId }) => orderId !== null && isOfBatch(orderId))
      const firstMs = Math.min(...sent.map(({ atMs }) => atMs))
      const allSaidMs = saidMs.size < PEOPLE.length ? Number.POSITIVE_INFINITY : Math.max(...saidMs.values())
      const wrong = []
      if (sent.length > 0 && firstMs < allSaidMs)
        wrong.push(`the gateway executed a row of ${batch} ${allSaidMs - firstMs} ms before all had approved it`)
      if (!hosts.isPutBack() && sent.length > 0) wrong.push(...actsAgainstClaims(books, batch))
      return wrong
    },
  }
}

/** The record of a server that was put back lacks approvals that counted. */
function actsAgainstClaims(books: { readonly ledgerPath: string }, batch: string): string[] {
  const [found] = query<{ people: number; lastMs: number | null; firstMs: number | null }>(
    books,
    `SELECT (SELECT count(*) FROM approval WHERE batch_id = '${batch}') AS people,
      (SELECT max(at) FROM act WHERE batch_id = '${batch}' AND what = 'approve') AS lastMs,
      (SELECT min(m.at) FROM move m JOIN instruction i ON i.id = m.row_id
        WHERE i.batch_id = '${batch}' AND m.cause = 'claim') AS firstMs`,
  )
  const { people, lastMs, firstMs } = found!
  if (people === PEOPLE.length && lastMs !== null && firstMs !== null && firstMs >= lastMs) return []
  return [`${batch} has ${people} approvals, the last at ${lastMs}, and its first claim at ${firstMs}`]
}
