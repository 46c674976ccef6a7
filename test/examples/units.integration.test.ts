// The units and the crontab in examples/: what they do when a command ends.

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const UNITS = globSync('*.{service,timer}', { cwd: 'examples/systemd' })
const textOf = (unit: string) => readFileSync(`examples/systemd/${unit}`, 'utf8')

test('a worker that cannot be mended by starting it again is not, and each failure is told', () => {
  const worker = textOf('tranche-worker.service')
  expect(worker).toMatch(/^RestartPreventExitStatus=2 6$/m)
  const [, restart] = /^RestartSec=(\d+)$/m.exec(worker) ?? []
  const [, interval] = /^StartLimitIntervalSec=(\d+)$/m.exec(worker) ?? []
  const [, burst] = /^StartLimitBurst=(\d+)$/m.exec(worker) ?? []
  // So that the limit trips: all those starts fit into the interval.
  expect(Number(restart) * Number(burst)).toBeLessThan(Number(interval))
  for (const unit of UNITS.filter((name) => name.endsWith('.service') && !name.includes('failure')))
    expect([unit, textOf(unit)]).toEqual([unit, expect.stringMatching(/^OnFailure=tranche-failure@%n\.service$/m)])
})

test('declined rows and doubts are results of a run from a timer or cron, and what cannot go on is a failure', () => {
  expect(textOf('tranche-monthly.service')).toMatch(/^SuccessExitStatus=3 5$/m)
  const [line = ''] = readFileSync('examples/crontab', 'utf8').match(/^\*\/30 .*$/m) ?? []
  const inCron = line.replace(/^(\S+\s+){5}/, '').replaceAll('\\%', '%')
  const told = (code: number) => {
    const script = `cd() { :; }; tranche() { return ${code}; }; tail() { :; }; ${inCron.replace('>> charge.log', '> /dev/null')}`
    return spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).stdout
  }
  expect([0, 3, 5].map(told)).toEqual(['', '', ''])
  expect([1, 2, 6, 7].map(told)).toEqual([1, 2, 6, 7].map((code) => `tranche run ended with ${code}\n`))
})
