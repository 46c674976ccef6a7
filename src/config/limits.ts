// What a setting may be, wherever it is made.

import type { Connection } from '../domain/outcome.ts'

export interface Range {
  readonly min: number
  readonly max: number
}

export const IN_FLIGHT: Range = { min: 1, max: 1000 }
export const UPLOAD_MIB: Range = { min: 1, max: 2000 }
export const TIMEOUT_MS: Range = { min: 1000, max: 600_000 }

export const CONNECTIONS = ['fresh', 'warm'] as const satisfies readonly Connection[]

/** What documents write where a value belongs. Pasted with the rest, only the gateway would refuse it. */
export function isEllipsis(text: string): boolean {
  return /^(?:…|\.\.\.)$/.test(text.trim())
}

export const ELLIPSIS = 'is an ellipsis, as examples have it: write the value that belongs there'

const PASSWORD_MIN_LENGTH = 4

/** A shorter one is in every other text by chance, so that nothing could be cleaned of it. */
export function passwordProblem(password: string): string | null {
  return password.length >= PASSWORD_MIN_LENGTH
    ? null
    : `has fewer than ${PASSWORD_MIN_LENGTH} characters: such a password cannot be kept out of logs and histories`
}
