// The help of every command, as a person reads it on 80 columns.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
beforeAll(async () => {
  office = await openOffice({ made: false })
})
afterAll(() => office.close())

const COMMANDS = [
  ...[
    '',
    'check',
    'run',
    'submit',
    'worker',
    'status',
    'results',
    'pause',
    'resume',
    'cancel',
    'rate',
    'history',
    'log',
  ],
  ...['purge', 'init', 'doctor', 'down', 'sandbox', 'backup', 'adopt', 'inbox', 'in-doubt', 'in-doubt list'],
  ...['in-doubt resolve', 'vault', 'vault create', 'vault update', 'vault delete'],
]

test.each(COMMANDS)('tranche %s --help fits 80 columns, and breaks no option', async (command) => {
  const { code, stdout } = await office.tranche(...command.split(' ').filter((word) => word !== ''), '--help')
  expect(code).toBe(0)
  expect(stdout).toContain('Usage: tranche')
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(stdout).not.toMatch(/-$/m)
})
