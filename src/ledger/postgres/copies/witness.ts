// What this machine remembers of the ledger, in a file of the place at which it works: which epoch it saw, and the last transaction of its
// own that was committed. A server that was put back knows less. The Redis that the hosts share is told the same, so that others know of it
// when this machine is gone.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync } from '../../../files/durable.ts'
import type { SharedRegister } from '../../../ports/ledger/copies.ts'
import type { Witnessed } from '../../rules/histories.ts'

export interface ServerWitness {
  /**
   * An epoch: whole and on the disk when it returns. `since`: the last commit before it was begun. `register`: told of it, and of what is
   * committed from now on.
   */
  keep(epoch: Omit<Witnessed, 'commitNo'>, since: number, register: SharedRegister | null): void
  /** 0: none is known. */
  lastCommit(): number
  /** In place: it survives a crash of this process, and is on the disk with the next epoch. */
  committed(commitNo: number): void
  close(): void
}

const DIGITS = 16

/** null: this process works at no place. */
export function createServerWitness(
  place: { readonly id: string; readonly witnessPath: string } | null,
): ServerWitness {
  let handle: number | null = null
  let last = 0
  let testify = (): void => {}
  const close = () => {
    if (handle !== null) closeSync(handle)
    handle = null
  }
  return {
    keep(epoch, since, register) {
      if (place === null) return
      const { id, witnessPath: path } = place
      const text = () => toText({ ...epoch, commitNo: last > since ? last : 0 })
      testify = () => register?.testify(id, text())
      testify()
      const unfinished = `${path}.new`
      const next = openSync(unfinished, 'w', 0o600)
      writeSync(next, text())
      fsyncSync(next)
      renameSync(unfinished, path)
      syncDirectorySync(dirname(path))
      close()
      handle = next
    },
    lastCommit: () => last,
    committed(commitNo) {
      last = Math.max(last, commitNo)
      if (handle !== null) writeSync(handle, digitsOf(last), 0)
      testify()
    },
    close,
  }
}

/** null: there is none that can be read; it then says nothing. */
export function readServerWitness(path: string): Witnessed | null {
  try {
    return parseWitnessed(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** null: it is not whole; it then says nothing. */
export function parseWitnessed(text: string): Witnessed | null {
  const [commitNo, transactorId, ledgerId, epochNo, epoch] = text.trim().split(' ')
  if (ledgerId === undefined || epoch === undefined) return null
  const seen = {
    ledgerId,
    epoch,
    epochNo: Number(epochNo),
    transactorId: Number(transactorId),
    commitNo: Number(commitNo),
  }
  return Number.isSafeInteger(seen.epochNo + seen.transactorId + seen.commitNo) ? seen : null
}

function toText({ ledgerId, epochNo, epoch, transactorId, commitNo }: Witnessed): string {
  return `${digitsOf(commitNo)} ${transactorId} ${ledgerId} ${epochNo} ${epoch}\n`
}

function digitsOf(number: number): string {
  return String(number).padStart(DIGITS, '0')
}
