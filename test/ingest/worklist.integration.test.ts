import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WORKLIST_COLUMNS } from '../../src/domain/worklist-columns.ts'
import { readWorklist } from '../../src/ingest/worklist.ts'
import { commandLine } from '../../src/present/command-line.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-worklist-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function read(text: string | Uint8Array, reason: string | null = null) {
  const path = join(dir, 'doubts.csv')
  await writeFile(path, text)
  const file = await open(path, 'r')
  try {
    return await readWorklist(file, { reason, spelling: commandLine })
  } finally {
    await file.close()
  }
}

const HEADER = 'reference,attempt,merchant,resolution,resolution_transaction_id,resolution_reason'
const entry = (over: object) => ({
  ...{
    line: 2,
    reference: 'R-1',
    attempt: 1,
    merchant: 'shop',
    row: null,
    finding: 'approved',
    transactionId: '7001',
    reason: 'portal',
  },
  ...over,
})

describe('a worklist that was filled in', () => {
  test('is read as it was meant', async () => {
    const found = await read(`${HEADER}\r\nR-1,1,shop,approved,7001,portal\r\nR-2,3,shop,Not executed,,gone\r\n`)
    expect(found).toEqual({
      ...{ kind: 'worklist', open: 0, faults: [], holdsCards: false },
      entries: [
        entry({}),
        entry({ line: 3, reference: 'R-2', attempt: 3, finding: 'not-executed', transactionId: null, reason: 'gone' }),
      ],
    })
  })

  test('names the very row that was looked up', async () => {
    const found = await read(`${HEADER},batch,row\nR-1,1,shop,approved,,x,261120-k7q2m,12\n`)
    expect(found).toMatchObject({ entries: [{ row: { batchId: '261120-k7q2m', rowNo: 12 } }], faults: [] })
    const half = await read(`${HEADER},batch,row\nR-1,1,shop,approved,,x,261120-k7q2m,\nR-2,1,shop,approved,,x,,7\n`)
    expect(half).toMatchObject({ entries: [], faults: [{ column: 'row' }, { column: 'batch' }] })
  })

  test('leaves lines without a resolution for later', async () => {
    expect(await read(`${HEADER}\nR-1,1,shop,,,\nR-2,1,shop, ,,not yet\n`)).toMatchObject({ entries: [], open: 2 })
  })

  test('takes one reason for every line that gives none', async () => {
    const found = await read(`${HEADER}\nR-1,1,shop,declined,,\nR-2,1,shop,declined,,my own\n`, 'checked on Monday')
    expect(found).toMatchObject({ entries: [{ reason: 'checked on Monday' }, { reason: 'my own' }], faults: [] })
  })

  test('may have been saved by a spreadsheet: semicolons, byte order mark, UTF-16, guard', async () => {
    const text = `${HEADER.replaceAll(',', ';')}\r\n'-R1;1;shop;send-again;;gone\r\n`
    const wanted = { entries: [{ reference: '-R1', finding: 'send-again' }], faults: [] }
    expect(await read(`\uFEFF${text}`)).toMatchObject(wanted)
    expect(await read(Buffer.from(`\uFEFF${text}`, 'utf16le'))).toMatchObject(wanted)
    const inGerman = `${HEADER}\nR-1,1,shop,approved,,geprüft\n`
    expect(await read(Buffer.from(inGerman, 'latin1'))).toMatchObject({ entries: [{ reason: 'geprüft' }] })
  })
})

describe('a worklist is not guessed at', () => {
  test.each([
    ['an unknown word', 'R-1,1,shop,maybe,,x', 'resolution'],
    ['no attempt', 'R-1,,shop,approved,,x', 'attempt'],
    ['no reference', ',1,shop,approved,,x', 'reference'],
    ['no reason', 'R-1,1,shop,approved,,', 'resolution_reason'],
    ['a reason with a card number', 'R-1,1,shop,approved,,card 4111111111111111', 'resolution_reason'],
    ['a reason with a security code', 'R-1,1,shop,approved,,cvv 123', 'resolution_reason'],
    ['a reason that would be two lines of the history', 'R-1,1,shop,approved,,"a\nb"', 'resolution_reason'],
    ['a reason that a terminal would obey', 'R-1,1,shop,approved,,a\u001b[2Jb', 'resolution_reason'],
    ['a transaction that a spreadsheet rounded', 'R-1,1,shop,approved,1.23457E+12,x', 'resolution_transaction_id'],
    ['a transaction of a row that was not executed', 'R-1,1,shop,not-executed,7001,x', 'resolution_transaction_id'],
  ])('%s is a fault of its line', async (_what, line, column) => {
    const found = await read(`${HEADER}\n${line}\n`)
    expect(found).toMatchObject({ entries: [], faults: [{ line: 2, column }] })
    expect(JSON.stringify(found)).not.toMatch(/4111111111111111|123[^4]/)
  })

  test('one row that stands in two lines is a fault of the second', async () => {
    const found = await read(`${HEADER}\nR-1,1,shop,approved,,x\nR-1,1,shop,declined,,x\n`)
    expect(found).toMatchObject({ entries: [{ line: 2 }], faults: [{ line: 3, column: 'reference' }] })
  })

  test('without its columns it is refused', async () => {
    expect(await read('reference,attempt\nR-1,1\n')).toMatchObject({ kind: 'refused', line: 1 })
    expect(await read('')).toMatchObject({ kind: 'refused' })
    expect(await read(Buffer.from('PK\u0003\u0004zip'))).toMatchObject({ kind: 'refused' })
  })
})

test('what is written for a person to fill in holds the columns that are read back', () => {
  expect(WORKLIST_COLUMNS).toEqual(expect.arrayContaining(['reference', 'attempt', 'merchant', 'resolution']))
})
