// Where the record lives, and where it is remembered how far the record had come.

import { isAbsolute, join, resolve } from 'node:path'
import type { Settings } from './setting-readers.ts'

/** Where the record lives. Never relative: a clerk and a cron entry in different directories must share one memory. */
export function dataDirFrom(settings: Settings, env: NodeJS.ProcessEnv, homeDir: string): string {
  const given = settings.text('TRANCHE_DATA_DIR')
  const stateHome = env.XDG_STATE_HOME
  const [name, path] =
    given !== undefined
      ? (['TRANCHE_DATA_DIR', given] as const)
      : stateHome !== undefined && stateHome !== ''
        ? (['XDG_STATE_HOME', join(stateHome, 'tranche')] as const)
        : (['TRANCHE_DATA_DIR', join(homeDir, '.local', 'state', 'tranche')] as const)
  if (!isAbsolute(path)) settings.note(name, `must be an absolute path; "${path}" depends on where the command is run`)
  return resolve(path)
}

/**
 * What a restore of the data directory does not bring back: a directory of its own, or one among the user's caches, which
 * backups leave out, and one of the system's.
 */
export function witnessDirsFrom(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  homeDir: string,
  dataDir: string,
): string[] {
  const given = settings.text('TRANCHE_WITNESS_DIR')
  if (given === 'none') return []
  if (given !== undefined) {
    if (!isAbsolute(given)) settings.note('TRANCHE_WITNESS_DIR', `must be an absolute path, or none, not "${given}"`)
    else if (isWithin(dataDir, given)) settings.note('TRANCHE_WITNESS_DIR', 'must lie outside the data directory')
    return [resolve(given)]
  }
  const cacheHome = env.XDG_CACHE_HOME
  const caches = cacheHome !== undefined && isAbsolute(cacheHome) ? cacheHome : join(homeDir, '.cache')
  const places = [join(caches, 'tranche'), join('/var/tmp', `tranche-${process.getuid?.() ?? 'user'}`)]
  return places.filter((place) => !isWithin(dataDir, place))
}

/**
 * For all users of the machine, and beside the witness where a person names its place: a service may have a private /var/tmp. A witness
 * in a temporary directory is that of a trial, which leaves nothing elsewhere.
 */
export function accountMarksDirsFrom(settings: Settings, env: NodeJS.ProcessEnv): string[] {
  const given = settings.text('TRANCHE_WITNESS_DIR')
  if (given === 'none') return []
  const ofMachine = '/var/tmp/tranche-accounts'
  if (given === undefined) return [ofMachine]
  const own = join(resolve(given), 'accounts')
  return isWithin(env.TMPDIR || '/tmp', given) ? [own] : [own, ofMachine]
}

function isWithin(dir: string, path: string): boolean {
  return `${resolve(path)}/`.startsWith(`${resolve(dir)}/`)
}
