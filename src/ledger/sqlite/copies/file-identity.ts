// What of a file, and of a machine, no copy carries along.

import { createHash } from 'node:crypto'
import { type BigIntStats, readFileSync, statSync } from 'node:fs'

/** As text: these numbers may be larger than JavaScript holds. null: not known, and so not compared. */
export interface FileIdentity {
  readonly inode: string
  /** When the file was made: no copying sets it. Some file systems do not keep it. */
  readonly bornNs: string | null
  /** When its content, owner or mode last changed: no program can set it. */
  readonly changedNs: string | null
}

/** Looks at the name only: opening the ledger here would drop SQLite's locks. */
export function fileIdentityOf(path: string): FileIdentity | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : toFileIdentity(found)
}

export function toFileIdentity({ ino, birthtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return { inode: String(ino), bornNs: birthtimeNs === 0n ? null : String(birthtimeNs), changedNs: String(ctimeNs) }
}

export function inodeOf(path: string): string | null {
  return fileIdentityOf(path)?.inode ?? null
}

/**
 * Writing to a file sets both of its times. A copy with the times of its original, a change of its mode or a link to it sets
 * them apart. null: there is no such file.
 */
export function timesAgree(path: string): boolean | null {
  for (;;) {
    const found = timesOf(path)
    if (found === null || found.written === found.changed) return found === null ? null : true
    // The system sets one after the other, and a worker may be writing to it at this moment.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOMENT_MS)
    const again = timesOf(path)
    if (again?.written === found.written && again.changed === found.changed) return false
  }
}

/** Longer than a process is kept from its processor between two instructions, mostly. */
const MOMENT_MS = 10

function timesOf(path: string): { readonly written: bigint; readonly changed: bigint } | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : { written: found.mtimeNs, changed: found.ctimeNs }
}

export function isOtherFile(remembered: FileIdentity | null, found: FileIdentity | null): boolean {
  if (remembered === null) return false
  return found === null || remembered.inode !== found.inode || isKnownToDiffer(remembered.bornNs, found.bornNs)
}

export function isKnownToDiffer(remembered: string | null, found: string | null): boolean {
  return remembered !== null && found !== null && remembered !== found
}

const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** Hashed, as the makers of the machine id ask for. null: this system has none; in most containers it does not. */
export function machineFor(ledgerId: string): string | null {
  for (const file of MACHINE_ID_FILES) {
    const id = readIfThere(file)?.trim() ?? ''
    if (!/^[0-9a-f]{32}$/.test(id)) continue
    return createHash('sha256').update(`tranche ${ledgerId} ${id}`).digest('hex').slice(0, 16)
  }
  return null
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
