// The data of a job as Redis has it: any bytes that any program wrote there.

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

/** Strings of JSON that are names. */
const NAME = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs

function membersWritten(text: string): number {
  let count = 0
  for (const [, colon] of text.matchAll(NAME)) if (colon !== undefined) count += 1
  return count
}

function membersIn(whole: unknown): number {
  const left = [whole]
  let count = 0
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const members = Object.values(value)
    if (!Array.isArray(value)) count += members.length
    for (const member of members) left.push(member)
  }
  return count
}
