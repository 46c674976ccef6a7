// How much there is room for in the spool, and for how many files at once.

import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Why a file was not taken. Nothing of it is kept. */
export type WhyNotTaken = 'too-large' | 'empty' | 'cut' | 'busy' | 'no-room'

export class NotTaken extends Error {
  override readonly name = 'NotTaken'
  readonly why: WhyNotTaken

  constructor(why: WhyNotTaken) {
    super(`the file was not taken: ${why}`)
    this.why = why
  }
}

/** Bytes that are in the spool, those of files on their way in included, and who brings them. */
export interface Room {
  /** Anew, of what is there. */
  count(): Promise<void>
  /** Rejects with NotTaken where there is no room for so many more. */
  assertFree(more: number): Promise<void>
  /** Throws NotTaken where they are too many. */
  add(bytes: number): void
  /** Throws NotTaken where too many are on their way, of that caller or of all. Answers with what lets the next one in. */
  enter(by: string): () => void
}

export interface RoomLimits {
  readonly quotaBytes?: number
  readonly incomingMost?: number
  readonly incomingMostOfOne?: number
}

const GIB = 1024 ** 3
/** The ledger is on the same disk, and needs room to say what became of the rows. */
const LEFT_FREE_BYTES = GIB / 4
const INCOMING_MOST = 16
const INCOMING_MOST_OF_ONE = 4

export function createRoom(directory: string, limits: RoomLimits): Room {
  const { quotaBytes = 2 * GIB, incomingMost = INCOMING_MOST, incomingMostOfOne = INCOMING_MOST_OF_ONE } = limits
  const incoming: string[] = []
  let used = 0
  return {
    async count() {
      used = await bytesIn(directory)
    },
    async assertFree(more) {
      const { bavail, bsize } = await statfs(directory)
      if (used + more > quotaBytes || bavail * bsize < more + LEFT_FREE_BYTES) throw new NotTaken('no-room')
    },
    add(bytes) {
      used += bytes
      if (used > quotaBytes) throw new NotTaken('no-room')
    },
    // Slow senders hold a place each: a few of them must not keep all others out.
    enter(by) {
      const own = incoming.filter((one) => one === by).length
      if (own >= incomingMostOfOne || incoming.length >= incomingMost) throw new NotTaken('busy')
      incoming.push(by)
      let isIn = true
      return () => {
        if (isIn) incoming.splice(incoming.indexOf(by), 1)
        isIn = false
      }
    },
  }
}

async function bytesIn(directory: string): Promise<number> {
  let sum = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    sum += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0
  }
  return sum
}
