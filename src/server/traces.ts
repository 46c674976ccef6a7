// What callers leave behind in the record: that a key was refused, and that names of customers were read.

import type { FastifyRequest } from 'fastify'
import { type KeyFound, keyActor } from '../app/keys.ts'
import type { PersonAct } from '../domain/acts.ts'
import { messageOf } from '../domain/errors.ts'
import { callerOf, type Door } from './door.ts'
import type { ProblemError } from './problems.ts'
import { type Counted, createThinning } from './thinning.ts'

/** Addresses that are counted apart in one day, with the key and why it was refused. */
const REFUSED_MOST = 100
/** Lists that were read, each by one key. Only a key makes one. */
const READ_MOST = 10_000

export interface Refused {
  readonly found: KeyFound
  readonly problem: ProblemError
  readonly address: string
  /** What the route asks for. */
  readonly scope: string
}

/** Requests without any key are in the log alone: no key was tried. */
export function refusalsOf(door: Door): (refused: Refused) => Promise<void> {
  const nowMs = () => door.app.clock.monotonicMs()
  // Who has no key takes no room from those that have one.
  const [strangers, holders] = [createThinning(REFUSED_MOST, nowMs), createThinning(REFUSED_MOST, nowMs)]
  return async ({ found, problem: { code }, address, scope }) => {
    const id = found.kind === 'unknown' ? found.id : found.key.id
    const wanted = code === 'scope_missing' ? { scope } : {}
    const told = (found.kind === 'unknown' ? strangers : holders)(JSON.stringify([code, id, address, wanted]))
    if (told === null) return
    await note(door, {
      what: 'key-refused',
      actor: found.kind === 'unknown' ? null : keyActor(found.key, address),
      details: { why: code, key: id, ...wanted, address, ...timesOf(told) },
    })
  }
}

export interface Reading {
  readonly kind: string
  readonly file: string
  readonly rows: number
  /** Of a file that another key handed in. */
  readonly sha256?: string
}

/** A list that is asked for all the time leaves few acts too. Each has the rows that were read since the one before. */
export function readingsOf(door: Door): (request: FastifyRequest, reading: Reading) => Promise<void> {
  const thin = createThinning(READ_MOST, () => door.app.clock.monotonicMs())
  return async (request, reading) => {
    const { key, actor } = callerOf(request)
    const told = thin(JSON.stringify([key.id, reading.file]), reading.rows)
    if (told === null) return
    await note(door, { what: 'export', actor, details: { ...reading, rows: told.amount, ...timesOf(told) } })
  }
}

function timesOf({ times, isOwn }: Counted): { readonly times: number } | { readonly times_of_all_others: number } {
  return isOwn ? { times } : { times_of_all_others: times }
}

/** What was refused stays refused, whether it can be recorded or not. */
async function note({ ledger, app }: Door, act: PersonAct): Promise<void> {
  const noted = await ledger.recordAct(act, app.clock.nowMs()).catch((error: unknown) => app.scrub(messageOf(error)))
  if (noted !== 'recorded') app.log.warn({ why: noted, what: act.what }, 'an act was not noted in the record')
}
