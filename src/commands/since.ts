// A moment that a person names in an option.

import { Fault } from '../domain/fault.ts'
import { parseMoment } from '../domain/instant.ts'

/** `nothing`: what was not done, for the message. */
export function parseSince(option: string, text: string, nothing: string): number {
  const atMs = parseMoment(text.trim())
  if (typeof atMs === 'number') return atMs
  throw new Fault(
    'usage',
    `${option} ${text}: write a moment with its offset, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00. ${nothing}`,
  )
}
