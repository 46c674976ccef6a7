// What this machine remembers of the ledger, in a file of the place at which it works: which epoch it saw, and the last transaction of its
// own that was committed. A server that was put back knows less.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync } from '../../../files/durable.ts'
import type { Witnessed } from '../../rules/histories.ts'

export interface ServerWitness {
  /** Whole and on the disk when it returns. */
  keep(seen: Witnessed): void
  /** In place: it survives a crash of this process, and is on the disk with the next epoch. */
  committed(commitNo: number): void
  close(): void
}

const DIGITS = 16

/** `path`: null: this process works at no place. */
export function createServerWitness(path: string | null): ServerWitness {
  let handle: number | null = null
  let last = 0
  const close = () => {
    if (handle !== null) closeSync(handle)
    handle = null
  }
  return {
    keep(seen) {
      if (path === null) return
      const unfinished = `${path}.new`
      const next = openSync(unfinished, 'w', 0o600)
      writeSync(next, toText({ ...seen, commitNo: Math.max(last, seen.commitNo) }))
      fsyncSync(next)
      renameSync(unfinished, path)
      syncDirectorySync(dirname(path))
      close()
      handle = next
    },
    committed(commitNo) {
      last = Math.max(last, commitNo)
      if (handle !== null) writeSync(handle, digitsOf(last), 0)
    },
    close,
  }
}

/** null: there is none that can be read; it then says nothing. */
export function readServerWitness(path: string): Witnessed | null {
  try {
    const [commitNo, transactorId, ledgerId, epochNo, epoch] = readFileSync(path, 'utf8').trim().split(' ')
    if (ledgerId === undefined || epoch === undefined) return null
    const seen = {
      ledgerId,
      epoch,
      epochNo: Number(epochNo),
      transactorId: Number(transactorId),
      commitNo: Number(commitNo),
    }
    return Number.isSafeInteger(seen.epochNo + seen.transactorId + seen.commitNo) ? seen : null
  } catch {
    return null
  }
}

function toText({ ledgerId, epochNo, epoch, transactorId, commitNo }: Witnessed): string {
  return `${digitsOf(commitNo)} ${transactorId} ${ledgerId} ${epochNo} ${epoch}\n`
}

function digitsOf(number: number): string {
  return String(number).padStart(DIGITS, '0')
}
