// The folder of a command goes with its process, however that ends.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = new URL('../../src/app/temporary-folder.ts', import.meta.url).href

test.each(['process.exit(1)', "throw new Error('bug')", 'folder.close()'])('%s leaves nothing behind', (end) => {
  const script = `
    const { openTemporaryFolder } = await import('${FOLDER}')
    const folder = openTemporaryFolder('tranche-test-', process.env)
    process.stdout.write(folder.path)
    ${end}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stdout).toContain('tranche-test-')
  expect(existsSync(stdout)).toBe(false)
})
