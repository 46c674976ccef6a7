// Reading: each script on a moment of its own, a few side by side, and readers that keep their moment.

import type { Clock } from '../../ports/clock.ts'
import type { Engine, Reader } from '../texts/engine.ts'
import { triedLongFault, whyNotWritten } from './errors.ts'
import { PLANNED_ONCE, type Session } from './session.ts'

/** Runs `begin` at a moment at which nothing is being written. */
export type Settled = <T>(begin: () => Promise<T>) => Promise<T>

export interface Reads extends Pick<Engine, 'read'> {
  /** What a worker asks all the time. */
  readOften: Engine['read']
  openReader(): Promise<Reader>
  /** A connection of the caller's, in a transaction that sees one moment, at which nothing was being written. */
  openMoment(): Promise<Session>
}

type Waiting = Pick<Clock, 'monotonicMs' | 'sleep'>

/** So many reads go on side by side. */
const MOST = 4
const AGAIN_AFTER_MS = 100
/** A read that meets no server for so long is given up. */
const PATIENCE_MS = 10_000

export function createReads(connect: () => Promise<Session>, settled: Settled, clock: Waiting): Reads {
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

  const openMoment = () =>
    again(clock, async () => {
      const opened = await connect()
      await settled(() => opened.begin('REPEATABLE READ', MOMENT)).catch(async (error: unknown) => {
        await opened.close()
        throw error
      })
      return opened
    })

  return {
    read: (script, moment) =>
      again(clock, () => readOnce((session) => session.read(script(), moment === 'settled' ? { begin: settled } : {}))),
    readOften: (script) =>
      again(clock, () => readOnce((session) => session.read(script(), { settings: PLANNED_ONCE }))),
    openMoment,
    async openReader() {
      const session = await openMoment()
      return {
        read: (script) => session.patiently(() => session.run(script())),
        close: () => session.close(),
      }
    },
  }
}

/** While the server cannot be reached, for a while. */
export async function again<T>(clock: Waiting, read: () => Promise<T>): Promise<T> {
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

/** The first statement takes the moment. */
const MOMENT = 'SELECT 1'

/** What all steps see is one moment, whatever others commit meanwhile. */
export async function inOneMoment<T>(session: Session, run: () => Promise<T>): Promise<T> {
  await session.begin('REPEATABLE READ', MOMENT)
  try {
    const found = await run()
    await session.commit()
    return found
  } catch (error) {
    await session.rollback()
    throw error
  }
}
