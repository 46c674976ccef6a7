// Tables as people make them: cells → bytes in any encoding, delimiter and line end, in a file that is gone afterwards.

import type { FileHandle } from 'node:fs/promises'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { stringify } from 'csv-stringify/sync'
import type { DraftRow } from '../../src/domain/draft.ts'
import { spelled } from '../../src/domain/problem.ts'
import type { FileRefusal } from '../../src/domain/submission.ts'
import { type Header, parseHeader } from '../../src/ingest/header.ts'
import { type Survey, surveyFile } from '../../src/ingest/inspect-file.ts'
import type { ReadingOptions } from '../../src/ingest/inspect-records.ts'
import { readRows } from '../../src/ingest/rows.ts'
import type { HeaderNeeds } from '../../src/ingest/said-columns.ts'
import { commandLine } from '../../src/present/command-line.ts'

export const ENCODINGS = [
  'utf8',
  'utf8-bom',
  'utf16le-bom',
  'utf16be-bom',
  'utf16le',
  'utf16be',
  'windows-1252',
] as const
export type Written = (typeof ENCODINGS)[number]

export function encode(text: string, as: Written): Buffer {
  switch (as) {
    case 'utf8':
      return Buffer.from(text)
    case 'utf8-bom':
      return Buffer.from(`\ufeff${text}`)
    case 'utf16le':
      return Buffer.from(text, 'utf16le')
    case 'utf16le-bom':
      return Buffer.from(`\ufeff${text}`, 'utf16le')
    case 'utf16be':
      return Buffer.from(text, 'utf16le').swap16()
    case 'utf16be-bom':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    case 'windows-1252':
      return Buffer.from(text.replaceAll('€', '\x80'), 'latin1')
  }
}

export function toCsv(table: readonly (readonly string[])[], delimiter: string, lineEnd: string): string {
  return stringify(table as string[][], { delimiter, record_delimiter: lineEnd, quoted_match: /[\r\n"]/ })
}

export async function withFile<T>(content: string | Uint8Array, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tranche-ingest-'))
  const name = path.join(folder, 'file.csv')
  await fs.writeFile(name, content)
  const file = await fs.open(name, 'r+')
  try {
    return await use(file)
  } finally {
    await file.close()
    await fs.rm(folder, { recursive: true })
  }
}

/** Where nothing is said of a file. */
export const READING = { accountKey: 'account', spelling: commandLine } as const

export interface FileRead {
  readonly survey: Survey
  readonly rows: readonly DraftRow[]
}

export async function read(
  content: string | Uint8Array,
  options: Partial<ReadingOptions> = {},
): Promise<FileRead | FileRefusal> {
  const all = { ...READING, ...options }
  return withFile(content, async (file) => {
    const survey = await surveyFile(file, all)
    if (survey.kind === 'refused') return survey
    const rows: DraftRow[] = []
    for await (const chunk of readRows(file, survey, all)) rows.push(...chunk)
    return { survey, rows }
  })
}

/** For files that must be whole. */
export async function readWhole(
  content: string | Uint8Array,
  options: Partial<ReadingOptions> = {},
): Promise<FileRead> {
  const found = await read(content, options)
  if ('kind' in found) throw new Error(`refused: ${found.problem}`)
  return found
}

/** For files that must be refused. */
export async function refusalOf(
  content: string | Uint8Array,
  options: Partial<ReadingOptions> = {},
): Promise<FileRefusal> {
  const found = await read(content, options)
  if (!('kind' in found)) throw new Error(`read ${found.rows.length} rows`)
  return found
}

/** A header line, its names parted by semicolons. */
export function headerOf(line: string, needs: HeaderNeeds = {}): Header | FileRefusal {
  const found = parseHeader(line.split(';'), 1, needs)
  return 'kind' in found ? { ...found, ...spelled(found, commandLine) } : found
}
