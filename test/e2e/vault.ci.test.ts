// Cards into the vault and sales by card: from the file to the gateway, kept nowhere, through every break.

import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv, recordedIn } from '../fixtures/books.ts'
import { cardNumber, cardSales, vaultFile } from '../fixtures/cards.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { MEMORY_TOLD, residentMiBIn } from '../fixtures/memory.ts'

let office: Office
afterEach(() => office.close())

const approved = () => recordedIn(office).filter(({ state }) => state === 'APPROVED').length

test('every card gets a vault id; the number comes back masked and the code empty', async () => {
  office = await openOffice()
  const input = await office.put('cards.csv', vaultFile(25))
  const out = office.path('out.csv')
  const ran = await office.tranche('vault', 'create', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  const lines = readCsv(out)
  expect(lines).toHaveLength(25)
  expect(new Set(lines.map((line) => line.result_vault_id)).size).toBe(25)
  const number = cardNumber(1)
  expect(lines[0]).toMatchObject({
    ...{ reference: 'V-1', card_number: `411111******${number.slice(-4)}`, card_cvv: '', card_exp_mm: '12' },
    ...{ result_status: 'APPROVED', result_card_bin: '411111', result_card_last4: number.slice(-4) },
    result_card_expiry: '12/2030',
  })
  expect(lines[0]?.result_customer_id).toMatch(/^\d+$/)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])

  const charged = lines.map((line, i) => `CH-${i},CAPTURE,${10 + i}.00,EUR,${line.result_vault_id}`)
  const sales = await office.put(
    'sales.csv',
    `reference,transaction_type,amount,request_currency,customer_vault_id\n${charged.join('\n')}\n`,
  )
  const sold = await office.tranche('run', sales, '--out', office.path('sold.csv'))
  expect([sold.code, countsIn(office.path('sold.csv'))], sold.stderr).toEqual([0, { APPROVED: 25 }])

  const ids = lines.map((line) => line.result_vault_id as string)
  const updates = await office.put('updates.csv', vaultFile(25, { first: 101, vaultIds: ids }))
  const changed = await office.tranche('vault', 'update', updates, '--out', office.path('changed.csv'))
  expect([changed.code, countsIn(office.path('changed.csv'))], changed.stderr).toEqual([0, { APPROVED: 25 }])
  const gone = await office.put(
    'gone.csv',
    `reference,customer_vault_id\n${ids.map((id, i) => `D-${i},${id}`).join('\n')}\n`,
  )
  const deleted = await office.tranche('vault', 'delete', gone, '--out', office.path('deleted.csv'))
  expect([deleted.code, countsIn(office.path('deleted.csv'))], deleted.stderr).toEqual([0, { APPROVED: 25 }])
  expect(compareBooks(booksOf(office))).toEqual([])
})

