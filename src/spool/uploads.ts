// A file in the spool, with its description beside it: it counts as long as both are there.

import { readFile, rm } from 'node:fs/promises'

export interface Upload {
  readonly id: string
  /** As the caller calls it, made harmless: for people, and in no path. */
  readonly name: string
  readonly sha256: string
  readonly bytes: number
  /** Whose it is: `key:ID` or `person:ID`. */
  readonly by: string
  readonly uploadedAtMs: number
  readonly expiresAtMs: number
}

export const KEPT_MS = 24 * 3_600_000

export function descriptionOf(path: string): string {
  return `${path}.json`
}

/** null: there is none. */
export async function readDescription(path: string): Promise<Upload | null> {
  try {
    return JSON.parse(await readFile(descriptionOf(path), 'utf8')) as Upload
  } catch {
    return null
  }
}

/** Its description first: without it, what is left goes with the next start. */
export async function removeUpload(path: string): Promise<void> {
  await rm(descriptionOf(path), { force: true })
  await rm(path, { force: true })
}
