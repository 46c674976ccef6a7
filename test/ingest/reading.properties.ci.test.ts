// What holds for every file: ours come back as they were written, and no bytes at all can make the reading fail otherwise
// than with a sentence.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { Instruction, Operation } from '../../src/domain/instruction.ts'
import { type Currency, formatAmount } from '../../src/domain/money.ts'
import { holdsPan } from '../../src/domain/pan.ts'
import { type DecimalSign, readUnder } from '../../src/domain/written-amount.ts'
import { isUnclear, unquoted } from '../../src/ingest/csv/quotes.ts'
import { ENCODINGS, encode, type FileRead, read, readWhole, type Written } from './table.ts'

// Of 12 digits and more, two of a column may both be card numbers.
const id = fc.bigInt({ min: 1n, max: 10n ** 11n - 1n }).map(String)
const digits = id.filter((text) => !holdsPan(text))
const reference = fc
  .string({ unit: fc.constantFrom(...'ABxyzéü0123-/_ #'), minLength: 1, maxLength: 20 })
  .map((text) => `R${text.trim()}`)
  .filter((text) => !holdsPan(text))
const money = fc.record({
  amountMinor: fc.bigInt({ min: 1n, max: 10n ** 11n - 1n }), // 12 digits may be a card number,
  currency: fc.constantFrom('EUR' as Currency, 'JPY' as Currency, 'KWD' as Currency),
})
const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
const row = fc.record({
  operation: fc.constantFrom<Operation>('CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CANCEL'),
  reference,
  money,
  target: digits,
  executeAtMs: fc.option(moment),
  note: fc.string({ unit: fc.constantFrom(...'ab ;,|\t"\'é'), maxLength: 12 }),
})
const style = fc.record({
  encoding: fc.constantFrom<Written>(...ENCODINGS),
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\r\n', '\n', '\r'),
  quoted: fc.boolean(),
  sign: fc.constantFrom<DecimalSign>('.', ','),
  group: fc.constantFrom('', 'other', "'", '\u00a0'),
  declared: fc.boolean(),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never
type Style = typeof style extends fc.Arbitrary<infer T> ? T : never

const namesOrder = (operation: Operation) => operation !== 'CAPTURE' && operation !== 'AUTH'

function amountIn(amount: Row['money'], { sign, group }: Style): string {
  const [whole = '', decimals] = formatAmount(amount).split('.')
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, group === 'other' ? (sign === '.' ? ',' : '.') : group)
  return decimals === undefined ? parted : `${parted}${sign}${decimals}`
}

function fileOf(rows: readonly Row[], how: Style): Buffer {
  // "größe" in Windows-1252 is no UTF-8, so that the encoding is never in question.
  const header = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id']
  const table = rows.map((of) => [
    ...[of.reference, of.operation, amountIn(of.money, how), of.money.currency],
    ...(namesOrder(of.operation) ? [of.target, ''] : ['', of.target]),
    of.executeAtMs === null ? '' : new Date(of.executeAtMs).toISOString(),
    of.note,
  ])
  const text = stringify([[...header, 'customer_vault_id', 'execute_at', 'größe'], ...table], {
    delimiter: how.delimiter,
    record_delimiter: how.lineEnd,
    quoted: how.quoted,
    quoted_match: /[\r\n"]/,
  })
  return encode(text, how.encoding)
}

function expectSame(instruction: Instruction, of: Row): void {
  const { reference, operation, money, orderId, vaultId, executeAtMs } = instruction
  expect({ reference, operation, money, orderId, vaultId, executeAtMs }).toEqual({
    reference: of.reference.normalize('NFC'),
    operation: of.operation,
    money: of.money,
    orderId: namesOrder(of.operation) ? of.target : null,
    vaultId: namesOrder(of.operation) ? null : of.target,
    executeAtMs: of.executeAtMs,
  })
}

test('instructions in any encoding, delimiter, line end and decimal sign come back the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), style, async (rows, how) => {
      const options = how.declared ? { decimal: how.sign } : {}
      const found = await readWhole(fileOf(rows, how), options)
      expect(found.rows).toHaveLength(rows.length)
      for (const [i, { instruction, faults }] of found.rows.entries()) {
        const of = rows[i] as Row
        if (instruction !== null) expectSame(instruction, of)
        else {
          // Only where no amount of the file shows the sign, and this one could be either.
          expect(how.declared).toBe(false)
          expect(faults.map(({ column }) => column)).toEqual(['amount'])
          const text = amountIn(of.money, how)
          expect(readUnder(text, '.')).not.toBe(readUnder(text, ','))
        }
      }
    }),
    { numRuns: 300 },
  )
})

