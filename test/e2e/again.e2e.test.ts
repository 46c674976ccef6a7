// The same file once more: after an interruption, after its end, and month after month.

import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

test('an interrupted run ends with 130 and no results; the same command finishes it', async () => {
  office = await openOffice({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '5' } })
  const rows = refunds(100)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const first = office.start('run', input, '--out', out, '--json')
  await until('the run is under way', () => office.sandbox.log().length >= 25, first)
  first.kill('SIGINT')
  const interrupted = await first.ended
  expect(interrupted.code, interrupted.stderr).toBe(130)
  expect(interrupted.last).toMatchObject({ event: 'result', state: 'interrupted', exit: 130 })
  expect(interrupted.stderr).toContain('Run the same command again to go on.')
  expect(existsSync(out)).toBe(false)
  const sent = office.sandbox.received()
  expect(sent).toBeLessThan(100)

  const again = await office.tranche('run', input, '--out', out, '--json')
  expect(again.code, again.stderr).toBe(0)
  expect(again.last.batch).toBe(interrupted.last.batch)
  expect(again.stderr).toMatch(/The file is batch \S+ already: \d+ of 100 rows are not settled yet\./)
  expect(countsIn(out)).toEqual({ APPROVED: 100 })
  expect(office.sandbox.received()).toBe(100)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a finished file run again sends nothing: its rows count as duplicates of the first', async () => {
  office = await openOffice()
  const rows = [...refunds(3), refundRow(4, { amount: '5.02' })]
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const [first, second] = [office.path('first.csv'), office.path('second.csv')]
  const ran = await office.tranche('run', input, '--out', first, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  const onceMore = await office.tranche('run', input, '--out', first, '--json') // cron fired twice
  expect(onceMore.code, onceMore.stderr).toBe(3)
  expect(onceMore.last.batch).toBe(ran.last.batch)
  expect(ran.stderr).toContain(`Recorded as batch ${ran.last.batch}.`)
  expect(onceMore.stderr).toContain(`The file is batch ${ran.last.batch} already: no row of it is left to send.`)

  const again = await office.tranche('run', input, '--out', second, '--json')
  expect(again.code, again.stderr).toBe(3)
  expect(again.last.batch).not.toBe(ran.last.batch)
  expect(countsIn(second)).toEqual({ DUPLICATE: 4 })
  for (const { result_row: row, result_reason: reason } of readCsv(second)) {
    expect(reason).toContain(ran.last.batch)
    expect(reason).toMatch(new RegExp(`row ${row}\\b`))
    expect(reason).toContain(row === '4' ? 'DECLINED' : 'APPROVED')
  }
  expect(office.sandbox.received()).toBe(4)
  expect(compareBooks(booksOf(office, { input, out: first }, { input, out: second }))).toEqual([])
})

test('rows that are in doubt or not sent in an earlier batch say why the command does not end well', async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '1' } })
  const rows = refunds(4)
  office.sandbox.prepare(preparationFor(rows))
  for (const n of [1, 2]) office.sandbox.addFault({ kind: 'reset-before', match: { orderId: orderOf(n) }, times: 1 })
  const input = await office.put('in.csv', toCsv(rows.slice(0, 3)))
  const ran = await office.tranche('run', input, '--out', office.path('first.csv'), '--json')
  const other = await office.put('other.csv', toCsv(rows.slice(3)))
  const { batch: waiting } = (await office.tranche('submit', other, '--json')).last

  const again = await office.put('again.csv', toCsv(rows))
  for (const resumed of [false, true]) {
    const { code, stderr } = await office.tranche('run', again, '--only-new', '--out', office.path('second.csv'))
    expect([resumed, code, stderr.includes('already')], stderr).toEqual([resumed, 6, resumed])
    expect(stderr).toContain(
      `2 rows are IN DOUBT in batch ${ran.last.batch} (in.csv), which recorded them first: the gateway may have executed them. Nothing was sent for them now. Look them up at the gateway: tranche in-doubt list\n`,
    )
    expect(stderr).toContain(
      `1 row is still to be sent by batch ${waiting} (other.csv), which recorded it first. Nothing was sent for it now. See what it waits for: tranche status ${waiting}\n`,
    )
  }
  expect(office.sandbox.received()).toBe(3)
})

test('a recorded reference with other content is refused, and the first one stays as it was', async () => {
  office = await openOffice()
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  expect((await office.tranche('run', input, '--out', office.path('a.csv'))).code).toBe(0)
  const other = await office.put('other.csv', toCsv([refundRow(1, { amount: '99.00' })]))
  const refused = await office.tranche('run', other, '--out', office.path('b.csv'))
  expect(refused.code).toBe(7)
  expect(refused.stderr).toContain('the reference is recorded with other content')
  expect(recordedIn(office)).toHaveLength(2)
  expect(office.sandbox.received()).toBe(2)
})

