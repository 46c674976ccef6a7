// The units in examples/, as systemd itself judges them.

import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const FOLDER = 'examples/systemd'
const UNITS = globSync('*.{service,timer}', { cwd: FOLDER })
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.runIf(hasSystemd)('systemd finds nothing wrong with any unit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'units-'))
  try {
    // Where the program is not installed, another stands for it.
    for (const unit of UNITS)
      writeFileSync(
        join(dir, unit),
        readFileSync(join(FOLDER, unit), 'utf8').replaceAll('/usr/local/bin/tranche', process.execPath),
      )
    const verified = spawnSync('systemd-analyze', ['verify', ...UNITS.map((unit) => join(dir, unit))], {
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${dir}:` },
    })
    const said = verified.stderr.split('\n').filter((line) => UNITS.some((unit) => line.includes(unit)))
    expect([verified.status, said]).toEqual([0, []])
  } finally {
    rmSync(dir, { recursive: true })
  }
})
