// The log, as everything here writes it.

/** What pino offers and no more. Lines are scrubbed before they are written. */
export interface Log {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}
