// Files as the command line reads them: what it says about columns and formats, and how it ends with files no machine could hold.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { query } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { MEMORY_TOLD, residentMiBIn } from '../fixtures/memory.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

/** The one that an inbox wrote there. */
function reportIn(folder: string): string {
  const names = readdirSync(office.path(folder)).filter((name) => name.endsWith('.txt'))
  expect(names).toHaveLength(1)
  return readFileSync(office.path(`${folder}/${names[0]}`), 'utf8')
}

const BANK = 'Buchungs-ID;Betrag;Währung;Buchungstext\n1001;12,30;EUR;x\n1002;1.234,50;EUR;y\n'
const HOW = ['--operation', 'REFUND', '--map', 'Buchungs-ID=request_ref_po_id']

describe('columns', () => {
  test('that a person maps are read so, and check tells which are not understood', async () => {
    const file = await office.put('bank.csv', BANK)
    const unmapped = await office.tranche('check', file, '--operation', 'REFUND')
    expect(unmapped.code).toBe(7)
    expect(unmapped.stderr).toContain('no column request_ref_po_id')
    const checked = await office.tranche('check', file, ...HOW)
    expect(checked.code, checked.stderr).toBe(0)
    expect(checked.stderr).toContain('Buchungs-ID is read as request_ref_po_id')
    expect(checked.stderr).toContain('Unknown columns, copied to the results: Buchungstext.')
    const ignored = await office.tranche('check', file, ...HOW, '--map', 'Buchungstext=ignore')
    expect(ignored.stderr).not.toContain('Unknown columns')
    expect((await office.tranche('check', file, ...HOW, '--json')).last.columns).toEqual({
      mapped: [
        { written: 'Buchungs-ID', field: 'request_ref_po_id' },
        { written: 'Betrag', field: 'amount' },
        { written: 'Währung', field: 'request_currency' },
      ],
      carried: ['Buchungstext'],
    })
  })

  test('that are not read are named before a file leaves, at every door', async () => {
    const UNREAD = 'Unknown columns, copied to the results: Buchungstext.'
    for (const [command, ids] of [
      ['run', '300'],
      ['submit', '400'],
    ] as const) {
      const file = await office.put(`${command}.csv`, BANK.replaceAll('100', ids))
      expect((await office.tranche(command, file, ...HOW)).stderr).toContain(UNREAD)
    }
    await mkdir(office.path('in'))
    await office.put('in/a.csv', BANK.replaceAll('100', '200'))
    const inbox = await office.tranche('inbox', office.path('in'), '--once', '--stable-for', '0', ...HOW)
    expect(inbox.code, inbox.stderr).toBe(0)
    expect(reportIn('in/archive')).toContain(UNREAD)
  })

  test('that decide, name another merchant or a later day stop a file at every door until they are ignored', async () => {
    const hotel = { url: 'https://hotel.example', username: 'hotel', password_file: await office.put('pw', 'secret') }
    const env = { TRANCHE_CONFIG: await office.put('t.yaml', JSON.stringify({ merchants: { hotel } })) }
    const rows = ['500;5.00;EUR;yes;hotel;2099-01-01;open', '501;6.00;EUR;no;default;2099-01-01;refunded']
    const text = ['order_id;amount;currency;Approved;Unit;Send on;State', ...rows, ''].join('\n')
    const file = await office.put('may.csv', text)
    await mkdir(office.path('in'))
    const how = ['--operation', 'REFUND', '--merchant', 'default']
    const inbox = ['inbox', office.path('in'), '--once', '--stable-for', '0', ...how]
    const told = ['"Approved=ignore"', '"Unit=ignore"', '"Send on=ignore"', '"State=ignore"']
    for (const words of [['check', file, ...how], ['run', file, ...how], inbox]) {
      await office.put('in/may.csv', text)
      const { code, stderr } = await office.trancheWith(env, ...words)
      const said = words === inbox ? reportIn('in/rejected') : stderr
      expect([code, told.filter((way) => !said.includes(way))], said).toEqual([7, []])
    }
    expect(office.sandbox.log()).toEqual([])
    const ignored = told.flatMap((way) => ['--map', JSON.parse(way) as string])
    expect((await office.trancheWith(env, 'check', file, ...how, ...ignored)).code).toBe(0)
  })

  test('of refunds charge nobody, and gaps in a column of currencies are not filled by another', async () => {
    const refunds = await office.put('refunds.csv', 'vault_id;Refund amount;currency\n7;5.00;EUR\n')
    const gaps = await office.put('gaps.csv', 'vault_id;amount;currency\n7;5.00;USD\n8;6.00;\n')
    for (const command of ['check', 'submit']) {
      const charged = await office.tranche(command, refunds, '--operation', 'CAPTURE')
      expect([charged.code, charged.stderr.includes('--map "Refund amount=amount"')], charged.stderr).toEqual([7, true])
      const filled = await office.tranche(command, gaps, '--operation', 'CAPTURE', '--currency', 'EUR')
      expect(filled.code, filled.stderr).toBe(7)
      expect(filled.stdout + filled.stderr).toContain('line 3, currency: is empty, and would be read as EUR, while')
    }
    const meant = ['--operation', 'CAPTURE', '--map', 'Refund amount=amount']
    expect((await office.tranche('check', refunds, ...meant)).code).toBe(0)
  })

  test('mapped to what is no field end a command with 2, mapped from what is no column with 7', async () => {
    const file = await office.put('bank.csv', BANK)
    for (const command of ['check', 'submit']) {
      const wrong = await office.tranche(command, file, '--map', 'Betrag=ammount')
      expect(wrong.code, wrong.stderr).toBe(2)
      expect(wrong.stderr).toMatch(/is amount meant\?.*Nothing was recorded and nothing was sent/)
      const none = await office.tranche(command, file, '--operation', 'REFUND', '--map', 'Betrga=amount')
      expect(none.code, none.stderr).toBe(7)
      expect(none.stderr).toContain('Is "Betrag" meant?')
    }
    expect((await office.tranche('check', file, '--map', 'Betrag')).code).toBe(2)
    expect((await office.tranche('check', file, '--timezone', 'Berlin')).stderr).toContain('write an IANA time zone')
  })

  test('read in another way make another batch of the same bytes, and the old one is named', async () => {
    const text = 'reference;type;order_id;Betrag;Summe;currency\nR1;REFUND;1001;1.00;2.00;EUR\n'
    const file = await office.put('two.csv', text)
    const first = await office.tranche('submit', file, '--map', 'Betrag=amount')
    expect(first.code, first.stderr).toBe(0)
    const again = await office.tranche('submit', file, '--map', ' Betrag = AMOUNT ')
    expect(again.stdout).toBe(first.stdout)
    const other = await office.tranche('submit', file, '--map', 'Summe=amount', '--map', 'Betrag=', '--timezone', 'UTC')
    expect(other.code).toBe(2)
    expect(other.stderr).toContain('read with --map Betrag=amount; now')
    expect(other.stderr).toContain('--timezone UTC --map Betrag=ignore --map Summe=amount')
    const plain = await office.put('plain.csv', 'reference;type;order_id;amount;currency\nR2;REFUND;1003;1.00;EUR\n')
    await office.tranche('submit', plain)
    const declared = await office.tranche('submit', plain, '--decimal', '.')
    expect(declared.stderr).toContain('read with no such options; now it is to be read with --decimal .')
  })
})

