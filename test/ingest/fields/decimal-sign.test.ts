// An amount that could be read two ways is never read silently: the file says in which line it found out how.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AMBIGUOUS, DecimalEvidence } from '../../../src/ingest/fields/decimal-sign.ts'
import { read as readAny, readWhole, refusalOf, toCsv } from '../table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id']

function fileOf(...amounts: readonly string[]): string {
  const rows = amounts.map((amount, i) => [`R${i}`, 'REFUND', amount, 'EUR', String(100 + i)])
  return toCsv([HEADER, ...rows], ';', '\n')
}

const minorIn = ({ rows }: Awaited<ReturnType<typeof readWhole>>) =>
  rows.map((row) => row.instruction?.money?.amountMinor ?? row.faults[0]?.problem)

describe('an amount that is read by what another line shows', () => {
  test('is warned of with both lines, the amount as read, and the option that says otherwise', async () => {
    const read = await readWhole(fileOf('7', '100.000', '5,5'))
    expect(minorIn(read)).toEqual([700n, 10_000_000n, 550n])
    expect(read.survey.warnings).toEqual([
      '"100.000" in line 3 is read as 100000, because line 4 shows that the decimal sign is a comma. If that is wrong, add --decimal.',
    ])
  })

  test('is warned of in whichever order the lines stand', async () => {
    const { survey } = await readWhole(fileOf('5.5', '100,000'))
    expect(survey.warnings).toEqual([expect.stringContaining('"100,000" in line 3 is read as 100000, because line 2')])
  })

  test.each([',', '.'] as const)('is what was asked for under --decimal %s: no warning', async (decimal) => {
    const read = await readWhole(fileOf('7', '100.000', '5,5'), { decimal })
    expect(read.survey.warnings).toEqual([])
    // What does not fit the sign that was given is a fault of its row, not a matter of leaning.
    expect(minorIn(read)).toEqual(
      decimal === ','
        ? [700n, 10_000_000n, 550n]
        : [700n, expect.stringContaining('more'), expect.stringContaining('not an amount')],
    )
  })

  test.each([
    ['nothing is ambiguous', ['100.00', '5.5', '1,000.00']],
    ['nothing shows a sign, so that no row is read at all', ['100.000', '7']],
    ['every amount is whole', ['100', '7']],
  ])('is not invented where %s', async (_why, amounts) => {
    const { survey } = await readWhole(fileOf(...amounts))
    expect(survey.warnings).toEqual([])
  })
})

test('the evidence names the first line of each kind, however many follow', () => {
  const evidence = new DecimalEvidence()
  for (const [i, amount] of ['1.000', '2.000', '3,5', '4,5'].entries()) evidence.see(amount, 10 + i)
  expect(`${evidence.leaning(evidence.decide(undefined) as ',')}`).toMatch(/^"1\.000" in line 10 .* because line 12 /)
})