describe('quotation marks', () => {
  const text = fc.string({ unit: fc.constantFrom(...'ab";; \n"'), maxLength: 24 })

  test('that CSV writes are never unclear', () => {
    const cells = fc.array(text, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(cells, (record) => {
        const written = stringify([record], { delimiter: ';', quoted_match: /[\r\n"]/ })
        expect(isUnclear(written, ';')).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  test('leave every cell where it was, or the row is refused', async () => {
    const odd = fc.string({ unit: fc.constantFrom(...'ab" '), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { minLength: 3, maxLength: 3 }), async (cells) => {
        const found = await read(`type;order_id;a;b;c\nCANCEL;1;${cells.join(';')}\n`)
        if ('kind' in found) return
        const plain = (cell: string) => cell.replaceAll('"', '').trim()
        expect(found.rows.map((of) => of.cells.map(plain))).toEqual([['CANCEL', '1', ...cells.map(plain)]])
      }),
      { numRuns: 500 },
    )
  })

  test('around all of a value are no part of it, however many there are', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{1,9}$/), fc.integer({ min: 0, max: 9 }), (value, depth) => {
        expect(unquoted(` ${'"'.repeat(depth)}${value}${'"'.repeat(depth)} `)).toBe(value)
        if (depth > 0) expect(unquoted(`${'"'.repeat(depth)}${value}`)).not.toBe(value)
      }),
    )
    expect(unquoted('"'.repeat(30_000))).toBe('')
    expect(unquoted('"')).toBe('"')
  })
})

describe('bytes without a meaning', () => {
  const CORPUS = join(import.meta.dirname, 'corpus')
  const seeds = readdirSync(CORPUS).map((name) => readFileSync(join(CORPUS, name)))
  const small = seeds.filter((seed) => seed.length < 2_000)

  const damage = fc.array(
    fc.record({
      kind: fc.constantFrom('flip', 'drop', 'insert', 'cut', 'double'),
      at: fc.nat(2_000),
      byte: fc.oneof(fc.constantFrom(0x22, 0x3b, 0x2c, 0x0a, 0x0d, 0x00, 0xff, 0xef, 0xc3, 0x31, 0x2e), fc.nat(255)),
    }),
    { minLength: 1, maxLength: 4 },
  )
  type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

  function damaged(seed: Buffer, damages: Damage): Buffer {
    let bytes = seed
    for (const { kind, at, byte } of damages) {
      const place = bytes.length === 0 ? 0 : at % bytes.length
      const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
      if (kind === 'flip') bytes = Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
      if (kind === 'drop') bytes = Buffer.concat([before, after.subarray(1)])
      if (kind === 'insert') bytes = Buffer.concat([before, Buffer.of(byte), after])
      if (kind === 'cut') bytes = before
      if (kind === 'double') bytes = Buffer.concat([bytes, after])
    }
    return bytes
  }

  async function expectAnAnswer(bytes: Uint8Array, options = {}): Promise<void> {
    const found = await read(bytes, options).catch((error: unknown) => {
      if (error instanceof Fault && (error.code === 'refused' || error.code === 'usage')) return null
      throw error
    })
    if (found === null) return
    if ('kind' in found) expectWords(found)
    else expectRows(found)
  }

  function expectWords({ problem, remedy }: { problem: string; remedy: string }): void {
    expect(problem).toMatch(/\p{L}{2}/u)
    expect(remedy).toMatch(/\p{L}{2}/u)
    expect(holdsPan(problem + remedy)).toBe(false)
  }

  function expectRows({ survey, rows }: FileRead): void {
    expect(rows).toHaveLength(survey.rows)
    for (const [i, { rowNo, instruction, faults }] of rows.entries()) {
      expect(rowNo).toBe(i + 1)
      expect(instruction === null).toBe(faults.length > 0)
      for (const fault of faults) expectWords(fault)
    }
  }

  test('arbitrary ones are read, or refused with a problem and a remedy', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => expectAnAnswer(bytes)),
      { numRuns: 500 },
    )
  })

  test('good files with a few bytes changed are read, or refused with problem and remedy', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...small), damage, fc.boolean(), (seed, damages, declared) =>
        expectAnAnswer(damaged(seed, damages), declared ? { operation: 'REFUND', decimal: ',' } : {}),
      ),
      { numRuns: 1_500 },
    )
  })

  test.each([
    ['a field of a hundred thousand quotation marks', `type;order_id;note\nCANCEL;1;${'"'.repeat(100_000)}\n`],
    ['a cell as large as it may be, of quotation marks', `type;order_id;note\nCANCEL;1;${'"'.repeat(32_000)}\n`],
    ['an odd number of them', `type;order_id;note\nCANCEL;1;${'"'.repeat(31_999)}\n`],
    ['a quotation mark in every cell of many', `type;order_id;note\n${'CANCEL;1;5" and 6"\n'.repeat(5_000)}`],
    ['digits with blanks between them', `type;order_id;note\nCANCEL;1;${'4 '.repeat(16_000)}\n`],
    ['a thousand columns', `type;order_id${';'.repeat(900)}\nCANCEL;1${';'.repeat(900)}\n`],
    ['a name of ten thousand letters', `type;order_id;${'n'.repeat(10_000)}\nCANCEL;1;x\n`],
    // What grows with the square of these would not end within the time of a test.
  ])('%s is read to its end', async (_, text) => {
    await expectAnAnswer(Buffer.from(text))
  })
})
