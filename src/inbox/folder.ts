// The folder of an inbox. It is looked at again and again, because network shares do not tell when something changes, and
// all that is remembered is where a file stands and what it is called there.

import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Archived, InboxFolder, TakenFile } from '../domain/inbox.ts'
import { syncDirectory } from '../files/durable.ts'
import { openFile, readTextSync } from '../files/open-file.ts'
import { sweepUnfinished } from '../files/unfinished.ts'
import type { Clock } from '../ports/clock.ts'
import { openLooks, removeMark } from './looks.ts'
import {
  FOLDERS,
  type Folder,
  leftReportOf,
  MARK,
  NOT_TAKEN,
  PASSING,
  partsOf,
  reportPathOf,
  TAKEN_ENDINGS,
  takenAtOf,
} from './names.ts'
import {
  exists,
  fingerprintOf,
  linkTo,
  mkdirUnlessThere,
  moveUnlessThere,
  statOf,
  tryToMove,
  unlessThere,
  writeOnce,
  writeUnlessSame,
  writeWhole,
} from './renames.ts'

export interface OpenedInbox extends InboxFolder {
  /** Absolute, symbolic links resolved. */
  readonly path: string
  /** Folders that were not there before. */
  readonly made: readonly string[]
  /** Ties the folder to one ledger for good. Resolves to the id of the inbox; faults where it is tied to another. */
  bind(ledgerId: string): Promise<string>
}

export interface InboxOptions {
  readonly path: string
  /** A file must have stood unchanged for so long. */
  readonly stableMs: number
  readonly clock: Clock
}