describe('a few amounts with the other sign than nearly all', () => {
  const many = (count: number, amount: string) => Array.from({ length: count }, () => amount)

  test('are bad rows, with a note, and the others are read', async () => {
    const read = await readWhole(fileOf(...many(20, '5.50'), '7,50'))
    expect(minorIn(read)).toEqual([...many(20, '').map(() => 550n), 'is not an amount with "." as the decimal sign'])
    expect(read.survey.warnings).toEqual([
      '1 amount writes decimals with a comma (the first in line 22) and 20 with a point: it is a bad row, and so is every amount that could be read either way.',
    ])
  })

  test('refuse the file where fewer than 20 agree, or more than one in 20 do not', async () => {
    for (const amounts of [
      [...many(19, '5.50'), '7,50'],
      [...many(39, '5.50'), '7,50', '8,50'],
      [...many(30, '5.50'), ...many(30, '7,50')],
    ])
      expect((await refusalOf(fileOf(...amounts))).problem).toMatch(
        /writes decimals with a point and line \d+ with a comma/,
      )
  })

  test('make every amount that could be read either way a bad row', async () => {
    const read = await readWhole(fileOf(...many(20, '5,50'), '7.5', '1.234', '1,234', '12'))
    expect(minorIn(read).slice(20)).toEqual([
      'is not an amount with "," as the decimal sign',
      AMBIGUOUS.problem,
      AMBIGUOUS.problem,
      1200n,
    ])
    expect(minorIn(await readWhole(fileOf(...many(20, '5,50'), '1.234')))[20]).toBe(123400n)
  })

  test('never make another amount of any row than its own sign says', async () => {
    const cents = fc.integer({ min: 1, max: 9_999_999 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(cents, { minLength: 20, maxLength: 60 }),
        fc.array(cents, { maxLength: 4 }),
        fc.boolean(),
        async (most, few, comma) => {
          const write = (n: number, isComma: boolean) => (n / 100).toFixed(2).replace('.', isComma ? ',' : '.')
          const group = (text: string) => text.replace(/\B(?=(\d{3})+[.,])/g, text.includes(',') ? '.' : ',')
          const all = [...most.map((n) => [n, comma] as const), ...few.map((n) => [n, !comma] as const)]
          const found = await readAny(
            fileOf(...all.map(([n, isComma], i) => (i % 2 === 0 ? group(write(n, isComma)) : write(n, isComma)))),
          )
          if ('kind' in found) return
          found.rows.forEach((row, i) => {
            const minor = row.instruction?.money?.amountMinor
            if (minor !== undefined) expect(minor).toBe(BigInt(all[i]?.[0] ?? 0))
          })
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('a whole number among amounts with two decimals', () => {
  test.each([
    [['12.30', '45.00', '7990', '8.50'], '7990.00'],
    [['12,30', '45,00', '1.200,00', '7990'], '7990,00'],
    [[...Array.from({ length: 40 }, () => '9.90'), '1990', '990'], '1990.00'],
  ])('is a bad row where it is far above most of them: %j', async (amounts, written) => {
    const { rows } = await readWhole(fileOf(...amounts))
    const bad = rows.filter(({ instruction }) => instruction === null)
    expect(bad.flatMap(({ faults }) => faults.map(({ value }) => value))).toEqual(
      amounts.filter((amount) => /^\d+$/.test(amount)),
    )
    expect(bad[0]?.faults[0]?.remedy).toContain(`write ${written}`)
    const whole = written.slice(0, -3)
    const corrected = await readWhole(fileOf(...amounts.map((amount) => (amount === whole ? written : amount))))
    expect(corrected.rows.find(({ cells }) => cells[2] === written)?.faults).toEqual([])
  })

  test.each([
    ['it is not far above them', ['12.30', '45.00', '450', '8.50']],
    ['it has the sign of thousands', ['12.30', '45.00', '7,990', '8.50']],
    ['there are several', ['12.30', '45.00', '7990', '6000', '8.50']],
    ['zeros are left out', ['12.3', '45.20', '7990', '8.50', '9.10']],
    ['no zero shows that they are written', ['12.31', '45.22', '7990', '8.53']],
    ['there are too few others', ['12.30', '7990', '8.50', '0.00']],
  ])('is read where %s', async (_why, amounts) => {
    const { rows } = await readWhole(fileOf(...amounts.filter((amount) => amount !== '0.00')))
    expect(rows.flatMap(({ faults }) => faults)).toEqual([])
  })

  test('is read beside rows of another currency', async () => {
    const file = fileOf('12.30', '45.00', '7990', '8.50').replace('7990;EUR', '7990;HUF')
    expect((await readWhole(file)).rows.flatMap(({ faults }) => faults)).toEqual([])
  })
})

test('thousands are no decimals in a currency that has none', async () => {
  const file = fileOf('1,200', '12.500', '7', '1.200').replace('1.200;EUR', '1.200;KWD')
  const read = await readWhole(file.replaceAll('EUR', 'JPY'))
  expect(minorIn(read)).toEqual([1200n, 12_500n, 7n, AMBIGUOUS.problem])
  expect(minorIn(await readWhole(fileOf('1.200', '5.50').replace('1.200;EUR', '1.200;JPY')))).toEqual([
    expect.stringContaining('JPY has no decimals'),
    550n,
  ])
})