test('a roster under a run key charges each stored card once a month, however often it is run', async () => {
  office = await openOffice()
  const cards = ['501', '502', '503']
  office.sandbox.prepare({ vault: cards.map((vaultId) => ({ vaultId })) })
  const roster = `reference,amount,request_currency,customer_vault_id\n${cards.map((card) => `sub-${card},9.90,EUR,${card}`).join('\n')}\n`
  const input = await office.put('subscribers.csv', roster)
  const charge = (month: string, out: string, ...more: string[]) =>
    office.tranche(
      'run',
      input,
      '--operation',
      'CAPTURE',
      '--run-key',
      month,
      '--out',
      office.path(out),
      '--json',
      ...more,
    )
  const charged = () =>
    office.sandbox
      .log()
      .map((entry) => entry.vaultId)
      .toSorted()

  expect((await charge('2026-12', 'december.csv')).code).toBe(0)
  expect((await charge('2026-12', 'december.csv')).code).toBe(0)
  const elsewhere = await charge('2026-12', 'december-again.csv')
  expect(elsewhere.code, elsewhere.stderr).toBe(0)
  expect(countsIn(office.path('december-again.csv'))).toEqual({ DUPLICATE: 3 })
  expect(charged()).toEqual(cards)
  expect(recordedIn(office).map((row) => row.reference)).toContain('2026-12/sub-501')

  const respelled = await charge('2026-012', 'respelled.csv', '--allow-lookalikes', '3')
  expect([respelled.code, respelled.stderr]).toEqual([7, expect.stringContaining('spell it so: --run-key 2026-12')])

  // A month later this passes; on the same day another key looks like a slip of the pen.
  const mistyped = await charge('2027-12', 'mistyped.csv')
  expect(mistyped.code).toBe(7)
  expect(mistyped.last).toMatchObject({ lookalikes: 3, refusals: [{ kind: 'lookalikes', found: 3 }] })
  expect(mistyped.last.refusals[0].message).toContain('3 of the 3 rows to be sent are recorded under other references')
  expect(mistyped.stderr + mistyped.last.refusals[0].message).not.toMatch(/--allow-lookalikes \d/) // a number is for copying
  expect(charged()).toEqual(cards)
  expect((await charge('2027-01', 'january.csv', '--allow-lookalikes', '3')).code).toBe(0)
  expect(charged()).toEqual(cards.flatMap((card) => [card, card]))
  const reports = ['december.csv', 'december-again.csv', 'january.csv'].map((name) => ({
    input,
    out: office.path(name),
  }))
  expect(compareBooks(booksOf(office, ...reports))).toEqual([])
})

test('a run that sends nothing because all of it was charged a month ago says when, and ends with 3', async () => {
  office = await openOffice()
  office.sandbox.prepare({ vault: [{ vaultId: '501' }] })
  const input = await office.put(
    'roster.csv',
    'reference,amount,request_currency,customer_vault_id\nsub-1,9.90,EUR,501\n',
  )
  const charge = (out: string) =>
    office.tranche('run', input, '--operation', 'CAPTURE', '--run-key', '2026-12', '--out', office.path(out))
  expect((await charge('first.csv')).code).toBe(0)
  expect((await charge('same-day.csv')).code).toBe(0)
  const ledger = new DatabaseSync(office.ledgerPath)
  ledger.exec(
    'UPDATE batch SET created_at = created_at - 2592000000; UPDATE instruction SET sent_at = sent_at - 2592000000',
  )
  ledger.close()
  // A batch of its own, and once more as the batch that it is.
  for (const out of ['again.csv', 'first.csv']) {
    const again = await charge(out)
    expect(again.code, again.stderr).toBe(3)
    expect(again.stderr).toMatch(
      /1 row was charged under this key on \d+ \w+, 30 days ago \(batch \S+\)\. If this is another month's run, give it a key of its own\./,
    )
  }
  const submitted = await office.tranche('submit', input, '--operation', 'CAPTURE', '--run-key', '2026-12')
  expect([submitted.code, submitted.stderr]).toEqual([
    3,
    expect.stringMatching(/was charged under this key on .*30 days ago/),
  ])
  expect(submitted.stderr).not.toContain('Follow it')
})

