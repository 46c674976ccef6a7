// Saved formats: how one merchant's files of one kind are read, as YAML that a person may edit.

import { existsSync, readdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { isTimeZone } from '../domain/instant.ts'
import { parseOperation, TRANSACTION_TYPES } from '../domain/instruction.ts'
import { toLowerAscii } from '../domain/keyword.ts'
import { parseCurrency } from '../domain/money.ts'
import { isProblem } from '../domain/problem.ts'
import { words } from '../domain/words.ts'
import { writeDurably } from '../files/durable.ts'
import { NotAFile, openFile } from '../files/open-file.ts'
import { parseColumnMap } from './columns.ts'
import { readAll } from './csv/bytes.ts'
import { ANY_FILE } from './vocabulary.ts'

/** What a person says that decides what a file means, as they write it. */
export interface Format {
  readonly operation?: string | undefined
  readonly currency?: string | undefined
  readonly decimal?: string | undefined
  /** `minus`: every amount carries one. */
  readonly sign?: string | undefined
  /** `minor`: amounts are in minor units of their currency. */
  readonly scale?: string | undefined
  /** The line that names the columns, as digits. */
  readonly headerRow?: string | undefined
  readonly timezone?: string | undefined
  /** `COLUMN=FIELD` each. */
  readonly map?: readonly string[] | undefined
  /** Columns whose numbers only look like card numbers. */
  readonly notACard?: readonly string[] | undefined
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const EXTENSION = '.yaml'
const MOST_BYTES = 64 * 1024

function pathOf(dataDir: string, merchant: string, name: string): string {
  if (NAME.test(name)) return join(dataDir, 'formats', merchant, `${name}${EXTENSION}`)
  throw new Fault(
    'usage',
    `The format name "${name.slice(0, 80)}" cannot be used: write 1 to 64 letters, digits, ".", "_" and "-", beginning with a letter or a digit. Nothing was recorded and nothing was sent.`,
  )
}

/** For exports that many people have; beside the program, in a checkout and in a package. */
const SHIPPED = fileURLToPath(new URL('../../formats/', import.meta.url))

/** A format that is missing or wrong is a fault of usage: a file is not read some other way. One's own goes before a shipped one. */
export async function readFormat(dataDir: string, merchant: string, name: string): Promise<Format> {
  const own = pathOf(dataDir, merchant, name)
  const isShipped = !existsSync(own) && shippedFormats().includes(name)
  const path = isShipped ? join(SHIPPED, `${name}${EXTENSION}`) : own
  const text = await readText(path, () => missing(dirname(path), merchant, name))
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { prettyErrors: true })
  const wrong = [...document.errors, ...document.warnings].map(({ message }) => message.split('\n', 1)[0] ?? '')
  if (wrong.length > 0) throw mistaken(path, wrong)
  const { mistakes, format } = await parseFormat(contentOf(document))
  if (mistakes.length > 0) throw mistaken(path, mistakes)
  return format
}

/** An alias that leads nowhere, or to too much, throws. */
function contentOf(document: { toJS(options: { maxAliasCount: number }): unknown }): unknown {
  try {
    return document.toJS({ maxAliasCount: 10 })
  } catch {
    return null
  }
}

async function readText(path: string, otherwise: () => Fault): Promise<string> {
  try {
    const file = await openFile(path)
    const bytes = await readAll(file, MOST_BYTES).finally(() => file.close())
    if (bytes === null) throw mistaken(path, [`is larger than ${MOST_BYTES / 1024} KiB`])
    return bytes.toString('utf8')
  } catch (error) {
    if (error instanceof Fault) throw error
    if (error instanceof NotAFile) throw mistaken(path, [`is ${error.what}, not a file`])
    const code = errorCodeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') throw otherwise()
    throw mistaken(path, [`cannot be read (${code})`])
  }
}

function missing(directory: string, merchant: string, name: string): Fault {
  const names = namesIn(directory)
  const known =
    names.length === 0
      ? words`No format is saved for the merchant ${merchant}: save one with "${{ act: 'save-format', name }}".`
      : `The merchant ${merchant} has ${names.join(', ')}.`
  const shipped = shippedFormats()
  const also = shipped.length === 0 ? '' : ` Tranche has ${shipped.join(', ')}.`
  return new Fault(
    'usage',
    words`There is no format "${name}" (${directory}). ${known}${also} Nothing was recorded and nothing was sent.`,
  )
}

export function shippedFormats(): readonly string[] {
  return namesIn(SHIPPED)
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(EXTENSION) && NAME.test(file.slice(0, -EXTENSION.length)))
      .map((file) => file.slice(0, -EXTENSION.length))
      .toSorted()
  } catch {
    return []
  }
}

