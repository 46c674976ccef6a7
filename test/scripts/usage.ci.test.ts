// The scripts that npm runs: help, and arguments that they do not know.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const SCRIPTS = [
  'scripts/setup.mjs',
  'test/search/search.ts',
  'test/simulation/simulate.ts',
  'examples/demo.ts',
  'bench/run.ts',
]
const ran = (script: string, arg: string) => spawnSync(process.execPath, [script, arg], { encoding: 'utf8' })

test.each(SCRIPTS)('%s has help, and answers a wrong option with it', (script) => {
  const help = ran(script, '--help')
  expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^npm run /), stderr: '' })
  const wrong = ran(script, '--nonsense')
  expect(wrong).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(help.stdout) })
  expect(wrong.stderr).toMatch(/^(setup: )?Unknown option '--nonsense'/)
})
