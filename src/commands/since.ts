// A moment that a person names in an option.

import { momentOf } from '../app.ts'
import { Fault } from '../domain/fault.ts'

/** `nothing`: what was not done, for the message. */
export async function parseSince(option: string, text: string, nothing: string): Promise<number> {
  const atMs = await momentOf(text)
  if (atMs !== null) return atMs
  throw new Fault(
    'usage',
    `${option} ${text}: write a moment with its offset, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00. ${nothing}`,
  )
}
