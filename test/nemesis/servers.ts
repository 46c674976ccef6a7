// What becomes of a server of a ledger: copied, put back to the copy, replaced by a standby of itself.

import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, query } from '../fixtures/postgres.ts'

/** As `cp -a` copies the directory of a server that was shut down. */
export function copyOf(cluster: Cluster): string {
  cluster.kill()
  const copy = join(cluster.dir, 'copy')
  rmSync(copy, { recursive: true, force: true })
  execFileSync('cp', ['-a', join(cluster.dir, 'data'), copy])
  cluster.start()
  return copy
}

export function putBack(cluster: Cluster, copy: string): void {
  cluster.kill()
  rmSync(join(cluster.dir, 'data'), { recursive: true })
  execFileSync('cp', ['-a', copy, join(cluster.dir, 'data')])
  cluster.start()
}

/** With all that it had, and another timeline. */
export async function promote(cluster: Cluster): Promise<void> {
  const signal = join(cluster.dir, 'data', 'standby.signal')
  cluster.kill()
  writeFileSync(signal, '')
  cluster.own(signal)
  cluster.start()
  await query(cluster.url, 'SELECT pg_promote(true, 30)')
}
