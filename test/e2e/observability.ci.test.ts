// The rules of examples/observability, as Prometheus itself judges them.

import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'

const FOLDER = 'examples/observability'
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe.skipIf(!hasPromtool)('Prometheus', () => {
  test.each([
    ['check', 'rules', 'tranche.rules.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'tranche.rules.test.yml'],
  ])('promtool %s %s %s succeeds', (...args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  })
})
