// What an error says of itself, whatever was thrown.

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The system's or a library's code, such as `ENOENT`; null: it has none. */
export function errorCodeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : null
}
