// Files that came over the network.

import type { App } from '../app.ts'
import type { WhyNotTaken } from '../spool/room.ts'
import type { Spool } from '../spool/spool.ts'

export type { Incoming } from '../spool/incoming.ts'
export type { Spool } from '../spool/spool.ts'
export type { Upload } from '../spool/uploads.ts'

export async function openSpool({ config, clock }: App): Promise<Spool> {
  const { openSpool: open } = await import('../spool/spool.ts')
  const { dataDir, serving } = config
  return open({ dataDir, bytesMost: serving.uploadBytesMost, nowMs: () => clock.nowMs() })
}

/** Why a file was not taken; null: another error. */
export async function whyNotTaken(error: unknown): Promise<WhyNotTaken | null> {
  const { NotTaken } = await import('../spool/room.ts')
  return error instanceof NotTaken ? error.why : null
}
