// The data directory: whether it is there, and whether it is ours alone.

import { mkdirSync, statSync } from 'node:fs'
import type { App } from '../app.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'

/** Makes the directory where there is none. */
export function makeDataDir({ config: { dataDir } }: App): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = messageOf(error)
    throw new Fault(
      'config',
      `The data directory ${dataDir} cannot be made (${message}). Nothing was sent. Correct TRANCHE_DATA_DIR or its owner.`,
      { cause: error },
    )
  }
}

export function hasDataDir(app: App): boolean {
  return look(app.config.dataDir) !== undefined
}

/** Whether one is in the file of this directory, whatever the settings name. */
export function ledgerExists({ config, paths }: App): boolean {
  assertOwner(config.dataDir)
  return look(paths.ledgerFile) !== undefined
}

/** Who can write the directory can put another ledger there, or hold its locks, whatever the modes of the files. */
export function assertOwnDirectory(dataDir: string): void {
  assertOwner(dataDir)
  const mode = look(dataDir)?.mode ?? 0
  if ((mode & 0o022) === 0) return
  throw new Fault(
    'config',
    `Other users can write to the data directory ${dataDir} (mode ${(mode & 0o777).toString(8)}), so another record could be put in the place of this one. Nothing was sent. Take that right away (chmod go-w ${dataDir}), or let TRANCHE_DATA_DIR name a directory within it that only this user can write.`,
  )
}

/** Files that root makes there would be closed to the owner's own worker; any other user cannot read what is there. */
function assertOwner(dataDir: string): void {
  const uid = look(dataDir)?.uid
  if (uid === undefined || uid === (process.geteuid?.() ?? uid)) return
  throw new Fault(
    'config',
    `The data directory ${dataDir} belongs to another user (uid ${uid}). Nothing was sent. Run it as its owner: sudo -u '#${uid}' tranche …`,
  )
}

function look(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw new Fault(
      'config',
      `This user may not look at ${path} (${messageOf(error)}). Nothing was sent. Run it as the owner of the data directory (sudo -u NAME tranche …), or correct TRANCHE_DATA_DIR.`,
      { cause: error },
    )
  }
}