test('sales by card that were killed go on when the same file is run again, and nothing is charged twice', async () => {
  office = await openOffice({ latencyMs: 25, env: { TRANCHE_IN_FLIGHT: '4' } })
  const input = await office.put('sales.csv', cardSales(60))
  const out = office.path('out.csv')
  const first = office.start('run', input, '--out', out)
  await until('some are charged', () => approved() >= 10, first)
  first.kill('SIGKILL')
  await first.ended
  const worker = await office.tranche('worker', '--until-idle')
  expect([5, 6], worker.stderr).toContain(worker.code)
  expect(worker.stderr).toContain('its rows have card details, which are nowhere but in its file')
  const sentBefore = office.sandbox.received()
  const status = await office.tranche('status')
  expect(status.stdout + status.stderr).not.toContain('Start one: tranche worker')
  const again = await office.tranche('run', input, '--out', out)
  expect([0, 5], again.stderr).toContain(again.code)
  expect(office.sandbox.received()).toBeGreaterThan(sentBefore)
  const charged = office.sandbox.log().map(({ xtlOrderId }) => xtlOrderId)
  expect(new Set(charged).size).toBe(charged.length)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('Ctrl-C awaits what is open; the same command goes on', async () => {
  office = await openOffice({ latencyMs: 25, env: { TRANCHE_IN_FLIGHT: '2' } })
  const input = await office.put('cards.csv', vaultFile(40))
  const out = office.path('out.csv')
  const first = office.start('vault', 'create', input, '--out', out)
  await until('some are stored', () => approved() >= 5, first)
  first.kill('SIGINT')
  const ended = await first.ended
  expect(ended.code, ended.stderr).toBe(130)
  expect(recordedIn(office).filter(({ state }) => state === 'SENDING' || state === 'IN_DOUBT')).toEqual([])
  const again = await office.tranche('vault', 'create', input, '--out', out)
  expect([again.code, countsIn(out)], again.stderr).toEqual([0, { APPROVED: 40 }])
  expect(office.sandbox.log()).toHaveLength(40)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a file that is changed while it is sent sends no row that was not checked', async () => {
  office = await openOffice({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '1' } })
  const rows = 3_000 // more than are read ahead
  const whole = vaultFile(rows)
  const input = await office.put('cards.csv', whole)
  const running = office.start('vault', 'create', input, '--out', office.path('out.csv'))
  await until('some are stored', () => approved() >= 3, running)
  await writeFile(input, whole.replaceAll('Byron', 'Bryon')) // the same length, into the same file
  const ended = await running.ended
  expect(ended.code, ended.stderr).toBe(6)
  expect(ended.stderr).toContain('The file changed while its rows were being sent')
  expect(ended.stderr).toContain('Put the file back as it was and run the same command again to go on.')
  expect(compareBooks(booksOf(office))).toEqual([])
  expect(office.sandbox.log().length).toBeLessThan(rows)
})

test('a file of cards and a worker exclude each other, and it is said how', async () => {
  office = await openOffice()
  const input = await office.put('cards.csv', vaultFile(3))
  const worker = await office.worker()
  const refused = await office.tranche('vault', 'create', input, '--out', office.path('out.csv'))
  expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('Stop that worker, run this command')])
  expect(recordedIn(office)).toEqual([])
  worker.kill('SIGTERM')
  await worker.ended
})

test('what leaves the sending to others takes no card details, and says who does', async () => {
  office = await openOffice()
  const sales = await office.put('sales.csv', cardSales(3))
  const cards = await office.put('cards.csv', vaultFile(3))
  const submitted = await office.tranche('submit', sales)
  expect([submitted.code, submitted.stderr]).toEqual([7, expect.stringContaining('tranche run FILE')])
  const stored = await office.tranche('submit', cards, '--vault', 'create')
  expect([stored.code, stored.stderr]).toEqual([7, expect.stringContaining('tranche vault create FILE')])
  const deleted = await office.put('gone.csv', 'reference,customer_vault_id\nD-1,55\n')
  office.sandbox.prepare({ vault: [{ vaultId: '55' }] })
  expect((await office.tranche('submit', deleted, '--vault', 'delete')).code).toBe(0)
  const worker = await office.tranche('worker', '--until-idle')
  expect(worker.code, worker.stderr).toBe(0)
  expect(office.sandbox.log()).toMatchObject([{ operation: 'VAULT_DELETE', vaultId: '55' }])
})

test('bad cards are named by line and column, never by value', async () => {
  office = await openOffice()
  const good = vaultFile(4).split('\n')
  const bad = [
    good[0],
    good[1]?.replace(cardNumber(1), '4111111111111112'),
    good[2]?.replace(',12,30,', ',12,20,'),
    good[3]?.replace(/,737$/, ',7377'),
    good[4],
  ].join('\n')
  const input = await office.put('cards.csv', `${bad}\n`)
  const said = await office.tranche('check', input, '--vault', 'create', '--rejects', office.path('bad.csv'))
  const text = said.stdout + said.stderr + (await readFile(office.path('bad.csv'), 'utf8'))
  expect(said.code).toBe(7)
  expect(text).toMatch(/card_number[\s\S]*card_exp[\s\S]*card_cvv/)
  expect(text).not.toMatch(/4111111111111112|7377|737\b/)
})

