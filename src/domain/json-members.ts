// Members of JSON objects, counted: of two values under one name, readers take one or the other.

/** Strings of JSON that are names. */
const NAME = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs

/** How many a text of JSON has. */
export function membersWritten(text: string): number {
  let count = 0
  for (const [, colon] of text.matchAll(NAME)) if (colon !== undefined) count += 1
  return count
}

/** Objects and lists inside of each other: what reads them one inside the other may run out of stack. */
export function isNestedDeeper(whole: unknown, levels: number): boolean {
  let level: unknown[] = [whole]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
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
