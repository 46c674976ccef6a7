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
  for (const unit of ['tranche-worker.service', 'tranche-serve.service'])
    expect(textOf(unit).match(/^(Restart|StartLimit)\w*=.*$/gm)).toEqual(worker.match(/^(Restart|StartLimit)\w*=.*$/gm))
  for (const unit of UNITS.filter((name) => name.endsWith('.service') && !name.includes('failure')))
    expect([unit, textOf(unit)]).toEqual([unit, expect.stringMatching(/^OnFailure=tranche-failure@%n\.service$/m)])
})

test('the hourly status is silent under cron only where nothing needs a person, and that could be found out', () => {
  expect(toldInCron('status', 0)).toBe('')
  for (const code of [1, 2, 3, 4, 5, 6, 75, 127])
    expect(toldInCron('status', code)).toBe(`tranche status ended with ${code}\nsaid by status --check\n`)
})

test('the nightly backup is silent under cron unless it fails', () => {
  expect(toldInCron('backup', 0)).toBe('')
  expect(toldInCron('backup', 1)).toMatch(/^the backup ended with 1\nsaid by backup \/backup\/ledger-[\d-]+\.db\n$/)
})

/** What cron mails of that line, where the command says something and ends with this code. */
function toldInCron(command: string, code: number): string {
  const line = readFileSync('examples/crontab', 'utf8')
    .split('\n')
    .find((text) => /^[\d*]/.test(text) && text.includes(`tranche ${command} `))
  const inCron = line?.replace(/^(\S+\s+){5}/, '').replaceAll('\\%', '%')
  const script = `tranche() { echo "said by $*" >&2; return ${code}; }; find() { :; }; ${inCron}`
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
  return stdout + stderr
}

test('doubts are left to the status, and whatever else is not well is reported, a 3 under cron once a day', () => {
  expect(textOf('tranche-monthly.service')).toMatch(/^SuccessExitStatus=5$/m)
  const [daily, weekly] = readFileSync('examples/crontab', 'utf8').match(/^.* tranche run .*$/gm) ?? []
  // `test`: whether there are results of this day.
  const told = (line: string | undefined, code: number, { known = false, cd = 0 } = {}) => {
    const inCron = line?.replace(/^(\S+\s+){5}/, '').replaceAll('\\%', '%')
    const stubs = `cd() { return ${cd}; }; tranche() { return ${code}; }; tail() { :; }; test() { return ${known ? 0 : 1}; }`
    const script = `${stubs}; ${inCron?.replace('>> charge.log', '> /dev/null')}`
    return spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).stdout
  }
  const all = [0, 5, 3, 1, 2, 6, 7, 75]
  const reported = all.map((code) => (code === 0 || code === 5 ? '' : `tranche run ended with ${code}\n`))
  for (const line of [daily, weekly]) expect(all.map((code) => told(line, code))).toEqual(reported)
  expect(all.map((code) => told(daily, code, { known: true }))).toEqual(reported.with(2, ''))
  expect(told(daily, 0, { cd: 2 })).toBe('tranche run ended with 2\n')
})
