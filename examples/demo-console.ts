// The console on a sandbox, for somebody who has never seen it: one link, two people, a file to hand in.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chapter, ended, environment, say, start } from './demo-parts.ts'

const REFUNDS = fileURLToPath(new URL('refunds.csv', import.meta.url))
/** The sandbox answers this amount with silence. */
const DOUBTFUL = 'R-1006,700000006,5.03,EUR,Noor Haddad,late\n'

export async function showConsole(port: string, directory: string): Promise<void> {
  const file = join(directory, 'refunds.csv')
  writeFileSync(file, readFileSync(REFUNDS, 'utf8') + DOUBTFUL)
  say('Everything here happens on a sandbox gateway on this machine, and is thrown away at the end. No money moves.')
  chapter('In a browser, at the link below')
  say('1. Sign in as ana. Hand in the file (New batch):')
  say(`     ${file}`)
  say(
    '   What was read is shown before anything is recorded. One row will be declined and one will be in doubt, on purpose.',
  )
  say('2. Sign out, sign in as ben, and approve it: you type how many rows are to be sent.')
  say('3. Sign in as ana again. Watch the batch, resolve what is in doubt, and take the results away.')
  say('Ctrl-C ends it.\n')
  const args = ['serve', '--sandbox', '--with-worker', '--with-people', '--port', port]
  await ended(start(args, directory, environment({ TRANCHE_LOG_LEVEL: 'warn' }), 'inherit'))
  rmSync(directory, { recursive: true })
}
