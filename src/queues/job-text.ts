// The data of a job as Redis has it: any bytes that any program wrote there.

import { membersIn, membersWritten } from '../domain/json-members.ts'

/** Room for a batch and for what a producer writes around it. */
const MOST_CHARACTERS = 4 * 1024 * 1024

/** Why it cannot be read as one message; null: it can. */
export function whyUnread(text: string): string | null {
  if (text.length > MOST_CHARACTERS)
    return `has more than ${MOST_CHARACTERS.toLocaleString('en')} characters: it is not an instruction`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  // Of two values under one name, readers take one or the other.
  return membersWritten(text) === membersIn(value) ? null : 'names a field twice: write each once'
}
