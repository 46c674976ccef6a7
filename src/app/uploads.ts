// Taking a file into the spool, through whatever door: whole and under a harmless name, or nothing of it.

import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { maskCardData } from '../domain/card-secrets.ts'
import { visible } from '../domain/visible.ts'
import { type Incoming, type Spool, type Upload, whyNotTaken } from './spool.ts'

/** - `form`: it came as no form of one file, or as one with too many parts */
export type WhyRefused = 'too-large' | 'empty' | 'cut' | 'busy' | 'no-room' | 'disk-full' | 'form'

/** Nothing of the file is kept. */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused'
  readonly why: WhyRefused

  constructor(why: WhyRefused, options: { cause?: unknown } = {}) {
    super(`the file was refused: ${why}`, options)
    this.why = why
  }
}

/** What its sender says of it. */
export interface SaidOfFile {
  readonly name?: string | undefined
  /** In hex; absent: nothing. */
  readonly sha256?: string | undefined
}

/**
 * Whatever goes wrong, nothing of the file is left. `by`: the identity of who sends it. `announced`: how many bytes; null: unknown.
 * `read` fills it, and says what it is called. Rejects with UploadRefused, or with what `read` threw.
 */
export async function takeUpload(
  spool: Spool,
  by: string,
  announced: number | null,
  read: (incoming: Incoming) => Promise<SaidOfFile>,
): Promise<Upload> {
  let incoming: Incoming | null = null
  try {
    await spool.sweep()
    incoming = await spool.receive(by, announced)
    const { name, sha256 } = await read(incoming)
    return await incoming.keep(harmless(name), sha256?.toLowerCase() ?? null)
  } catch (error) {
    await incoming?.discard()
    const why = await whyRefused(error)
    throw why === null ? error : new UploadRefused(why, { cause: error })
  }
}

export async function fillUpload(source: NodeJS.ReadableStream, incoming: Incoming): Promise<void> {
  await pipeline(source, async (chunks) => {
    for await (const chunk of chunks) await incoming.write(chunk as Buffer)
  })
}

/** Before a form is read: its reader is told of a sender who leaves, not of one who has left, and would wait for ever. */
export function assertStillComing(sender: { readonly destroyed: boolean }): void {
  if (sender.destroyed) throw new UploadRefused('cut')
}

/** For people: the last part of whatever path, in one line, without what a terminal obeys and without card data. */
function harmless(name = ''): string {
  const last = basename(name.replaceAll('\\', '/').replaceAll('\0', ''))
  return visible(maskCardData(last).slice(0, NAME_LENGTH_MOST)) || 'upload'
}

const NAME_LENGTH_MOST = 200

/** null: it is another error. */
async function whyRefused(error: unknown): Promise<WhyRefused | null> {
  if (error instanceof UploadRefused) return error.why
  const why = await whyNotTaken(error)
  if (why !== null) return why
  const { code } = error as { readonly code?: unknown }
  if (typeof code !== 'string') return isCut(error) ? 'cut' : null
  if (code === 'FST_REQ_FILE_TOO_LARGE') return 'too-large'
  if (/^FST_(?:FILES|FIELDS|PARTS)_LIMIT$|^FST_(?:PROTO_VIOLATION|NO_FORM_DATA|INVALID_MULTIPART)/.test(code))
    return 'form'
  if (['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'].includes(code)) return 'cut'
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : null
}

/** As the reader of forms words it. */
function isCut(error: unknown): boolean {
  return error instanceof Error && /unexpected end|malformed part|boundary not found|aborted/i.test(error.message)
}
