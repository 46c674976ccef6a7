// check --details: every row as it was understood, every fault and every look-alike, as lines of JSON in a new folder.

import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { OpenedFile } from '../app/instruction-file.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { errorCodeOf, messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { Pages } from '../domain/pages.ts'
import type { Reviewed } from '../domain/submission.ts'
import { visibleJson } from '../domain/visible.ts'
import { type Chunks, makeFolderDurably } from '../files/durable.ts'
import { checkedRowJson } from '../present/checked-row.ts'
import { toJsonLookalike } from '../present/lookalikes.ts'
import { toJsonFault } from '../present/review.ts'
import { plural } from '../present/text.ts'
import type { Terminal } from './terminal.ts'

type Opened = OpenedFile & { readonly kind: 'file' }

/** Nothing where they were not asked for. */
export interface Details {
  write(opened: Opened, reviewed: Reviewed): Promise<void>
  say(terminal: Terminal): void
  toJson(): object
}

const NOTHING = 'Nothing was recorded and nothing was sent.'

/** Faults with `usage` before a long file is read where the folder is there: what is in it may be another check's. */
export async function openDetails(named: string | undefined): Promise<Details> {
  const path = named === undefined ? null : resolve(named)
  if (path !== null && (await isThere(path))) throw takenFault(path)
  let written: { readonly columns: readonly string[]; readonly rows: number } | null = null
  return {
    async write({ file }, { draft, review }) {
      if (path === null) return
      const files = {
        'rows.jsonl': linesOf(draft.rows(), checkedRowJson),
        'faults.jsonl': linesOf(draft.faults(), (fault) => JSON.stringify(toJsonFault(fault))),
        'lookalikes.jsonl': linesOf(draft.lookalikes(), (like) => JSON.stringify(toJsonLookalike(like))),
      }
      await makeFolderDurably(path, files).catch((error: unknown) => {
        throw toDetailsFault(error, path)
      })
      written = { columns: file.columns, rows: review.rows }
    },
    say(terminal) {
      if (path === null) return
      if (written === null) terminal.say(`No row was read, so ${maskCardData(path)} was not made.`)
      else
        terminal.say(`Details of ${plural(written.rows, 'row')}: rows, faults and lookalikes in ${maskCardData(path)}`)
    },
    toJson: () =>
      path === null || written === null ? {} : { details: maskCardData(path), details_columns: written.columns },
  }
}

async function* linesOf<Item>(pages: Pages<Item>, jsonOf: (item: Item) => string): Chunks {
  for await (const page of pages) yield visibleJson(page.map((item) => `${jsonOf(item)}\n`).join(''))
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}

function takenFault(path: string): Fault {
  return new Fault(
    'usage',
    `--details ${maskCardData(path)}: this is there already. Name a folder that is not there yet: it is made. ${NOTHING}`,
  )
}

function toDetailsFault(error: unknown, path: string): unknown {
  const code = errorCodeOf(error)
  if (code === null) return error
  if (code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR') return takenFault(path)
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  return new Fault(
    isFull ? 'full' : 'usage',
    `The details could not be written to ${maskCardData(path)} (${messageOf(error)}). ${NOTHING} ${isFull ? 'Make room' : 'Name another folder'}, and check the file again.`,
    { cause: error },
  )
}
