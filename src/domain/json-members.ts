// Members of JSON objects, counted: of two values under one name, readers take one or the other.

/** Strings of JSON that are names. */
const NAME = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs

/** How many a text of JSON has. */
export function membersWritten(text: string): number {
  let count = 0
  for (const [, colon] of text.matchAll(NAME)) if (colon !== undefined) count += 1
  return count
}

/** How many are left when it has been read: of two under one name, one. */
export function membersIn(whole: unknown): number {
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
