// The file with the epoch beside the ledger: put there whole or not at all.

import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCodeOf } from '../../../domain/errors.ts'
import { syncDirectorySync } from '../../../files/durable.ts'
import { type Epoch, generationOf } from '../../rules/alarming.ts'
import { type FileIdentity, fileIdentityOf, toFileIdentity } from './file-identity.ts'

export const EPOCH_FILE = 'ledger.epoch'

export function epochFileOf(ledgerPath: string): FileIdentity | null {
  return fileIdentityOf(epochPathOf(ledgerPath))
}

/** Later than all of `before`: which number, and a word that no copy can guess. */
export function nextEpoch(before: readonly string[], word = randomBytes(12).toString('hex')): string {
  return `${Math.min(Math.max(0, ...before.map(generationOf)) + 1, LAST_GENERATION)}-${word}`
}

/** No ledger comes to it by itself. Another epoch that has it counts as later, so that nothing is sent. */
const LAST_GENERATION = 999_999_999_999

/** null: there is none. A file with other content holds no epoch. */
export function readEpoch(ledgerPath: string): Epoch | null {
  try {
    const [ledgerId = '', epoch = ''] = readFileSync(epochPathOf(ledgerPath), 'utf8').trim().split(' ')
    return { ledgerId, epoch }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

export interface StagedEpoch {
  /** Of the file that is put in place: its inode and its birth are known before. */
  readonly file: FileIdentity
  /** Whether the two times of a file that was just written to agree, as they do on most file systems. */
  readonly timesAgree: boolean
  /** Whole or not at all, and on the disk when it returns. */
  put(): void
  discard(): void
}

export function stageEpoch(ledgerPath: string, { ledgerId, epoch }: Epoch): StagedEpoch {
  const path = epochPathOf(ledgerPath)
  const unfinished = `${path}.${process.pid}.new`
  const discard = () => rmSync(unfinished, { force: true })
  try {
    const handle = openSync(unfinished, 'w', 0o600)
    try {
      writeSync(handle, `${ledgerId} ${epoch}\n`)
      fsyncSync(handle)
      const found = fstatSync(handle, { bigint: true })
      return {
        file: { ...toFileIdentity(found), changedNs: null }, // the rename changes that
        timesAgree: found.mtimeNs === found.ctimeNs,
        discard,
        put() {
          renameSync(unfinished, path)
          syncDirectorySync(dirname(path))
        },
      }
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    discard()
    throw error
  }
}

function epochPathOf(ledgerPath: string): string {
  return join(dirname(ledgerPath), EPOCH_FILE)
}