/** Faults with `usage` where files could not be taken from there. */
export async function openInbox({ path: given, stableMs, clock }: InboxOptions): Promise<OpenedInbox> {
  const { path, made } = await prepare(given)
  const at = (folder: Folder, name = '') => join(path, folder, name)
  const looks = openLooks(path, stableMs, clock)
  const opened = await identitiesOf(path)

  async function giveBack(file: TakenFile): Promise<string> {
    const { stem, ending } = partsOf(file.name)
    for (const name of [file.name, `${stem}.returned-${file.id}${ending}`]) {
      if (!(await moveUnlessThere(file.path, join(path, name)))) continue
      await syncDirectory(path)
      await rmdir(dirname(file.path)).catch(() => {})
      return name
    }
    throw new Error(`bug: ${file.id} was given back twice`)
  }

  /** Durable before anyone is told: a file that stood in the inbox again after a power cut would be submitted again. */
  async function putAway(file: TakenFile, target: string): Promise<string> {
    await rename(file.path, target)
    for (const folder of [dirname(target), dirname(file.path), path]) await syncDirectory(folder)
    await rmdir(dirname(file.path)).catch(() => {})
    return target
  }

  /** The folder may hold thousands of rejected files: what an earlier process left there is read once. */
  let reportNames: Set<string> | null = null
  async function knownReports(): Promise<Set<string>> {
    reportNames ??= new Set((await readdir(at('rejected'))).filter((name) => name.endsWith(NOT_TAKEN)))
    return reportNames
  }

  const rejectedStem = (file: TakenFile) => at('rejected', `${partsOf(file.name).stem}.${file.id}`)

  return {
    path,
    made,
    giveBack,
    rejectedStem,
    async assertUnmoved() {
      const now = await identitiesOf(path)
      const moved = ['', ...FOLDERS].find((_, i) => now[i] !== opened[i])
      if (moved === undefined) return
      throw new Error(
        `${join(path, moved)} was moved, or another folder or a link was put in its place: nothing is taken or written until it is back; if that was meant, start the inbox again`,
      )
    },
    bind: (ledgerId) => bind(path, ledgerId),
    look: () => looks.look(),
    pathOf: (name) => join(path, name),

    async take(name, fingerprint) {
      const takenAtMs = clock.nowMs()
      const id = `${new Date(takenAtMs).toISOString().replace(/[-:.]/g, '')}-${randomBytes(3).toString('hex')}`
      const [unproven, proven] = [at('claimed', `.${id}`), at('claimed', id)]
      await mkdir(unproven)
      // Before the file, not after it: a mark that was left behind would call the next file of this name complete.
      await removeMark(join(path, `${name}${MARK}`))
      try {
        await rename(join(path, name), join(unproven, name))
        if ((await fingerprintOf(join(unproven, name))) !== fingerprint) {
          await giveBack({ id, name, takenAtMs, path: join(unproven, name) })
          return null
        }
        await rename(unproven, proven)
      } catch (error) {
        await rmdir(unproven).catch(() => {})
        if (errorCodeOf(error) === 'ENOENT') return null
        throw error
      }
      await rm(at('rejected', leftReportOf(name)), { force: true })
      return { id, name, takenAtMs, path: join(proven, name) }
    },

    async claims() {
      const found = (await readdir(at('claimed'))).filter((claim) => takenAtOf(idOf(claim)) !== null)
      return found.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    },

    async taken(claim) {
      const id = idOf(claim)
      const takenAtMs = takenAtOf(id) ?? 0
      const names = (await readdir(at('claimed', claim))).filter((name) => !PASSING.test(name))
      const files = names.map((name) => ({ id, name, takenAtMs, path: join(at('claimed', claim), name) }))
      if (files.length === 0) await rmdir(at('claimed', claim)).catch(() => {})
      if (claim === id) return files
      // The process that took it died before it was compared: it may be another one than was looked at, and still be written to.
      for (const file of files) await giveBack(file)
      return []
    },

    async archive(file, batchId, report) {
      const { stem, ending } = partsOf(file.name)
      const first = `${stem}.${batchId}`
      const ofBatch = (await readdir(at('archive'))).filter(
        (name) => name.includes(`.${batchId}.`) && !name.startsWith('.'),
      )
      const isFirst = ofBatch.every((name) => name === basename(reportPathOf(first)))
      const name = isFirst ? first : `${first}.again-${file.id}`
      await writeOnce(reportPathOf(at('archive', name)), report)
      return putAway(file, at('archive', `${name}${ending}`))
    },

    async archiveReport(file, batchId, report) {
      await writeOnce(reportPathOf(at('archive', `${partsOf(file.name).stem}.${batchId}`)), report)
    },

    async reject(file, report) {
      const stem = rejectedStem(file)
      await writeWhole(reportPathOf(stem), report)
      return { path: await putAway(file, `${stem}${partsOf(file.name).ending}`), report: reportPathOf(stem) }
    },

    async reportLeft(name, report) {
      const reportName = leftReportOf(name)
      ;(await knownReports()).add(reportName)
      await writeUnlessSame(at('rejected', reportName), report)
      return at('rejected', reportName)
    },

    async forgetGone(entries) {
      const kept = new Set(entries.map(({ name }) => leftReportOf(name)))
      const known = await knownReports()
      for (const reportName of known) {
        if (kept.has(reportName)) continue
        await rm(at('rejected', reportName), { force: true })
        known.delete(reportName)
      }
    },

    async reportChanged(batchId, report) {
      await writeWhole(reportPathOf(at('rejected', `${batchId}.changed`)), report)
    },

    async archived() {
      const byBatch = Map.groupBy(await archivedIn(path), (one) => one.batchId)
      return Array.from(byBatch.values(), ([first]) => first as Archived)
    },

    async sha256Of(path) {
      const hash = createHash('sha256')
      await pipeline((await openFile(path)).createReadStream(), hash)
      return hash.digest('hex')
    },
  }
}

/** A claim is hidden until what was taken is known to be what was looked at. */
function idOf(claim: string): string {
  return claim.replace(/^\./, '')
}

// ───────────────────────────────────────────────────────────── The folder itself

