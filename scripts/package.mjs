// npm run package: tranche-VERSION.tgz, from a copy of what is published. In a checkout npm would follow the package.json and the
// npm-shrinkwrap.json that the package brings, so neither is ever written there. Options are those of npm pack.
// Plain JavaScript, Node 20.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedLock, publishedManifest, ROOT } from './running-lock.mjs'

const copy = mkdtempSync(join(tmpdir(), 'tranche-package-'))
try {
  const manifest = publishedManifest()
  // npm leaves out of the copy what `files` leaves out.
  for (const name of manifest.files)
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  write('package.json', manifest)
  write('npm-shrinkwrap.json', publishedLock())
  const packing = ['pack', copy, '--pack-destination', ROOT, ...process.argv.slice(2)]
  process.exitCode = spawnSync('npm', packing, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

function write(name, content) {
  writeFileSync(join(copy, name), `${JSON.stringify(content, null, 2)}\n`)
}
