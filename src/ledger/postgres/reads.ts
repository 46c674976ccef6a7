// Reading: each script on a snapshot of its own, a few side by side, and readers that keep their snapshot.

import type { Clock } from '../../ports/clock.ts'
import type { Engine, Reader } from '../texts/engine.ts'
import { NotQuiet, triedLongFault, whyNotWritten } from './errors.ts'
import { GENERIC_PLAN, type Session } from './session.ts'
import type { Transactor } from './transactor.ts'

/** Runs `begin`, which takes a snapshot, while nothing is being written. */
export type WhenQuiet = <T>(begin: () => Promise<T>) => Promise<T>

export interface Reads extends Pick<Engine, 'read'> {
  /** What a worker asks all the time. */
  readOften: Engine['read']
  openReader(): Promise<Reader>
  /** A connection of the caller's, in a transaction whose snapshot was taken while nothing was being written. */
  openSnapshot(): Promise<Session>
}

type Sleeper = Pick<Clock, 'monotonicMs' | 'sleep'>

/** So many reads go on side by side. */
const MOST = 4
const AGAIN_AFTER_MS = 100
/** A read that cannot be carried out for so long is given up. */
const PATIENCE_MS = 10_000

export function createReads(connect: () => Promise<Session>, whenQuiet: WhenQuiet, clock: Sleeper): Reads {
  const idle: Session[] = []
  const waiting: Array<() => void> = []
  let open = 0

  async function take(): Promise<Session> {
    while (open >= MOST && idle.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    for (let one = idle.pop(); one !== undefined; one = idle.pop()) {
      if (!one.isOver) return one
      open -= 1
    }
    open += 1
    try {
      return await connect()
    } catch (error) {
      open -= 1
      waiting.shift()?.()
      throw error
    }
  }

  function giveBack(session: Session): void {
    if (session.isOver) open -= 1
    else idle.push(session)
    waiting.shift()?.()
  }

  async function readOnce<T>(read: (session: Session) => Promise<T>): Promise<T> {
    const session = await take()
    try {
      return await read(session)
    } finally {
      giveBack(session)
    }
  }

  const openSnapshot = () =>
    again(clock, async () => {
      const opened = await connect()
      await whenQuiet(() => opened.begin('REPEATABLE READ', TAKE_SNAPSHOT)).catch(async (error: unknown) => {
        await opened.close()
        throw error
      })
      return opened
    })

  return {
    read: (script, moment) =>
      again(clock, () =>
        readOnce((session) => session.read(script(), moment === 'settled' ? { begin: whenQuiet } : {})),
      ),
    readOften: (script) =>
      again(clock, () => readOnce((session) => session.read(script(), { settings: GENERIC_PLAN }))),
    openSnapshot,
    async openReader() {
      const session = await openSnapshot()
      return {
        read: (script) => session.patiently(() => session.run(script())),
        close: () => session.close(),
      }
    },
  }
}

/** Again, for a while, where it failed for something that can be waited out. */
export async function again<T>(clock: Sleeper, read: () => Promise<T>): Promise<T> {
  const untilMs = clock.monotonicMs() + PATIENCE_MS
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (whyNotWritten(error) === null) throw error
      if (clock.monotonicMs() > untilMs) throw triedLongFault(error)
      await clock.sleep(AGAIN_AFTER_MS)
    }
  }
}

/** The first statement takes the snapshot. */
const TAKE_SNAPSHOT = 'SELECT 1'

/** All steps see one snapshot, whatever others commit meanwhile. */
export async function inSnapshot<T>(session: Session, run: () => Promise<T>): Promise<T> {
  await session.begin('REPEATABLE READ', TAKE_SNAPSHOT)
  try {
    const found = await run()
    await session.commit()
    return found
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** One after another, each with the turnstile held exclusively. What `begin` throws is its caller's to deal with. */
export function quietBy(transactor: Pick<Transactor, 'write'>): WhenQuiet {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(begin: () => Promise<T>) => {
    const next = last.then(async () => {
      for (;;) {
        const begun: Promise<T>[] = []
        const how = await transactor.write('exclusive', async () => {
          const beginning = begin()
          begun.push(beginning)
          await beginning.catch(() => {})
        })
        const [first] = begun
        if (first !== undefined) {
          const found = await first
          if (how.kind === 'written') return found
          // The turnstile may have been lost before the snapshot was taken: the caller takes another one.
          throw new NotQuiet()
        }
        if (how.kind === 'broke') throw how.error
        if (how.kind === 'written') throw new Error('bug: nothing was begun')
        if (how.fault !== undefined) throw how.fault
      }
    })
    last = next.catch(() => {})
    return next
  }
}
