// Files that are moved and written so that a crash leaves them here or there, whole, and nothing is written over.

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { link, lstat, mkdir, open, readFile, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from '../domain/errors.ts'
import type { InboxReport } from '../domain/inbox.ts'
import { visible } from '../domain/visible.ts'
import { writeDurably } from '../files/durable.ts'
import { shareDirectory } from '../files/unfinished.ts'

export type Stat = NonNullable<Awaited<ReturnType<typeof statOf>>>

/** Of the entry itself: what a link leads to is no file of this folder. */
export async function statOf(path: string) {
  return lstat(path, { bigint: true }).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  })
}

/** What a rename leaves as it is. */
export function toFingerprint(stat: Stat): string {
  return `${stat.isFile()}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

export async function fingerprintOf(path: string): Promise<string | null> {
  const stat = await statOf(path)
  return stat === null ? null : toFingerprint(stat)
}

export async function mkdirUnlessThere(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    await shareDirectory(path)
    return true
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/** A rename is the only proof that both are of one file system and may be written. */
export async function tryToMove(from: string, into: string): Promise<void> {
  const name = `.tranche-${randomBytes(6).toString('hex')}.tmp`
  await (await open(join(from, name), 'wx')).close()
  try {
    await rename(join(from, name), join(into, name))
    await unlink(join(into, name))
  } catch (error) {
    await rm(join(from, name), { force: true })
    throw error
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await statOf(path)) !== null
}

/** A report that is there already keeps its time: people see by it what is new. */
export async function isSame(path: string, report: InboxReport): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => null)) === textOf(report)
}

export async function writeOnce(path: string, report: InboxReport): Promise<void> {
  if (!(await exists(path))) await writeWhole(path, report)
}

export async function writeWhole(path: string, report: InboxReport): Promise<void> {
  await writeDurably(path, ({ fd }) => writeFileSync(fd, textOf(report)))
}

function textOf(report: InboxReport): string {
  return report.map((line) => `${visible(line)}\n`).join('')
}

/** A rename would write over what is there; a second name never does. false: something is there. */
export async function moveUnlessThere(from: string, to: string): Promise<boolean> {
  switch (await linkTo(from, to)) {
    case 'linked':
      await unlink(from)
      return true
    case 'there':
      // Cut off between the two steps the last time: both are names of the one file.
      if ((await fingerprintOf(from)) !== (await fingerprintOf(to))) return false
      await unlink(from)
      return true
    case 'impossible':
      if (await exists(to)) return false
      await rename(from, to)
      return true
  }
}

/** `impossible`: a file system without second names. */
export async function linkTo(from: string, to: string): Promise<'linked' | 'there' | 'impossible'> {
  try {
    await link(from, to)
    return 'linked'
  } catch (error) {
    const code = errorCodeOf(error) ?? ''
    if (code === 'EEXIST') return 'there'
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) return 'impossible'
    throw error
  }
}

export function unlessThere(error: unknown): void {
  if (errorCodeOf(error) !== 'EEXIST') throw error
}
