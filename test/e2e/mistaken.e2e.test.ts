// A configuration with a mistake: what reads the record goes on, what sends or settles does not.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
let batch: string
let wrong: NodeJS.ProcessEnv
beforeAll(async () => {
  office = await openOffice({ triggers: true })
  const input = await office.put(
    'captures.csv',
    'reference,amount,request_currency,customer_vault_id\nlost,5.03,EUR,40001\nB,7.00,EUR,40002\n',
  )
  batch = (await office.tranche('submit', input, '--operation', 'CAPTURE', '--json')).last.batch
  await office.tranche('worker', '--until-idle')
  await office.put('shop.password', 's3cret-pass\n')
  const config = await office.put(
    'tranche.yaml',
    'merchants: {hotel: {url: "https://other.example", username: other, password_file: shop.password, rte: 5}}\n',
  )
  wrong = { TRANCHE_CONFIG: config, TRANCHE_TIMEOUT_MS: '5' }
})
afterAll(() => office.close())

test.each<[string, () => string[], number, RegExp]>([
  ['status', () => ['status'], 0, /needs attention/],
  ['status of a batch', () => ['status', batch], 0, /1 row is in doubt/],
  ['status --check', () => ['status', '--check'], 5, /1 row in doubt/],
  ['results', () => ['results', batch, '--out', office.path('out.csv')], 0, /1 in doubt/],
  ['history', () => ['history', 'lost'], 0, /IN_DOUBT/],
  ['in-doubt list', () => ['in-doubt', 'list'], 0, /lost/],
  ['log', () => ['log'], 0, /recorded|submit/],
  ['backup', () => ['backup', office.path('backup.db')], 0, /./],
  ['doctor --live', () => ['doctor', '--live'], 6, /no worker is running/],
])('%s works, and says in one line what is wrong', async (what, args, code, shows) => {
  const ended = await office.trancheWith(wrong, ...args())
  expect([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringMatching(shows)])
  if (what.startsWith('doctor')) return
  const told = ended.stderr.split('\n').filter((line) => line.startsWith('The configuration is wrong'))
  expect(told).toEqual([
    expect.stringMatching(/TRANCHE_TIMEOUT_MS must be .*hotel\.rte: .*did you mean rate\?.*reads the ledger/),
  ])
})

test('doctor marks the mistakes as what is to be fixed, and looks at the rest', async () => {
  const { code, stdout } = await office.trancheWith(wrong, 'doctor')
  expect(code).toBe(2)
  expect(stdout).toMatch(/^FIX {2}configuration: TRANCHE_TIMEOUT_MS must be .*did you mean rate\?/m)
  expect(stdout).toMatch(/^ok {3}ledger: 1 batch/m)
})

test.each<[string, () => string[]]>([
  ['worker', () => ['worker', '--until-idle']],
  ['run', () => ['run', office.path('captures.csv'), '--operation', 'CAPTURE', '--out', office.path('run.csv')]],
  ['submit', () => ['submit', office.path('captures.csv'), '--operation', 'CAPTURE']],
  ['resume', () => ['resume', batch, '--reason', 'looked']],
  ['cancel', () => ['cancel', batch, '--reason', 'wrong']],
  ['in-doubt resolve', () => ['in-doubt', 'resolve', 'lost', '--found', 'approved', '--reason', 'found']],
])('%s is refused', async (_what, args) => {
  const { code, stderr } = await office.trancheWith(wrong, ...args())
  expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was started and nothing was sent')])
})

test('a wrong data directory is refused by everything: another ledger would be read', async () => {
  const { code, stderr } = await office.trancheWith({ TRANCHE_DATA_DIR: 'd' }, 'status')
  expect([code, stderr]).toEqual([2, expect.stringContaining('must be an absolute path')])
})