describe('the amount', () => {
  test('is shown with its column, currency and target, and the columns it may be instead', async () => {
    const text = 'id;Amount;Amount Refunded;Currency;Order ID;Description\n1;90.00;5.00;EUR;1001;x\n'
    const file = await office.put('payments.csv', text)
    for (const command of ['check', 'submit']) {
      const { code, stderr } = await office.tranche(command, file, '--operation', 'REFUND')
      expect(code, stderr).toBe(0)
      expect(stderr).toContain(
        'Columns: Amount, Currency is read as request_currency, Order ID is read as request_ref_po_id\n',
      )
      expect(stderr).toContain('Not read as the amount, copied to the results: Amount Refunded. ')
    }
    const sale = await office.put(
      'sale.csv',
      'transaction_type;amount;request_currency;customer_vault_id\nCAPTURE;1;EUR;7\n',
    )
    expect((await office.tranche('check', sale)).stderr).toContain(
      'Columns: amount, request_currency, customer_vault_id\n',
    )
  })

  test('is not guessed where another column could be meant, with a person or without one', async () => {
    const text = 'Order ID,Transaction Amount,Amount to refund,Currency\n1001,50.00,5.00,EUR\n'
    await mkdir(office.path('in'))
    const file = await office.put('in/refunds.csv', text)
    const how = ['--operation', 'REFUND']
    expect(
      (await office.tranche('check', file, ...how, '--map', 'Currency=request_currency', '--save-format', 'shop')).code,
    ).toBe(7)
    const chosen = [...how, '--map', 'Amount to refund=amount']
    const { last } = await office.tranche('check', file, ...chosen, '--save-format', 'shop', '--json')
    expect(last).toMatchObject({ ok: true, totals: [{ amount: '5.00' }] })
    for (const command of [['check'], ['submit'], ['run', '--out', office.path('out.csv')]]) {
      const { code, stderr } = await office.tranche(...command, file, ...how, '--skip-invalid')
      expect(code, stderr).toBe(7)
      expect(stderr).toContain('"Amount to refund" could be the one that is meant. Choose one: --map ')
    }
    const inbox = ['inbox', office.path('in'), '--once', '--stable-for', '0']
    const unattended = await office.tranche(...inbox, ...how, '--json')
    expect(unattended.code, unattended.stderr).toBe(7)
    expect(unattended.objects.map(({ event }) => event)).toContain('rejected')
    await office.put('in/refunds.csv', text)
    const formatted = await office.tranche(...inbox, '--format', 'shop', '--json')
    expect(formatted.code, formatted.stderr).toBe(0)
    expect(formatted.objects).toContainEqual(expect.objectContaining({ event: 'recorded', rows: 1 }))
  })
})

