// What a person names where a file is asked for, and is none: a pipe that nobody writes to holds no command up.

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { refunds, toCsv } from '../fixtures/files.ts'

let office: Office
let pipe: string
beforeEach(async () => {
  office = await openOffice()
  pipe = office.path('pipe.csv')
  execFileSync('mkfifo', [pipe])
})
afterEach(() => office.close())

test.each(['check', 'run', 'submit'])('%s of a pipe ends with 2 and says what to do', async (command) => {
  const refused = await office.tranche(command, pipe, ...(command === 'run' ? ['--out', office.path('out.csv')] : []))
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(`${pipe} is a pipe, not a file: it is read more than once. Save it first`)
})

test('folders, devices and sockets are no files either', async () => {
  await mkdir(office.path('folder.csv'))
  const said = async (path: string) => {
    const { code, stderr } = await office.tranche('check', path)
    expect(code).toBe(2)
    return stderr
  }
  expect(await said(office.path('folder.csv'))).toContain('is a folder, not a file')
  expect(await said('/dev/null')).toContain('is a device, not a file')
})

test('a pipe is no worklist, no configuration and no saved format', async () => {
  const { code } = await office.tranche('check', await office.put('a.csv', toCsv(refunds(1))))
  expect(code).toBe(0)
  const worklist = await office.tranche('in-doubt', 'resolve', '--file', pipe, '--reason', 'found')
  expect([worklist.code, worklist.stderr]).toEqual([2, expect.stringContaining('is a pipe, not a file')])
  const refused = await office.trancheWith({ TRANCHE_CONFIG: pipe }, 'worker', '--until-idle')
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`TRANCHE_CONFIG names ${pipe}, which is a pipe`),
  ])
  await mkdir(office.path('d/formats/default'), { recursive: true })
  execFileSync('mkfifo', [office.path('d/formats/default/bank.yaml')])
  const formatted = await office.tranche('check', office.path('a.csv'), '--format', 'bank')
  expect([formatted.code, formatted.stderr]).toEqual([2, expect.stringContaining('is a pipe, not a file')])
})

test('a password comes through a pipe where a password store hands it over', async () => {
  const secret = { TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: pipe }
  const said = office.startWith(secret, 'worker', '--until-idle', '--json')
  const { code, stderr } = await writeFile(pipe, 's3cret-pass\n').then(() => said.ended)
  expect(code, stderr).toBe(0)
})
