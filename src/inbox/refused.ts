// What an inbox has refused and nobody has moved away yet.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TAKEN_ENDINGS } from './names.ts'

const BESIDE = /\.(?:rejects\.csv|report\.txt|not-taken\.txt)$/i

/** A folder that is not there, or not on this machine, has none. */
export async function countRefused(path: string): Promise<number> {
  const names = await readdir(join(path, 'rejected')).catch(() => [])
  return names.filter((name) => TAKEN_ENDINGS.test(name) && !BESIDE.test(name)).length
}