test('what failed is run again from the file itself, and nothing that is stored is stored twice', async () => {
  office = await openOffice()
  const input = await office.put('cards.csv', vaultFile(6))
  office.sandbox.addFault({ kind: '400', match: { lastFour: cardNumber(2).slice(-4) }, times: 1 })
  office.sandbox.addFault({ kind: '400', match: { lastFour: cardNumber(5).slice(-4) }, times: 1 })
  const out = office.path('out.csv')
  const first = await office.tranche('vault', 'create', input, '--out', out)
  expect([first.code, countsIn(out)], first.stderr).toEqual([3, { APPROVED: 4, FAILED: 2 }])
  const masked = await office.tranche('vault', 'create', out, '--retry', 'failed', '--out', office.path('x.csv'))
  expect([masked.code, masked.stderr]).toEqual([7, expect.stringContaining('is masked')])
  const again = office.path('again.csv')
  const second = await office.tranche('vault', 'create', input, '--retry', 'failed', '--out', again)
  expect([second.code, countsIn(again)], second.stderr).toEqual([0, { APPROVED: 2, DUPLICATE: 4 }])
  expect(office.sandbox.log().filter(({ status }) => status === 'APPROVED')).toHaveLength(6)
  expect(compareBooks(booksOf(office, { input, out: again }))).toEqual([])
})

test('a card whose answer was lost is in doubt: the worklist tells which, and what was found is applied', async () => {
  office = await openOffice({ env: { TRANCHE_DOUBT_REST_MS: '0' } })
  const input = await office.put('cards.csv', vaultFile(3))
  const lastFour = cardNumber(2).slice(-4)
  office.sandbox.addFault({ kind: 'reset-after', match: { lastFour }, times: 1 })
  const out = office.path('out.csv')
  const ran = await office.tranche('vault', 'create', input, '--out', out)
  expect([ran.code, countsIn(out)], ran.stderr).toEqual([5, { APPROVED: 2, IN_DOUBT: 1 }])
  const list = office.path('doubts.csv')
  const shown = await office.tranche('in-doubt', 'list')
  expect(shown.stdout).toContain(`411111******${lastFour} 12/2030 of Ada Byron 2`)
  expect((await office.tranche('in-doubt', 'list', '--out', list)).code).toBe(0)
  expect(readCsv(list)).toMatchObject([
    { reference: 'V-2', card: `411111******${lastFour} 12/2030`, holder: 'Ada Byron 2' },
  ])
  expect(readCsv(list)[0]?.reason).toContain('the card may be stored')
  const found = (await readFile(list, 'utf8')).replace(/,,,\s*$/, ',approved,,found in the vault\n')
  await writeFile(list, found)
  const resolved = await office.tranche('in-doubt', 'resolve', '--file', list, '--reason', 'looked up')
  expect(resolved.code, resolved.stderr).toBe(0)
  expect(recordedIn(office).map(({ state }) => state)).toEqual(['APPROVED', 'APPROVED', 'APPROVED'])
  expect(compareBooks(booksOf(office))).toEqual([])
})

test('a canary of cards waits for a person; resumed, the same file goes on', async () => {
  office = await openOffice()
  const input = await office.put('cards.csv', vaultFile(12))
  const out = office.path('out.csv')
  const first = await office.tranche('vault', 'create', input, '--out', out, '--canary', '3', '--json')
  expect([first.code, countsIn(out)], first.stderr).toEqual([6, { APPROVED: 3, PENDING: 9 }])
  const batch = first.last.batch as string
  expect((await office.tranche('resume', batch, '--reason', 'looked')).code).toBe(0)
  const waiting = await office.tranche('status', batch)
  expect(waiting.stdout + waiting.stderr).toContain('its rows have card details, which are nowhere but in its file')
  const again = await office.tranche('vault', 'create', input, '--out', out)
  expect([again.code, countsIn(out)], again.stderr).toEqual([0, { APPROVED: 12 }])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('thousands of cards take little more memory than a few, so that what was sent is soon overwritten', async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '64', NODE_OPTIONS: MEMORY_TOLD } })
  const resident = async (name: string, count: number, first: number) => {
    const input = await office.put(name, vaultFile(count, { first }))
    const ran = await office.spawned('vault', 'create', input, '--out', office.path(`${name}.out`))
    expect(ran.code, ran.stderr).toBe(0)
    return residentMiBIn(ran.stderr)
  }
  const few = await resident('few.csv', 500, 1)
  const many = await resident('many.csv', 10_000, 501)
  expect(many / few).toBeLessThan(1.35)
})
