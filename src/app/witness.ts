// Where it is remembered, outside the data directory, how far the ledger had come.

import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { ledgerExists } from './data-directory.ts'
import { witnessFilesOf } from './server-ledger.ts'

/** Faults where a person named one that cannot be used. Without a record, none is made for it. */
export async function witnessDirsOf(app: App, isRecorded = ledgerExists(app)): Promise<readonly string[]> {
  const { witnessDirs, witnessNamed, dataDir } = app.config
  if (!witnessNamed || (!isRecorded && !witnessDirs.every((dir) => existsSync(dir)))) return witnessDirs
  const { placeIn } = await import('../ledger/sqlite/copies/witness-places.ts')
  return witnessDirs.map((dir) => placeIn(dir, dataDir))
}

/** Whether anything outside the data directory remembers the ledger. */
export async function isWitnessed(app: App): Promise<boolean> {
  if (app.config.ledgerServer !== null) return witnessFilesOf(app).length > 0
  const { testimoniesOf } = await import('../ledger/sqlite/copies/witness.ts')
  return testimoniesOf(await witnessDirsOf(app), app.paths.ledger).length > 0
}
