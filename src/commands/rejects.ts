// --rejects: the rows that cannot be sent as written, in a file to mend and hand in again; and what is said about it.

import type { OpenedFile } from '../app/instruction-file.ts'
import { prepareRejects } from '../app/rejects.ts'
import type { DraftReview } from '../domain/draft.ts'
import { toIdentifier } from '../domain/identifier.ts'
import type { ResultsBeside, WrittenRejects } from '../domain/rejects.ts'
import type { Reviewed } from '../domain/submission.ts'
import { askingWords, commandText, readingWords } from '../present/command-line.ts'
import { plural } from '../present/text.ts'
import type { FileArguments } from './file-arguments.ts'
import type { Terminal } from './terminal.ts'

type Opened = OpenedFile & { readonly kind: 'file' }

/** Where they go; nothing where they were not asked for. */
export interface Rejects {
  /** Before anything of the file is recorded. */
  write(opened: Opened, reviewed: Reviewed): Promise<void>
  /** The file is no table: the one line says why. */
  writeWhole(opened: OpenedFile & { readonly kind: 'refused' }): Promise<void>
  /** For people: where they are, and what to do with them. */
  say(terminal: Terminal): void
  /** null: nothing was written. */
  written(): WrittenRejects | null
  /** For programs; empty where nothing was asked for or written. */
  toJson(): object
}

export async function openRejects(
  given: FileArguments,
  inputPath: string,
  results: ResultsBeside | null,
): Promise<Rejects> {
  const file = given.rejects === undefined ? null : await prepareRejects(given.rejects, inputPath, results)
  let written: WrittenRejects | null = null
  let next = ''
  let others = ''
  return {
    async write(opened, { draft, review }) {
      if (file === null) return
      next = nextCommand(file.path, given, opened)
      others = othersText(review, given)
      const runKey = given.runKey === undefined ? null : toIdentifier(given.runKey)
      written = await file.writeRows({ opened, runKey, rejects: draft.rejects() })
    },
    async writeWhole(opened) {
      if (file !== null) written = await file.writeWhole(opened)
    },
    say(terminal) {
      if (file === null) return
      terminal.say(written === null ? notWritten(file.path) : rejectsText(written, next))
      if (others !== '') terminal.say(others)
    },
    written: () => written,
    toJson: () => (written === null ? {} : { rejects: written.path, rejects_rows: written.rows }),
  }
}

function notWritten(path: string): string {
  return `The file was recorded before, so its rejects were not written again: ${path} is as it was. Its bad rows are listed as INVALID in its results.`
}

function rejectsText({ path, rows, kind }: WrittenRejects, next: string): string {
  switch (kind) {
    case 'written':
    case 'replaced': {
      const instead = kind === 'replaced' ? ' (in place of those of an earlier run)' : ''
      return next === ''
        ? `Rejects: ${path}${instead}: what is wrong with the file as a whole.`
        : `Rejects: ${path}${instead}: ${plural(rows, 'row')}, with what is wrong and what to do. Correct the cells there, then hand in that file (its columns reject_… are passed over): ${next}`
    }
    case 'emptied':
      return `No row is bad. ${path} had the rejects of an earlier run; it has only its column names now.`
    case 'nothing':
      return `No row is bad, so that ${path} was not written.`
  }
}

/** The person who mends the bad rows must not believe that the others are on their way. */
function othersText(
  { invalid, accepted: others }: Pick<DraftReview, 'invalid' | 'accepted'>,
  { skipInvalid = false }: FileArguments,
): string {
  if (invalid === 0 || others === 0 || skipInvalid) return ''
  return `The other ${plural(others, 'row')} of the file ${others === 1 ? 'is' : 'are'} not sent either: hand the file in with --skip-invalid to send ${others === 1 ? 'it' : 'them'}.`
}

/** As the file was read, so that a mended row means what it meant: a few rows alone may leave the decimal sign open. */
function nextCommand(
  path: string,
  given: FileArguments,
  { decimal, headerRow }: Pick<Opened, 'decimal' | 'headerRow'>,
): string {
  const { runKey, merchant, retry, category, format } = given
  // Rejects begin with their column names, whatever a saved format says of the file that they came from.
  const line = format !== undefined && headerRow !== undefined ? '1' : undefined
  const reading = readingWords({ ...given, decimal: given.decimal ?? decimal ?? undefined, headerRow: line })
  return commandText('check', path, ...reading, ...askingWords({ runKey, merchant, retry, category, format }))
}
