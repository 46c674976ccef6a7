// What becomes of a server of a ledger: copied, put back to the copy, replaced by a standby, left without one, out of room on its disk.
// A sleep here is how long a fault lasts: nothing is waited for.

import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../fixtures/cli.ts'
import { fillDisk } from '../fixtures/disk.ts'
import { type Cluster, makeDirectory, openCluster, query } from '../fixtures/postgres.ts'
import { mountSmallDisk, unmount } from '../fixtures/small-disk.ts'

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
  replaceData(cluster, copy)
  cluster.start()
}

/** What the folder holds; the folder itself may be a disk. */
function replaceData({ dir }: Cluster, by: string): void {
  const data = join(dir, 'data')
  for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
  execFileSync('cp', ['-a', `${by}/.`, data])
}

/** With all that it had, and another timeline. */
export async function promote(cluster: Cluster): Promise<void> {
  cluster.kill()
  await startAsStandby(cluster)
}

async function startAsStandby(cluster: Cluster): Promise<void> {
  const signal = join(cluster.dir, 'data', 'standby.signal')
  writeFileSync(signal, '')
  cluster.own(signal)
  cluster.start()
  await query(cluster.url, 'SELECT pg_promote(true, 30)')
}

// ───────────────────────────────────────────────────────────── A standby

/** The server that every commit waits for. */
export interface Standby {
  /** Commits wait; each one that waits is cancelled, as an impatient person cancels it; then it is back. */
  leave(forMs: number): Promise<void>
  /** The first server is gone for good, and this one takes its place. The other has a new standby then. */
  takeOver(): Promise<void>
  /** Made anew, as the first server is now. */
  make(): void
  remove(): void
}

export async function openStandby(cluster: Cluster): Promise<Standby> {
  const dir = makeDirectory()
  let standby: Cluster | null = null

  function make(): void {
    standby?.kill()
    cluster.kill()
    const data = join(dir, 'data')
    rmSync(data, { recursive: true, force: true })
    execFileSync('cp', ['-a', join(cluster.dir, 'data'), data])
    rmSync(join(data, 'postmaster.pid'), { force: true })
    writeFileSync(join(data, 'standby.signal'), '')
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${cluster.dir} user=tranche'\nsynchronous_standby_names = '*'\n`,
    )
    standby ??= openCluster({ dir, settings: ['wal_retrieve_retry_interval = 200ms'], starts: false })
    standby.own(data)
    cluster.start()
    standby.start()
  }

  make()
  await query(cluster.url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await query(cluster.url, 'SELECT pg_reload_conf()')
  const name = () =>
    query<{ names: string }>(cluster.url, "SELECT current_setting('synchronous_standby_names') AS names")
  await until('commits wait for the standby', async () => (await name())[0]?.names === '*')
  return {
    make,
    async leave(forMs) {
      standby?.kill()
      const endMs = Date.now() + forMs
      while (Date.now() < endMs) {
        await sleep(500)
        await query(cluster.url, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
      }
      standby?.start()
    },
    async takeOver() {
      cluster.kill()
      standby?.kill()
      replaceData(cluster, join(dir, 'data'))
      await startAsStandby(cluster)
      make()
    },
    remove: () => standby?.remove(),
  }
}

// ───────────────────────────────────────────────────────────── A small disk

/** Room for what a schedule records, and for the log of its transactions. */
const SIZE_MB = 320

export interface ServerOnDisk {
  readonly cluster: Cluster
  /** null: this process may mount no disk. Fills it, and frees it after a while. */
  readonly fill: ((forMs: number) => Promise<void>) | null
  remove(): void
}

export function openServerOnDisk(): ServerOnDisk {
  const dir = makeDirectory()
  const data = join(dir, 'data')
  mkdirSync(data)
  const isSmall = mountSmallDisk(data, { sizeMb: SIZE_MB, options: ',mode=0700,uid=65534,gid=65534' })
  if (!isSmall) rmSync(data, { recursive: true })
  const cluster = openCluster({ dir, settings: ['max_wal_size = 64MB', 'min_wal_size = 32MB'] })
  const filler = join(data, 'filler')
  return {
    cluster,
    fill: isSmall
      ? async (forMs) => {
          fillDisk(filler)
          await sleep(forMs)
          rmSync(filler)
          // It may have ended because it could not write its log, and may be about to start again.
          await until('the server answers again', async () => {
            if (!cluster.runs()) cluster.start()
            return query(cluster.url, 'SELECT 1').then(
              () => true,
              () => false,
            )
          })
        }
      : null,
    remove() {
      cluster.kill()
      if (isSmall) unmount(data)
      cluster.remove()
    },
  }
}
