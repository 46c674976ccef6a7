// Files of rejects on disk: what a person gets to mend, what it is never written over, and that it can be handed in again.

import { link, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Reject } from '../../src/domain/draft.ts'
import { REJECT_COLUMNS } from '../../src/domain/result-columns.ts'
import { checkRejects, writeRejects, writeWholeReject } from '../../src/results/rejects.ts'
import { onePage } from '../fixtures/ledgers.ts'

let dir: string
let path: string
let input: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-rejects-'))
  path = join(dir, 'bad.csv')
  input = join(dir, 'refunds.csv')
  await writeFile(input, 'reference\r\nR-1\r\n')
})
afterEach(() => rm(dir, { recursive: true }))

const EMPTY = `\uFEFF${REJECT_COLUMNS.join(',')}\r\n`
const FAULT = { rowNo: 4, line: 6, column: 'amount', value: '=1', problem: 'is no amount', remedy: 'write 1.00' }
const REJECT: Reject = {
  ...{ rowNo: 4, line: 6, cells: ['R-4', '=1', 'a,"b"\n'], reference: '12/R-4', cameFrom: null },
  faults: [FAULT],
}
/** References stand in the first column. */
const PLAIN = { referencePlace: 0, runKey: null, delimiter: ',' }
const COLUMNS = ['reference', 'amount', 'note']

const write = (rejects: readonly Reject[], columns: readonly string[] = COLUMNS, fedBack = false) =>
  writeRejects(path, { columns, fedBack, ...PLAIN, rejects: onePage(rejects) })
const text = () => readFile(path, 'utf8')

describe('a file of rejects', () => {
  test('has the row as it was, guarded, and behind it what is wrong and what to do', async () => {
    expect(await write([REJECT])).toEqual({ path, rows: 1, kind: 'written' })
    expect(await text()).toBe(
      '\uFEFFreference,amount,note,reject_line,reject_row,reject_column,reject_value,reject_error,reject_remedy\r\n' +
        `R-4,'=1,"a,""b""\n",6,4,amount,'=1,amount: is no amount,write 1.00\r\n`,
    )
    expect(await readdir(dir)).toEqual(['bad.csv', 'refunds.csv'])
  })

  test('parts its cells as the file did, quotes what could be another part, and is known again', async () => {
    const rejects = () => onePage([{ ...REJECT, cells: ['R-4', '1,00', '-2,5'] }])
    const bad = { columns: COLUMNS, fedBack: false, ...PLAIN, delimiter: ';' }
    await writeRejects(path, { ...bad, rejects: rejects() })
    expect(await text()).toContain(`\r\nR-4;"1,00";"-2,5";6;4;amount;'=1;amount: is no amount;write 1.00\r\n`)
    expect(await writeRejects(path, { ...bad, rejects: rejects() })).toMatchObject({ kind: 'replaced' })
  })

  test('has one line for a row with several faults: twice in the file, it would clash with itself', async () => {
    const other = { ...FAULT, column: 'vault', value: null, problem: 'is empty', remedy: 'write 1.00' }
    await write([{ ...REJECT, faults: [FAULT, other, { ...FAULT, column: null, problem: 'is odd' }] }])
    const records: string[][] = parse(await text(), { bom: true })
    expect(records).toHaveLength(2)
    expect(records[1]?.slice(3)).toEqual([
      ...['6', '4', 'amount; vault', "'=1; ;' =1", 'amount: is no amount; vault: is empty; is odd', 'write 1.00'],
    ])
  })

  test('of results fed back keeps what ties a line to its recorded row', async () => {
    await write([{ ...REJECT, cameFrom: { batchId: 'b-7', rowNo: 3 } }], ['note'], true)
    const [header, record] = parse(await text(), { bom: true }) as string[][]
    expect(header?.slice(0, 4)).toEqual(['note', 'result_row', 'result_reference', 'result_batch'])
    expect(record?.slice(1, 4)).toEqual(['3', '12/R-4', 'b-7'])
  })

  test('gives a row without a reference the one that it would have had', async () => {
    const [empty, quoted] = [' ', '"" ""'].map((cell) => [cell, '1', ''])
    const rejects = [
      REJECT,
      { ...REJECT, rowNo: 5, cells: empty as string[], reference: '12/ab-5' },
      { ...REJECT, rowNo: 6, cells: quoted as string[], reference: '12/ab-6' },
    ]
    const first = async () => (parse(await text(), { bom: true }) as string[][]).map((record) => record[0])
    await writeRejects(path, {
      columns: COLUMNS,
      fedBack: false,
      referencePlace: 0,
      runKey: '12',
      delimiter: ',',
      rejects: onePage(rejects),
    })
    expect(await first()).toEqual(['reference', 'R-4', 'ab-5', 'ab-6'])
    await writeRejects(path, {
      columns: ['amount'],
      fedBack: false,
      referencePlace: null,
      runKey: '12',
      delimiter: ',',
      rejects: onePage(rejects),
    })
    const records: string[][] = parse(await text(), { bom: true })
    expect(records.map((record) => record[1])).toEqual(['reference', 'R-4', 'ab-5', 'ab-6'])
  })

  test('of a file that is no table has the one line that says why', async () => {
    const fault = { line: 3, column: null, problem: 'the row has 3 cells and the header 6', remedy: 'look for a quote' }
    expect(await writeWholeReject(path, fault)).toMatchObject({ rows: 1, kind: 'written' })
    expect(await text()).toBe(`${EMPTY}3,,,,the row has 3 cells and the header 6,look for a quote\r\n`)
  })

  test('carries no card number in what it says', async () => {
    const fault = { ...FAULT, value: '4111111111111111', problem: 'has 4111111111111111 in it' }
    await write([{ ...REJECT, cells: [], faults: [fault] }])
    expect(await text()).not.toContain('4111111111111111')
  })

  test('that is not needed is not made, and an old one is emptied', async () => {
    expect(await write([])).toEqual({ path, rows: 0, kind: 'nothing' })
    expect(await readdir(dir)).toEqual(['refunds.csv'])
    await write([REJECT])
    expect(await write([], [])).toEqual({ path, rows: 0, kind: 'emptied' })
    expect(await text()).toBe(EMPTY)
    expect(await write([REJECT])).toMatchObject({ kind: 'replaced' })
  })

  test('that fails half-way leaves the old one as it was, and no temporary file', async () => {
    await write([REJECT])
    const before = await text()
    const failing = async function* () {
      yield [REJECT]
      throw new Error('the ledger went away')
    }
    await expect(
      writeRejects(path, { columns: COLUMNS, fedBack: false, ...PLAIN, rejects: failing() }),
    ).rejects.toThrow('went away')
    expect(await text()).toBe(before)
    expect(await readdir(dir)).toEqual(['bad.csv', 'refunds.csv'])
  })
})

