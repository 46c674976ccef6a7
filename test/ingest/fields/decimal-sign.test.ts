// An amount that could be read two ways is never read silently: the file says in which line it found out how.

import { describe, expect, test } from 'vitest'
import { DecimalEvidence } from '../../../src/ingest/fields/decimal-sign.ts'
import { readWhole, toCsv } from '../table.ts'

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