test('a run of which most was charged a month ago says so beside what it sends, unless only new rows are wanted', async () => {
  office = await openOffice()
  office.sandbox.prepare({ vault: ['501', '502', '503', '504'].map((vaultId) => ({ vaultId })) })
  const charge = async (out: string, subscribers: number, ...more: string[]) => {
    const rows = Array.from({ length: subscribers }, (_, n) => `sub-${n + 1},9.9${n},EUR,50${n + 1}\n`).join('')
    const input = await office.put('roster.csv', `reference,amount,request_currency,customer_vault_id\n${rows}`)
    const key = ['--operation', 'CAPTURE', '--run-key', '2026-12', '--out', office.path(out)]
    return office.tranche('run', input, ...key, ...more)
  }
  expect((await charge('first.csv', 2)).code).toBe(0)
  const ledger = new DatabaseSync(office.ledgerPath)
  ledger.exec(
    'UPDATE batch SET created_at = created_at - 2592000000; UPDATE instruction SET sent_at = sent_at - 2592000000',
  )
  ledger.close()
  // The same bytes under the key of another month: by its name it is the list of December.
  const december = await office.put('roster-december-2026.csv', readFileSync(office.path('roster.csv'), 'utf8'))
  const month = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 7)
  const key = month(0) === '2026-12' ? month(31) : month(0) // one far from today is asked about
  const next = ['--operation', 'CAPTURE', '--run-key', key, '--json']
  expect((await office.tranche('check', december, ...next)).last.lookalikes).toBe(2)
  expect((await office.tranche('check', office.path('roster.csv'), ...next)).last.lookalikes).toBe(0)
  expect((await charge('new.csv', 3, '--only-new')).code).toBe(0)
  const mostly = await charge('mostly.csv', 4)
  expect([mostly.code, mostly.stderr]).toEqual([
    3,
    expect.stringMatching(/\b2 rows were charged under this key on \d+ \w+, 30 days ago/),
  ])
  expect(countsIn(office.path('mostly.csv'))).toEqual({ APPROVED: 1, DUPLICATE: 3 })
})

test('of rows that are left out, those with other cells are told apart', async () => {
  office = await openOffice()
  office.sandbox.prepare({ vault: [{ vaultId: '501' }, { vaultId: '502' }] })
  const sales = (...days: string[]) =>
    `customer_vault_id,amount,request_currency,Bought\n${days.map((day, i) => `50${i + 1},4.50,EUR,${day}\n`).join('')}`
  const send = async (name: string, text: string, ...more: string[]) => {
    const input = await office.put(name, text)
    return office.tranche('run', input, '--operation', 'CAPTURE', '--out', office.path(`out-${name}`), ...more)
  }
  const run = (name: string, text: string, ...more: string[]) => send(name, text, '--only-new', ...more)
  expect((await run('monday.csv', sales('Mon'))).code).toBe(0)
  expect((await run('same.csv', sales('Mon', 'Mon'))).code).toBe(0)
  const tuesday = await run('tuesday.csv', sales('Tue', 'Mon'))
  expect([tuesday.code, tuesday.stderr]).toEqual([3, expect.stringContaining('1 row differs from the recorded one')])
  expect(countsIn(office.path('out-tuesday.csv'))).toEqual({ DUPLICATE: 2 })
  expect((await run('ignored.csv', sales('Wed', 'Mon'), '--map', 'Bought=ignore')).code).toBe(0)

  // The other list of the same month names its rows by their customers as well.
  const list = (item: string) => `reference,customer_vault_id,amount,request_currency,Item\nc-1,501,4.50,EUR,${item}\n`
  const key = ['--run-key', '2026-12', '--allow-lookalikes', '1']
  expect((await send('coffee.csv', list('coffee'), ...key)).code).toBe(0)
  expect((await send('coffee-again.csv', `${list('coffee')}\n`, ...key)).code).toBe(0)
  const tea = await send('tea.csv', list('tea'), ...key)
  expect([tea.code, tea.stderr]).toEqual([3, expect.stringContaining('1 row differs from the recorded one')])
})

test('a roster whose last month is still to be sent is refused and names that batch', async () => {
  office = await openOffice()
  const rows = 'sub-1,701,1.00,EUR\nsub-2,702,2.00,EUR\n'
  const input = await office.put('roster.csv', `reference,customer_vault_id,amount,request_currency\n${rows}`)
  const roster = (month: string) => [input, '--operation', 'CAPTURE', '--run-key', month]
  const { batch } = (await office.tranche('submit', ...roster('2026-11'), '--json')).last
  const refused = await office.tranche('run', ...roster('2026-12'), '--out', office.path('out.csv'), '--json')
  expect(refused.code).toBe(7)
  expect(refused.last.refusals[0].message).toContain(
    `Batch ${batch} still has 2 of them to send: resume or cancel that batch first`,
  )
  const checked = await office.tranche('check', ...roster('2026-12'))
  expect(checked.stdout).toContain(`Batch ${batch} still has 2 of them to send`)
})