describe('before anything else happens', () => {
  test('an earlier file of rejects is taken, mended or not, whatever it was saved with', async () => {
    await write([REJECT])
    await writeFile(path, (await text()).replace('\uFEFF', '').replaceAll('\r\n', '\n').replace("'=1", '1.00'))
    expect(await checkRejects(path, input, null)).toBe(path)
    expect(await checkRejects(join(dir, 'new.csv'), input, null)).toBe(join(dir, 'new.csv'))
    expect(await readdir(dir)).toEqual(['bad.csv', 'refunds.csv'])
  })

  test.each([
    ['a letter', 'dear,sir\r\n1,2\r\n', 'is not a file of rejects'],
    ['an empty file', '', 'is not a file of rejects'],
    ['results', 'a,result_status,result_batch\r\n1,APPROVED,b-7\r\n', 'is not a file of rejects'],
    ['rejects with a column behind them', EMPTY.replace('\r\n', ',mine\r\n'), 'is not a file of rejects'],
  ])('%s is not written over', async (_, content, said) => {
    await writeFile(path, content)
    await expect(checkRejects(path, input, null)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(said),
    })
    await expect(write([REJECT])).rejects.toMatchObject({ code: 'usage' })
    expect(await text()).toBe(content)
  })

  test('the input is not written over under any name, even as an earlier file of rejects', async () => {
    await writeFile(input, EMPTY)
    await link(input, join(dir, 'hard.csv'))
    await symlink(input, join(dir, 'soft.csv'))
    for (const name of ['refunds.csv', 'hard.csv', 'soft.csv']) {
      await expect(checkRejects(join(dir, name), input, null)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringMatching(/is the input file .* rejects/),
      })
    }
  })

  test.each(['out.csv', 'out.summary.csv', 'OUT.csv', 'look.csv', 'page.html'])(
    'the results %s are not written over',
    async (name) => {
      const results = {
        out: join(dir, 'out.csv'),
        exceptions: join(dir, 'look.csv'),
        report: join(dir, 'page.html'),
        sandbox: false,
      }
      await expect(checkRejects(join(dir, name), input, results)).rejects.toMatchObject({ code: 'usage' })
      const sandboxed = { ...results, sandbox: true }
      // A rehearsal writes over no rejects that somebody mends.
      await expect(checkRejects(join(dir, 'bad.csv'), input, sandboxed)).resolves.toBe(join(dir, 'bad.SANDBOX.csv'))
      await expect(checkRejects(join(dir, 'out.csv'), input, sandboxed)).rejects.toMatchObject({ code: 'usage' })
    },
  )

  test('a place that cannot be written is said in words of its own', async () => {
    await expect(checkRejects(join(dir, 'nowhere', 'bad.csv'), input, null)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^The rejects could not be written .* name another with rejects\. Nothing was/),
    })
    await expect(checkRejects(dir, input, null)).rejects.toMatchObject({ code: 'usage' })
  })
})
