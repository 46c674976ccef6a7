// A file that writes every amount with a minus: refused until a person says that it does, then read without it.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount } from '../../../src/domain/money.ts'
import { withoutMinus } from '../../../src/ingest/fields/minus.ts'
import { number, workbook } from '../sheets.ts'
import { read, readWhole, refusalOf, toCsv } from '../table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id']
const rowsWith = <T>(amounts: readonly T[]) =>
  amounts.map((amount, i) => [`R${i}`, 'REFUND', amount, 'EUR', `${100 + i}`])
const fileOf = (...amounts: readonly string[]) => toCsv([HEADER, ...rowsWith(amounts)], ';', '\n')
const SAID = { sign: 'minus' } as const

/** What each row asks for; of a bad one, what is wrong with it. */
async function amountsOf(file: string | Uint8Array, said: { sign?: 'minus' } = {}): Promise<readonly string[]> {
  const { rows } = await readWhole(file, said)
  return rows.map(({ instruction, faults }) =>
    instruction?.money == null ? faults.map(({ problem }) => problem).join() : formatAmount(instruction.money),
  )
}

/** Every way in which exports write a minus. */
const NOTATIONS: readonly ((amount: string) => string)[] = [
  (amount) => `-${amount}`,
  (amount) => `- ${amount}`,
  (amount) => `−${amount}`,
  (amount) => `–${amount}`,
  (amount) => `${amount}-`,
  (amount) => `${amount} -`,
  (amount) => `(${amount})`,
  (amount) => `( ${amount} )`,
]

const cents = fc.integer({ min: 1, max: 99_999_999 })
const plain = cents.map((n) => `${Math.floor(n / 100)}.${String(n % 100).padStart(2, '0')}`)
/** As people write it, under either decimal sign. */
const written = fc.tuple(plain, fc.boolean(), fc.boolean()).map(([text, groups, comma]) => {
  const grouped = groups ? text.replace(/\B(?=(\d{3})+\.)/g, ',') : text
  const turned = grouped.replace(/[.,]/g, (sign) => (sign === '.' ? ',' : '.'))
  return { amount: text, cell: comma ? turned : grouped, comma }
})

describe('a file in which every amount has a minus', () => {
  test('is read as the same file without them, once it is said; unsaid, no row of it is good', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(written, fc.constantFrom(...NOTATIONS)), { minLength: 1, maxLength: 6 }),
        async (all) => {
          const [first] = all
          const same = all.filter(([{ comma }]) => comma === first?.[0].comma)
          const file = fileOf(...same.map(([{ cell }, notation]) => notation(cell)))
          const amounts = same.map(([{ amount }]) => amount)
          expect(await amountsOf(file, SAID)).toEqual(amounts)
          expect((await readWhole(file)).rows.every(({ instruction }) => instruction === null)).toBe(true)
          expect(await amountsOf(fileOf(...same.map(([{ cell }]) => cell)))).toEqual(amounts)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('is offered to be read so, in one sentence for all rows', async () => {
    const { rows } = await readWhole(fileOf(...Array.from({ length: 40 }, () => '-12.00')))
    const said = new Set(rows.flatMap(({ faults }) => faults.map(({ problem, remedy }) => `${problem}; ${remedy}`)))
    expect([...said]).toEqual([
      'has a minus, as all 40 amounts of the file have; write it without one: the operation says which way the money goes. If that is how this file writes refunds, add --sign minus',
    ])
  })

  test('is not offered that where an amount says otherwise what it is', async () => {
    expect(await amountsOf(fileOf('-1.00', '5.00 CR'))).toEqual([
      'has a sign',
      'has letters or a currency symbol in it',
    ])
  })

  test('may be a workbook, whose number cells hold it or whose format shows it', async () => {
    const file = workbook([HEADER, ...rowsWith([number('-12.5'), number('-3'), '(4.00)'])])
    expect(await amountsOf(file, SAID)).toEqual(['12.50', '3.00', '4.00'])
  })
})

describe('where every amount is said to have a minus', () => {
  test('an amount without one is a fault of its row, if no row has one', async () => {
    const without = 'has no minus, and --sign minus says that every amount of the file has one'
    expect(await amountsOf(fileOf('1.00', '2'), SAID)).toEqual([without, without])
    expect(await amountsOf(fileOf('+1.00'), SAID)).toEqual([without])
    expect(await amountsOf(fileOf('-1.00', '0.00'), SAID)).toEqual(['1.00', 'is zero'])
  })

  test('amounts of both kinds still refuse the file, whatever is left out', async () => {
    await fc.assert(
      fc.asyncProperty(plain, plain, fc.constantFrom(...NOTATIONS), async (one, other, notation) => {
        for (const said of [{}, SAID]) {
          expect((await refusalOf(fileOf(notation(one), other), said)).problem).toContain(
            'are mixed with amounts without',
          )
        }
      }),
      { numRuns: 40 },
    )
  })

  test('nothing but a single minus is taken off', async () => {
    for (const cell of ['--1.00', '-(1.00)', '(-1.00)', '-1.00-', '-1.00 CR', "'-1.00", '-1e2', '-abc', '-']) {
      const found = await read(fileOf(cell), SAID)
      if ('rows' in found) expect(found.rows.map(({ instruction }) => instruction)).toEqual([null])
    }
  })

  test('thousands and decimals are read as without it: an amount that could be either is a fault', async () => {
    expect(await amountsOf(fileOf('-1.234'), SAID)).toEqual([expect.stringContaining('could be a whole number')])
    expect(await amountsOf(fileOf('(1.234)', '-5,50'), SAID)).toEqual(['1234.00', '5.50'])
  })
})

test('the minus is found in every notation, and in no amount without one', () => {
  fc.assert(
    fc.property(written, fc.constantFrom(...NOTATIONS), ({ cell }, notation) => {
      expect(withoutMinus(notation(cell))).toBe(cell)
      expect(withoutMinus(cell)).toBeNull()
    }),
  )
  expect(['-€9.99', '€ -9.99', 'EUR -9.99', '($9.99)', '€(9.99)', '(9.99) EUR', '-9,99 €'].map(withoutMinus)).toEqual([
    ...['€9.99', '€ 9.99', 'EUR 9.99', '$9.99', '€9.99', '9.99 EUR', '9,99 €'],
  ])
})