describe('the command that check names next', () => {
  test('has every option that the file needs, as a shell takes it', async () => {
    const file = await office.put("Anna's bank.CSV", BANK)
    const asked = [...HOW, '--decimal', ',', '--expect-count', '2', '--expect-total', 'EUR=1246.80', '--skip-invalid']
    const checked = await office.tranche('check', file, ...asked)
    const quoted = `'${file.replace("'", "'\\''")}'`
    expect(checked.stderr).toContain(
      `Next:\n  $ tranche run ${quoted} --operation REFUND --decimal , --map Buchungs-ID=request_ref_po_id --expect-count 2 --expect-total EUR=1246.80 --skip-invalid --out ${quoted.replace('.CSV', '.results.csv')}`,
    )
    const saved = await office.tranche('check', file, ...HOW, '--save-format', 'bank')
    expect(saved.stderr).toContain(`Next:\n  $ tranche run ${quoted} --format bank --out `)
  })

  test('has a total of three decimals as it says it itself, though a person may mean another by it', async () => {
    const file = await office.put('k.csv', 'amount,request_currency,request_ref_po_id\n12.345,KWD,1001\n')
    const asked = ['--operation', 'REFUND', '--decimal', '.', '--expect-total'] as const
    expect((await office.tranche('check', file, ...asked, 'KWD=12.345')).code).toBe(0)
    expect((await office.tranche('check', file, ...asked, 'KWD=12,345')).code).toBe(2)
    expect((await office.tranche('check', file, ...asked, 'KWD=12.346')).code).toBe(7)
  })

  test('names results that are not there yet: what is there is of an earlier batch', async () => {
    const file = await office.put('bank.csv', BANK)
    await office.put('bank.results.csv', 'of an earlier file\n')
    await office.put('bank-2.results.summary.csv', 'of another\n')
    const { stderr } = await office.tranche('check', file, ...HOW)
    expect(stderr).toContain(` --out ${office.path('bank-3.results.csv')}\n`)
  })
})

