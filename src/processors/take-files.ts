// Files that are complete are taken out of an inbox. What may not be taken stays where it is, with a report.

import { holdsCardData } from '../domain/card-secrets.ts'
import type { CardFinding, InboxEntry, StaysFor, TakenFile } from '../domain/inbox.ts'
import type { InboxParts } from './inbox-parts.ts'
import { errnoOf, ownErrnoOf, type Troubles } from './inbox-troubles.ts'

const TRIED_AGAIN =
  'it is tried again by itself: see that the user of the inbox may read and move it, give it a shorter name, or take it out'

/** `finish` resolves to whether the next file may be tried. */
export function createTaking<F>(
  parts: InboxParts<F>,
  troubles: Troubles,
  finish: (file: TakenFile) => Promise<boolean>,
) {
  const { folder, tell } = parts
  const said = new Map<string, string>()

  /** `why`: the same is met again at every pass. */
  async function leaveOnce(name: string, why: string, finding: StaysFor): Promise<void> {
    if (said.get(name) === why) return
    await leave(parts, name, finding)
    said.set(name, why)
  }

  /** null: it stands where it stood, or is gone. */
  async function takeOne(name: string, fingerprint: string): Promise<TakenFile | null> {
    let file = null as TakenFile | null
    await troubles.over(`${name}, which stays in the inbox`, async () => {
      try {
        const finding = await lookThrough(parts, folder.pathOf(name), name)
        if (finding === null) return // gone meanwhile
        if (finding.kind === 'none') {
          file = await folder.take(name, fingerprint)
          if (file !== null) tell({ kind: 'claimed', name })
          return
        }
        await leaveOnce(name, fingerprint, finding)
      } catch (error) {
        const errno = ownErrnoOf(error)
        if (errno === null) throw error
        // It may be over at any pass.
        const problem = `it cannot be read or moved (${errno})`
        await leaveOnce(name, `${fingerprint} ${errno}`, { kind: 'unfit', problem, remedy: TRIED_AGAIN })
      }
    })
    return file
  }

  return {
    async takeNew(entries: readonly InboxEntry[], signal: AbortSignal): Promise<void> {
      for (const entry of entries) {
        if (signal.aborted) return
        if (entry.kind === 'growing') continue
        const { name, fingerprint } = entry
        if (said.get(name) === fingerprint) continue
        if (entry.kind === 'unfit') {
          const { problem, remedy } = entry
          await troubles.over(`the report of ${name}`, () =>
            leaveOnce(name, fingerprint, { kind: 'unfit', problem, remedy }),
          )
          continue
        }
        const file = await takeOne(name, fingerprint)
        if (file !== null && !(await finish(file))) return
      }
    },
    async forgetGone(entries: readonly InboxEntry[]): Promise<void> {
      await folder.forgetGone(entries)
      for (const name of said.keys()) if (!entries.some((entry) => entry.name === name)) said.delete(name)
    },
  }
}

/** Cells and columns that could not be read are no reason to move a file: it may hold anything. */
export async function lookThrough<F>(parts: InboxParts<F>, path: string, name: string): Promise<CardFinding | null> {
  if (holdsCardData(name)) return { kind: 'cards', line: null, column: null }
  try {
    return await parts.findCards(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

export async function leave<F>(
  { folder, reports, cardsFound, tell }: InboxParts<F>,
  name: string,
  finding: StaysFor,
): Promise<void> {
  const { path: report, isKnown } = await folder.reportLeft(name, reports.left(name, finding))
  if (finding.kind === 'cards' && !isKnown)
    await cardsFound(folder.pathOf(name), { line: finding.line, column: finding.column })
  tell({ kind: 'left', name, report, finding, isKnown })
}
