// An inbox: the folder that files are put into, the work on it, and what keeps a file where it is.

import { lstat } from 'node:fs/promises'
import type { App } from '../app.ts'
import type { Actor } from '../domain/actor.ts'
import type { CardFinding } from '../domain/inbox.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { InboxParts } from '../processors/inbox-parts.ts'
import type { InboxWork } from '../processors/work-inbox.ts'
import { openToRead } from './input-file.ts'
import { type FileOptions, openInstructionFile } from './instruction-file.ts'

/** Faults where files could not be taken from there. */
export async function prepareInboxFolder(app: App, path: string, stableMs: number) {
  const { openInbox } = await import('../inbox/folder.ts')
  return openInbox({ path, stableMs, clock: app.clock })
}

export type InboxFolder = Awaited<ReturnType<typeof prepareInboxFolder>>

/** How the files of an inbox are read, beside what is done with them. */
interface InboxRequest<F> extends Omit<InboxParts<F>, 'ledger' | 'ledgerPath' | 'clock' | 'findCards'> {
  readonly merchant: Merchant
  readonly options: FileOptions
}

export async function prepareInboxWork<F extends object>(
  app: App,
  ledger: Ledger,
  { merchant, options, ...parts }: InboxRequest<F>,
): Promise<InboxWork> {
  const { createInboxWork } = await import('../processors/work-inbox.ts')
  return createInboxWork<F>({
    ...{ ...parts, ledger, ledgerPath: app.paths.ledger, clock: app.clock },
    findCards: (path) => findCardsIn(path, merchant, options),
  })
}

/** Who put the file into the inbox must not approve it either. */
export async function handingIn({ actor }: Pick<App, 'actor'>, path: string): Promise<Actor> {
  const [{ uid }, { SYSTEM, takingFrom }] = await Promise.all([lstat(path), import('../actor.ts')])
  return takingFrom(actor, uid, SYSTEM)
}

/**
 * Whether the file may be moved. Where it cannot be read as instructions, its text is looked through as it stands; of a
 * workbook also what is not among its rows.
 */
export async function findCardsIn(path: string, merchant: Merchant, options: FileOptions): Promise<CardFinding> {
  const opened = await openInstructionFile(path, merchant, options)
  if (opened.kind === 'file') await opened.close()
  else if (opened.code === 'card-data') return { kind: 'cards', line: opened.line, column: opened.column }
  const sheet = opened.kind === 'file' ? opened.sheet : null
  if (opened.kind === 'file' && sheet === null) return { kind: 'none' }
  const { findCards, findCardsBeside } = await import('../ingest/cards/scan.ts')
  const handle = await openToRead(path)
  const found =
    sheet === null
      ? findCards(handle)
      : findCardsBeside(handle, sheet, opened.kind === 'file' ? opened.formsPassed : undefined)
  return found.finally(() => handle.close())
}
