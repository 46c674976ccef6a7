// Files that were taken out of an inbox and not put away yet: each in a folder of its own in claimed/.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCodeOf } from '../domain/errors.ts'
import type { InboxFolder, TakenFile } from '../domain/inbox.ts'
import { syncDirectory } from '../files/durable.ts'
import type { Clock } from '../ports/clock.ts'
import { removeMark } from './looks.ts'
import { leftReportOf, MARK, PASSING, partsOf, takenAtOf } from './names.ts'
import { fingerprintOf, moveUnlessThere } from './renames.ts'

export function createClaims(path: string, clock: Clock): Pick<InboxFolder, 'take' | 'claims' | 'taken' | 'giveBack'> {
  const at = (claim = '') => join(path, 'claimed', claim)

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

  return {
    giveBack,

    async take(name, fingerprint) {
      const takenAtMs = clock.nowMs()
      const id = `${new Date(takenAtMs).toISOString().replace(/[-:.]/g, '')}-${randomBytes(3).toString('hex')}`
      const [unproven, proven] = [at(`.${id}`), at(id)]
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
      await rm(join(path, 'rejected', leftReportOf(name)), { force: true })
      return { id, name, takenAtMs, path: join(proven, name) }
    },

    async claims() {
      const found = (await readdir(at())).filter((claim) => takenAtOf(idOf(claim)) !== null)
      return found.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    },

    async taken(claim) {
      const id = idOf(claim)
      const takenAtMs = takenAtOf(id) ?? 0
      const names = (await readdir(at(claim))).filter((name) => !PASSING.test(name))
      const files = names.map((name) => ({ id, name, takenAtMs, path: join(at(claim), name) }))
      if (files.length === 0) await rmdir(at(claim)).catch(() => {})
      if (claim === id) return files
      // The process that took it died before it was compared: it may be another one than was looked at, and still be written to.
      for (const file of files) await giveBack(file)
      return []
    },
  }
}

/** A claim is hidden until what was taken is known to be what was looked at. */
function idOf(claim: string): string {
  return claim.replace(/^\./, '')
}