describe('a format', () => {
  test('is saved by check, used by name, and gives way to the command line', async () => {
    const file = await office.put('bank.csv', BANK)
    const saved = await office.tranche('check', file, ...HOW, '--save-format', 'bank')
    expect(saved.code, saved.stderr).toBe(0)
    const path = `${office.dataDir}/formats/default/bank.yaml`
    expect(saved.stderr).toContain(`The format bank was saved: ${path}`)
    expect(await readFile(path, 'utf8')).toContain('map:\n  Buchungs-ID: request_ref_po_id\n')
    expect(query(office, 'SELECT id FROM batch')).toEqual([])
    const checked = await office.tranche('check', file, '--format', 'bank', '--json')
    expect(checked.last).toMatchObject({ ok: true, totals: [{ operation: 'REFUND', amount: '1246.80' }] })
    const over = await office.tranche('check', file, '--format', 'bank', '--operation', 'CANCEL', '--json')
    expect(over.last).toMatchObject({ ok: true, totals: [{ operation: 'CANCEL' }] })
    const mapped = await office.tranche('check', file, '--format', 'bank', '--map', 'Buchungstext=request_ref_po_id')
    expect(mapped.stdout).toContain('line 2, Buchungstext "x": is not digits only')
    const submitted = await office.tranche('submit', file, '--format', 'bank')
    expect(submitted.code, submitted.stderr).toBe(0)
    const spelledOut = await office.tranche('submit', file, ...HOW)
    expect(spelledOut.stdout).toBe(submitted.stdout)
  })

  test('that is missing or wrong ends a command with 2 before anything is recorded', async () => {
    const file = await office.put('bank.csv', BANK)
    for (const command of ['check', 'submit']) {
      const missing = await office.tranche(command, file, '--format', 'bank')
      expect(missing.code, missing.stderr).toBe(2)
      expect(missing.stderr).toContain('There is no format "bank"')
    }
    const named = await office.tranche('check', file, ...HOW, '--save-format', '../bank')
    expect(named.code).toBe(2)
    const unread = await office.tranche('check', file, '--operation', 'REFUND', '--save-format', 'bank')
    expect(unread.code).toBe(7)
    expect(unread.stderr).toContain('The format bank was not saved')
    expect(existsSync(`${office.dataDir}/formats`)).toBe(false)
    const nothing = await office.tranche('check', file, '--save-format', 'bank')
    expect(nothing.code).toBe(2)
    expect(nothing.stderr).toContain('there is nothing to keep')
    expect(query(office, 'SELECT id FROM batch')).toEqual([])
  })
})

const FILE_BYTES = 300 * 1024 * 1024
const HEADER = 'transaction_type;request_ref_po_id;note\n'

/** A file of so many bytes: the beginning, and then the same piece over and over. */
async function putLarge(beginning: string, piece: string): Promise<string> {
  const path = office.path('large.csv')
  const file = await open(path, 'w')
  const chunk = Buffer.from(piece.repeat(Math.floor((4 * 1024 * 1024) / piece.length)), 'latin1')
  await file.writeFile(beginning)
  for (let bytes = 0; bytes < FILE_BYTES; bytes += chunk.length) await file.write(chunk)
  await file.close()
  return path
}

describe('a file of 300 MB', () => {
  const env = { NODE_OPTIONS: `--max-old-space-size=64 ${MEMORY_TOLD}` }

  test.each([
    ['that is one quoted field', `${HEADER}CANCEL;1;"`, 'x', /larger than 64 KiB/],
    ['that is one quoted field of many lines', `${HEADER}CANCEL;1;"`, 'some words\r\n', /larger than 64 KiB/],
    ['of quotation marks', `${HEADER}CANCEL;1;`, '"', /larger than 64 KiB/],
    ['of quotation marks in lines', HEADER, 'CANCEL;1;"a"b\n"', /./],
    ['of zero bytes', '', '\0', /neither UTF-8 nor Windows-1252/],
    ['of zero bytes below good rows', `${HEADER}CANCEL;1;x\n`, '\0', /neither UTF-8 nor Windows-1252/],
    ['of delimiters', HEADER, ';', /larger than 64 KiB/],
    ['that is one column name', 'transaction_type;', 'n', /larger than 64 KiB/],
    ['of columns', 'transaction_type', ';n', /larger than 64 KiB/],
    ['of empty lines', HEADER, '\n', /1100000 empty lines follow each other/],
    ['of rows of empty cells', HEADER, ';;\r\n', /1100000 empty lines follow each other/],
    ['of bytes of no encoding', HEADER, '\x8d', /64 KiB|neither UTF-8 nor Windows-1252/],
    ['that is the header over and over', HEADER, HEADER, /more than 1000 lines repeat the column names/],
  ])(
    '%s is refused with a sentence, in little memory',
    async (_, beginning, piece, sentence) => {
      const file = await putLarge(beginning, piece)
      const ended = await office.spawnedWith(env, 'check', file)
      expect(ended.code, ended.stderr).toBe(7)
      expect(ended.stderr).toMatch(sentence)
      expect(ended.stderr).toContain('Nothing was recorded and nothing was sent.')
      expect(residentMiBIn(ended.stderr)).toBeLessThan(256)
    },
    60_000,
  )
})

test('a file that is larger than any file of instructions is refused before it is read', async () => {
  const path = office.path('sparse.csv')
  const file = await open(path, 'w')
  await file.writeFile(HEADER)
  await file.truncate(3 * 1024 ** 3)
  await file.close()
  for (const command of ['check', 'submit']) {
    const ended = await office.tranche(command, path)
    expect(ended.code, ended.stderr).toBe(7)
    expect(ended.stderr).toContain('larger than 2 GiB')
  }
})