function mistaken(path: string, mistakes: readonly string[]): Fault {
  const message = `The format ${path} is wrong; nothing was recorded and nothing was sent:`
  return new Fault('usage', message, { points: mistakes })
}

/** Every mistake is found in one go. */
async function parseFormat(content: unknown): Promise<{ mistakes: readonly string[]; format: Format }> {
  const { z } = await import('zod')
  const said = (isRight: (text: string) => boolean, wanted: string) =>
    z.string(`write ${wanted}`).refine(isRight, `write ${wanted}`).optional()
  const schema = z.strictObject(
    {
      operation: said((text) => parseOperation(text) !== undefined, `one of ${TRANSACTION_TYPES.join(', ')}`),
      currency: said((text) => parseCurrency(text) !== undefined, 'an ISO 4217 code such as EUR'),
      decimal: said((text) => text === '.' || text === ',', '"." or ","'),
      sign: said((text) => text === 'minus', 'minus'),
      scale: said((text) => text === 'minor', 'minor'),
      header_row: z.int('write the number of a line').min(1, 'write the number of a line').optional(),
      timezone: said(isTimeZone, 'an IANA time zone such as Europe/Berlin'),
      map: z.record(z.string(), z.string().nullable(), 'write lines of COLUMN: FIELD').optional(),
      not_a_card: z.array(z.string(), 'write a list of columns').optional(),
    },
    {
      error: (issue) =>
        issue.code === 'invalid_type'
          ? 'write operation, currency, decimal, sign, scale, header_row, timezone, map or not_a_card'
          : undefined,
    },
  )
  const read = schema.safeParse(content)
  const mistakes = read.success ? [] : read.error.issues.flatMap(issueText)
  const map = Object.entries(read.data?.map ?? {}).map(([column, field]) => ({ column, field: field ?? '' }))
  // Which of its fields a file may have is asked when one is read.
  const parsed = parseColumnMap(map, ANY_FILE)
  if (isProblem(parsed)) mistakes.push(`map: ${parsed.problem}; ${parsed.remedy}`)
  if (!read.success) return { mistakes, format: {} }
  const { not_a_card: notACard, header_row: line, ...others } = read.data
  const headerRow = line === undefined ? undefined : String(line)
  return {
    mistakes,
    format: { ...others, headerRow, notACard, map: map.map(({ column, field }) => `${column}=${field}`) },
  }
}

function issueText(issue: { code?: string; path: PropertyKey[]; message: string; keys?: string[] }): string[] {
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => `${key}: is not a setting of a format`)
  }
  return [`${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`]
}

/** Checks the name alone, before a file is read for it. */
export function assertFormatName(dataDir: string, merchant: string, name: string): void {
  pathOf(dataDir, merchant, name)
}

/** Answers with its path, and whether one of that name was replaced. */
export async function writeFormat(
  dataDir: string,
  merchant: string,
  name: string,
  { map = [], notACard = [], headerRow, ...format }: Format,
): Promise<{ readonly path: string; readonly replaced: boolean }> {
  const path = pathOf(dataDir, merchant, name)
  const { Document } = await import('yaml')
  const columns = map.map((text) => {
    const at = text.lastIndexOf('=')
    return [text.slice(0, at).trim(), toLowerAscii(text.slice(at + 1).trim()) || 'ignore'] as const
  })
  const columnsSaid = notACard.length === 0 ? undefined : notACard
  const said = Object.fromEntries(
    Object.entries({
      ...format,
      header_row: headerRow === undefined ? undefined : Number(headerRow),
      not_a_card: columnsSaid,
    }).filter(([, value]) => value !== undefined),
  )
  const document = new Document(columns.length === 0 ? said : { ...said, map: Object.fromEntries(columns) })
  document.commentBefore = ` How files of the merchant ${merchant} are read with the format ${name}. It may be edited.`
  const replaced = await stat(path).then(
    () => true,
    () => false,
  )
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeDurably(path, (file) => file.writeFile(document.toString()))
  return { path, replaced }
}
