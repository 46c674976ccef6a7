// What the files and folders of an inbox are called, and what their names say.

import { maskPans } from '../domain/pan.ts'

export const FOLDERS = ['claimed', 'archive', 'rejected', 'results'] as const
export type Folder = (typeof FOLDERS)[number]

/** A file of this name beside another says that the other is complete. */
export const MARK = '.done'
export const TAKEN_ENDINGS = /\.(?:csv|txt|tsv|xlsx)$/i
/** Another name would not make these readable. */
export const SPREADSHEET_ENDINGS = /\.(?:ods|fods|xls|xlsb|xlsm|numbers)$/i
/** Names that programs give to files while they write them; nobody is told of these. */
export const PASSING = /^\.|^~\$|\.(?:tmp|part|partial|filepart|crdownload|download|done)$/i

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

/** With its ending, so that it is found beside the name; a name may hold a card number. */
export function leftStemOf(name: string): string {
  return cut(maskPans(name).replace(/\p{Cc}/gu, '_'))
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
