// Where a command writes its results: a file, or stdout. What goes to stdout is written whole before its first byte is shown.

import { createReadStream } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openTemporaryFolder } from '../app/temporary-folder.ts'
import { holdsCardData, maskCardData } from '../domain/card-secrets.ts'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Output } from '../ports/io.ts'
import { asideOf, type Terminal } from './terminal.ts'

const STDOUT = '-'

interface Named {
  readonly out: string
  readonly exceptions?: string
  readonly report?: string
  readonly rejects?: string
  readonly bom?: boolean
}

/** Close it. */
export interface ResultsTarget {
  /** Where the file is written. */
  readonly out: string
  /** It is not kept: the record does not say that results were written. */
  readonly isStdout: boolean
  /** All that is not the results themselves. */
  readonly terminal: Terminal
  /** `path`: where they were written. */
  deliver(path: string, batchId: BatchId): Promise<void>
  close(): Promise<void>
}

export async function openResultsTarget(given: Named, terminal: Terminal): Promise<ResultsTarget> {
  for (const option of ['exceptions', 'report', 'rejects'] as const)
    if (given[option] === STDOUT) throw fileFault(option)
  const { out } = given
  if (out !== STDOUT) return { out, isStdout: false, terminal, async deliver() {}, async close() {} }
  if (terminal.json)
    throw new Fault(
      'usage',
      '--out - writes the results to stdout, where --json writes its objects: leave one of them out, or name a file with --out. Nothing was written and nothing was sent.',
    )
  const { io } = terminal
  const folder = openTemporaryFolder('tranche-results-', io.env)
  return {
    out: join(folder.path, 'results.csv'),
    isStdout: true,
    terminal: asideOf(terminal),
    deliver: (path, batchId) => deliver(path, batchId, io.stdout),
    close: async () => folder.close(),
  }
}

async function deliver(path: string, batchId: BatchId, stdout: Output): Promise<void> {
  try {
    await pipeline(createReadStream(path), stdout, { end: false })
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE') return // the reader has seen enough
    throw new Fault(
      'storage',
      `The results could not be written to stdout (${code}). What became of every row is recorded. Write them again: tranche results ${batchId} --out FILE`,
      { cause: error },
    )
  }
}

function fileFault(option: string): Fault {
  return new Fault(
    'usage',
    `--${option} cannot be stdout: only the results can (--out -). Name a file. Nothing was written and nothing was sent.`,
  )
}

/** Beside the input, and named after it: the record keeps that name, so that no card number may be in it. */
export function resultsBeside(inputPath: string): string {
  const name = basename(inputPath).replace(/\.(?:csv|txt|tsv|xlsx)$/i, '')
  const path = join(dirname(inputPath), `${maskCardData(name)}.results.csv`)
  if (!holdsCardData(path)) return path
  throw new Fault(
    'usage',
    'The folder of the file has a card number in its name, which is never kept: say with --out where the results go. Nothing was recorded and nothing was sent.',
  )
}

/** A file is read more than once through one descriptor, before its first row is sent. */
export function refuseStdin(path: string, command: string): void {
  if (path !== STDOUT) return
  throw new Fault(
    'usage',
    `A file is read twice, once to check all of it and once to record it, so tranche ${command} cannot take one from a pipe. Save it first, then name it: tranche ${command} FILE. Nothing was recorded and nothing was sent.`,
  )
}
