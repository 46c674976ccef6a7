// What the files and folders of an inbox are called, and what their names say.

import { createHash } from 'node:crypto'
import { maskCardData } from '../domain/card-secrets.ts'

export const FOLDERS = ['claimed', 'archive', 'rejected', 'results'] as const

/** A file of this name beside another says that the other is complete. */
export const MARK = '.done'
export const TAKEN_ENDINGS = /\.(?:csv|txt|tsv|xlsx)$/i
/** Another name would not make these readable. */
export const SPREADSHEET_ENDINGS = /\.(?:ods|fods|xls|xlsb|xlsm|numbers)$/i
/**
 * Names that programs give to files while they write them, that editors give to their copies, and that systems put into every
 * folder; no one is told of these.
 */
export const PASSING =
  /^\.|^~\$|~$|^#.*#$|\.(?:tmp|temp|part|partial|filepart|crdownload|download|uploading|incomplete|swp|done)$|^(?:Thumbs\.db|desktop\.ini|lost\+found|\$RECYCLE\.BIN|System Volume Information|@eaDir)$/is

/** A name may have 255 bytes; this leaves room for the longest that is made of it, the temporary one of a summary. */
const STEM_BYTES = 160

/** The name without its ending, as other names are made of it: short enough, and with nothing that a terminal would obey. */
export function partsOf(name: string): { stem: string; ending: string } {
  const ending = TAKEN_ENDINGS.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - ending.length).replace(/\p{Cc}/gu, '_')
  return { stem: cut(stem), ending }
}

function cut(text: string): string {
  let kept = ''
  for (const character of text) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(character) > STEM_BYTES) break
    kept += character
  }
  return kept
}

/** As text. A byte that is not of UTF-8 becomes its number, so that two such names are two. */
export function shownNameOf(raw: Buffer): string {
  const text = raw.toString()
  if (raw.equals(Buffer.from(text))) return text
  return raw.toString('latin1').replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}

export const NOT_TAKEN = '.not-taken.txt'

/**
 * The name of the report of a file that stays where it is. With its ending, so that it is found beside the name; a name may hold a
 * card number, and no digest of one may be kept either. Names that differ only in what is left out or cut off stay apart.
 */
export function leftReportOf(name: string): string {
  const masked = maskCardData(name)
  const stem = cut(masked.replace(/\p{Cc}/gu, '_'))
  const digest = stem === masked ? '' : `~${createHash('sha256').update(masked).digest('hex').slice(0, 8)}`
  return `${stem}${digest}${NOT_TAKEN}`
}

export function reportPathOf(path: string): string {
  return `${path}.report.txt`
}

const TAKEN_ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z-[0-9a-f]{6}$/

export function takenAtOf(id: string): number | null {
  const match = TAKEN_ID.exec(id)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, ms] = match
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
}
