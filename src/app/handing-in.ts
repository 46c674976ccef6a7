// From a check to a batch, for whatever door asks: the very bytes that were checked, read in the same way, and recorded by a
// process of their own.

import type { ToldToSend } from '../domain/ingest.ts'
import { type FilesCaller, type FilesDoor, shownBy } from './checking.ts'
import type { Check } from './checks.ts'

export interface HandingIn {
  readonly check: Check
  /** Those of the check, and what is expected of the file. */
  readonly given: Readonly<Record<string, unknown>>
  /** What a person was told will be sent; absent: nobody was. */
  readonly told?: ToldToSend
  /** By which its place in the queue is asked for. */
  readonly name: string
}

/** - `gone`: the upload is not there any more · `other-bytes`: it is not what was checked · `unread`: the process was cut short */
export type HandedIn =
  | { readonly kind: 'recorded' | 'known'; readonly batch: string }
  | { readonly kind: 'gone' | 'other-bytes' | 'unread' }
  /** As the process words it. `isOurs`: nothing is wrong with what was asked. */
  | { readonly kind: 'fault'; readonly message: string; readonly isOurs: boolean }
  /** The same bytes are that batch already, and it is not as asked now. */
  | { readonly kind: 'read-otherwise' | 'braked-otherwise'; readonly batch: string }
  | { readonly kind: 'holds-other'; readonly batch: string; readonly refusals: unknown }
  | { readonly kind: 'refused'; readonly refusals: unknown }

/** `unread` may have been recorded all the same: asked again, it is the same batch. */
export async function handIn(door: FilesDoor, caller: FilesCaller, asked: HandingIn): Promise<HandedIn> {
  const { spool, queue, ingest } = door
  const { check, given, told, name } = asked
  const upload = await spool.upload(check.file.id)
  if (upload === null) return { kind: 'gone' }
  if (upload.sha256 !== check.result?.file_sha256) return { kind: 'other-bytes' }
  const file = { path: upload.path, name: check.file.name, sha256: check.file.sha256 }
  const submit = { act: 'submit', ...shownBy(caller), ...file, given: { ...given, yes: true } } as const
  const turn = { name, caller: caller.identity, records: true }
  const { said, exit } = await queue.run(turn, (signal) =>
    ingest(told === undefined ? submit : { ...submit, told }, signal),
  )
  return said === null || exit === null ? { kind: 'unread' } : handedIn(said as Said)
}

function handedIn({ kind, batch = '', error, refusals }: Said): HandedIn {
  if (error !== undefined)
    return { kind: 'fault', message: error.message, isOurs: error.code !== 'refused' && error.code !== 'usage' }
  switch (kind) {
    case 'recorded':
    case 'known':
    case 'read-otherwise':
    case 'braked-otherwise':
      return { kind, batch }
    case 'holds-other':
      return { kind, batch, refusals }
    default:
      return { kind: 'refused', refusals }
  }
}

interface Said {
  readonly kind?: string
  readonly batch?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly refusals?: unknown
}