async function prepare(given: string): Promise<{ path: string; made: readonly string[] }> {
  const made: string[] = []
  const refuse = (what: string, error: unknown) =>
    new Fault('usage', `The inbox ${given} ${what}. Nothing was taken and nothing was sent.`, { cause: error })
  try {
    const path = await realpath(given)
    if (!(await lstat(path)).isDirectory())
      throw refuse('is not a folder: name the folder that files are put into', null)
    for (const folder of FOLDERS) {
      if (await mkdirUnlessThere(join(path, folder))) made.push(join(path, folder))
      // Results are known by their path, which a link would hide.
      if (!(await lstat(join(path, folder))).isDirectory())
        throw refuse(`has ${folder} in it, which is no folder`, null)
      await tryToMove(path, join(path, folder))
      await sweepUnfinished(join(path, folder), null)
    }
    return { path, made }
  } catch (error) {
    if (error instanceof Fault) throw error
    switch (errorCodeOf(error)) {
      case 'ENOENT':
        throw refuse('does not exist: make it first, or correct the name', error)
      case 'ENOTDIR':
        throw refuse('is not a folder: name the folder that files are put into', error)
      case 'EXDEV':
        throw refuse(
          'has a folder of its own (claimed, archive, rejected or results) on another file system: files are moved there by rename, so put it on the same one',
          error,
        )
      case 'EACCES':
      case 'EPERM':
      case 'EROFS':
        throw refuse(
          'may not be written by this user: files are moved out of it and into its folders claimed, archive, rejected and results',
          error,
        )
      default:
        throw refuse(`cannot be used (${errorCodeOf(error) ?? String(error)})`, error)
    }
  }
}

/** What each of the folders is, whatever its name leads to. */
async function identitiesOf(path: string): Promise<readonly string[]> {
  const stats = await Promise.all(['', ...FOLDERS].map((folder) => statOf(join(path, folder))))
  return stats.map((stat) => (stat?.isDirectory() === true ? `${stat.dev}:${stat.ino}` : 'none'))
}

/** Which ledger the folder belongs to. In the folder, because a ledger on another host must see it too. */
const OWNER = '.tranche-inbox.json'

async function bind(path: string, ledgerId: string): Promise<string> {
  const ownerPath = join(path, OWNER)
  const inboxId = randomBytes(8).toString('hex')
  if (!(await exists(ownerPath))) {
    const unfinished = join(path, `${OWNER}.${inboxId}.tmp`)
    const text = JSON.stringify({ ledger: ledgerId, inbox: inboxId })
    await writeWhole(unfinished, [text])
    // The second process finds a whole file; without second names it may find an empty one, and is refused.
    if ((await linkTo(unfinished, ownerPath)) === 'impossible')
      await writeFile(ownerPath, text, { flag: 'wx' }).catch(unlessThere)
    await rm(unfinished, { force: true })
    await syncDirectory(path)
  }
  const owner = parseOwner(readTextSync(ownerPath))
  if (owner?.ledger === ledgerId) return owner.inbox
  throw new Fault(
    'config',
    owner === null
      ? `${ownerPath} cannot be read, so nobody knows which ledger this inbox belongs to. Nothing was taken. If no other ledger takes files from here, remove that file.`
      : `The inbox ${path} belongs to another ledger (${owner.ledger}, this one is ${ledgerId}): two ledgers would each send what is in it. Nothing was taken and nothing was sent. Set TRANCHE_DATA_DIR to that ledger, or use a folder of its own. If that ledger is gone for good: see in its backup what was sent, empty claimed/, then remove ${ownerPath}.`,
  )
}

function parseOwner(text: string): { ledger: string; inbox: string } | null {
  try {
    const { ledger, inbox } = JSON.parse(text) as Record<string, unknown>
    return typeof ledger === 'string' && typeof inbox === 'string' && /^[0-9a-f]{16}$/.test(inbox)
      ? { ledger, inbox }
      : null
  } catch {
    return null
  }
}

/** The report of a batch is what remembers it: it stands before the file is moved beside it. */
const ARCHIVED_REPORT = /^(?<stem>.+)\.(?<batch>\d{6}-[0-9a-z]{5})\.report\.txt$/s

async function archivedIn(path: string): Promise<Array<Archived & { readonly stem: string }>> {
  const names = (await readdir(join(path, 'archive'))).toSorted()
  const files = new Map(names.map((name) => [name.replace(TAKEN_ENDINGS, ''), name]))
  return names.flatMap((name) => {
    const { stem, batch } = ARCHIVED_REPORT.exec(name)?.groups ?? {}
    if (stem === undefined || batch === undefined) return []
    const file = files.get(`${stem}.${batch}`)
    return {
      stem,
      batchId: batch as BatchId,
      path: file === undefined ? null : join(path, 'archive', file),
      resultsPath: join(path, 'results', `${stem}.${batch}.results.csv`),
    }
  })
}
