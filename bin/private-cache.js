// Where compiled code may be kept. Node runs what it finds there and checks no owner, so a directory that another user can
// write, or could swap for another, would let that user run code as this one. Node's own choice, /tmp, is such a place.

import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** A directory that this user alone can write, made if need be; null: there is none, and nothing is cached. */
export function privateCacheDirectory(env = process.env, uid = process.getuid?.()) {
  if (uid === undefined) return null
  try {
    const base = env.XDG_CACHE_HOME
    const caches = base !== undefined && isAbsolute(base) ? base : join(homedir(), '.cache')
    const directory = join(caches, 'tranche', 'compiled')
    if (!areTrusted(nearest(directory), uid)) return null
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const real = realpathSync(directory)
    const { uid: owner, mode } = statSync(real)
    return owner === uid && (mode & 0o022) === 0 && areTrusted(real, uid) ? real : null
  } catch {
    return null
  }
}

/** The directory itself where it exists, else the first one above it that does. */
function nearest(directory) {
  let existing = directory
  while (!existsSync(existing)) existing = dirname(existing)
  return realpathSync(existing)
}

/**
 * A directory and all above it belong to this user or root, and no other user can put another in the place of one of them:
 * those that others can write are sticky, as /tmp is.
 */
function areTrusted(directory, uid) {
  for (let path = directory; ; path = dirname(path)) {
    const { uid: owner, mode } = statSync(path)
    if ((owner !== uid && owner !== 0) || ((mode & 0o022) !== 0 && (mode & 0o1000) === 0)) return false
    if (path === dirname(path)) return true
  }
}
