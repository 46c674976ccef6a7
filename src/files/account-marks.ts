// Marks that every user of this machine sees: which ledgers are used for which gateway account. Best effort: whoever owns a
// mark may take it away, and a machine without a place for them has none.

import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

export interface AccountMark {
  readonly ledgerId: string
  /** Where that ledger is, as its user wrote it. Never to be believed further than shown. */
  readonly where: string
  /** The mark itself. */
  readonly path: string
}

const MODE = 0o1777
const WHERE_BYTES_MOST = 500
const TO_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** `account`: in hex, as is `ledgerId`. A name that is taken, by a link as well, stays what it is. */
export async function markAccount(dir: string, account: string, ledgerId: string, where: string): Promise<void> {
  try {
    await makeShared(dir)
    const file = await open(join(dir, `${account}.${ledgerId}`), 'wx')
    await writeForAll(file, where.slice(0, WHERE_BYTES_MOST)).finally(() => file.close())
  } catch {
    // There already, or no place for it.
  }
}

/** The process lets nobody else read what it makes. */
async function writeForAll(file: FileHandle, text: string): Promise<void> {
  await file.chmod(0o644)
  await file.writeFile(text)
}

/** Those of other ledgers than this one. */
export async function otherMarks(dir: string, account: string, ledgerId: string | null): Promise<AccountMark[]> {
  const names = await readdir(dir).catch(() => [])
  const marks = names.flatMap((name) => {
    const [of, id, more] = name.split('.')
    return of === account && id !== undefined && id !== ledgerId && more === undefined ? [id] : []
  })
  return Promise.all(
    marks.map(async (id) => {
      const path = join(dir, `${account}.${id}`)
      return { ledgerId: id, where: await contentOf(path), path }
    }),
  )
}

/** Everybody may leave a mark there, and nobody may take that of another away. One that somebody put in its place is not used. */
async function makeShared(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true })
  if (made !== undefined) await chmod(dir, MODE)
  const stat = await lstat(dir)
  if (!stat.isDirectory() || (stat.mode & 0o1000) === 0) throw new Error('it is no shared folder')
}

/** Empty where it cannot be read. */
async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path, TO_READ)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(WHERE_BYTES_MOST))
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
