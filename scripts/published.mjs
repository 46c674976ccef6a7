// Before a package is packed: package.json as it is published, and npm-shrinkwrap.json beside it, so that whoever installs it
// gets the versions that were tested. `--restore` takes both away afterwards: in a checkout npm would follow them.
// Plain JavaScript, Node 20.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { publishedLock, publishedManifest, ROOT } from './running-lock.mjs'

const MANIFEST = `${ROOT}package.json`
const SHRINKWRAP = `${ROOT}npm-shrinkwrap.json`
const KEPT = `${ROOT}package.json.kept`

restore() // an npm pack that was killed has left both
if (!process.argv.includes('--restore')) {
  const [manifest, lock] = [publishedManifest(), publishedLock()]
  write(SHRINKWRAP, lock)
  renameSync(MANIFEST, KEPT)
  write(MANIFEST, manifest)
}

function restore() {
  rmSync(SHRINKWRAP, { force: true })
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
}

function write(path, content) {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
}
