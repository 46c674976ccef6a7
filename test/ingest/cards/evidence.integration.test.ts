// Numbers that look like card numbers: what a whole column says of them, and what a person may say.

import { expect, test } from 'vitest'
import { cardOf, ISSUED, OTHERS, seeded, UNTELLABLE } from '../../fixtures/numbers.ts'
import { number, workbook } from '../sheets.ts'
import { read, readWhole, refusalOf, toCsv } from '../table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id']
const ROW = (i: number) => [`R-${i}`, 'REFUND', '1.00', 'EUR', String(i)]
const VISA = ISSUED.find(({ brand, length }) => brand === 'Visa' && length === 16) as (typeof ISSUED)[number]
const FITS = '4111111111111111'
const FITS_NOT = '4111111111111112'

/** A file of refunds with more columns, filled from lists of cells. */
function fileOf(columns: Readonly<Record<string, readonly string[]>>): string {
  const rows = Object.values(columns)[0]?.length ?? 0
  const cells = Array.from({ length: rows }, (_, i) => [
    ...ROW(i + 1),
    ...Object.values(columns).map((all) => all[i] ?? ''),
  ])
  return toCsv([[...HEADER, ...Object.keys(columns)], ...cells], ',', '\n')
}

function many(count: number, make: (below: (most: number) => number) => string, seed = 1): string[] {
  const below = seeded(seed)
  return Array.from({ length: count }, () => make(below))
}

const idsOf16 = (count: number) =>
  many(count, (below) => `4${String(below(1e9)).padStart(9, '0')}${String(below(1e6)).padStart(6, '0')}`)
const cards = (count: number) => many(count, (below) => cardOf(VISA, below))

test.each([...OTHERS, ...UNTELLABLE])('a file with 4,000 of them passes: %s', async (_, make) => {
  const { rows } = await readWhole(fileOf({ code: many(4_000, make) }))
  expect(rows).toHaveLength(4_000)
})

test('ids that look like card numbers by chance alone are read as ids, with a warning', async () => {
  const { survey } = await readWhole(fileOf({ code: idsOf16(200) }))
  const [passed] = survey.cards.passed
  expect(passed).toMatchObject({ column: 'code', numbers: 200, why: 'chance' })
  expect(passed?.fitting).toBeGreaterThan(0)
  expect(survey.warnings).toContainEqual(
    `${passed?.fitting} of 200 numbers in the column "code" look like card numbers: no more than of any ids, so that they are read as ids.`,
  )
})

test('a column of card numbers refuses the file, whatever a person says of it', async () => {
  const file = fileOf({ code: cards(30) })
  for (const notCards of [[], ['code']])
    expect(await refusalOf(file, { notCards })).toMatchObject({
      ...{ code: 'card-data', line: 2, column: 'code' },
      problem: 'holds a card number (30 of 30 numbers of that form in the column have its check digit)',
      remedy: expect.not.stringContaining('--not-a-card'),
    })
})

test.each([
  ['of another length', '378282246310005'],
  ['in groups', '4111 1111 1111 1111'],
  ['in a sentence, in groups', 'paid with 4111-1111-1111-1111'],
  ['in other digits and groups', '４１１１ １１１１ １１１１ １１１１'],
])('a card number %s among ids refuses the file', async (_, card) => {
  expect(await refusalOf(fileOf({ code: [...idsOf16(200), card] }))).toMatchObject({ code: 'card-data', line: 202 })
})

test('card numbers among ids of the same form are found where there are more than by chance', async () => {
  expect(await refusalOf(fileOf({ code: [...idsOf16(100), ...cards(25)] }))).toMatchObject({
    code: 'card-data',
    column: 'code',
  })
})

test('a certain card number in another column refuses the file', async () => {
  const note = [...Array(150).fill(''), FITS, ...Array(49).fill('')]
  expect(await refusalOf(fileOf({ code: idsOf16(200), note }))).toMatchObject({ line: 152, column: 'note' })
})

test.each([
  ['1,700 among 2,300 ids', () => [...cards(1_700), ...idsOf16(2_300)]],
  ['25 among 25 ids', () => [...cards(25), ...idsOf16(25)]],
  ['three, and nothing else', () => cards(3)],
])('card numbers beyond all doubt refuse the file, whatever a person says of the column: %s', async (_, make) => {
  for (const notCards of [[], ['code']])
    expect(await refusalOf(fileOf({ code: make() }), { notCards })).toMatchObject({
      code: 'card-data',
      remedy: expect.not.stringContaining('--not-a-card'),
    })
})

test('too few ids tell nothing: a person is asked, and no value is repeated', async () => {
  const file = fileOf({ code: [FITS_NOT, FITS, FITS_NOT, '', ''] })
  const asked = await refusalOf(file)
  expect(asked).toMatchObject({ code: 'card-data', line: 3, column: 'code' })
  expect(asked.problem).toBe('holds a card number (1 of 3 numbers of that form in the column have its check digit)')
  expect(asked.remedy).toContain('remove it from the file')
  expect(asked.remedy).toContain('--not-a-card "code"')
  expect(JSON.stringify(asked)).not.toContain('4111')

  const { survey, rows } = await readWhole(file, { notCards: ['Code'] })
  expect(rows[1]?.cells.at(-1)).toBe(FITS)
  expect(survey.cards.passed).toEqual([{ column: 'code', numbers: 3, fitting: 1, why: 'said' }])
  expect(survey.warnings.join()).toContain('as --not-a-card says')
})

test('what a person says of one column is said of no other', async () => {
  expect(await refusalOf(fileOf({ code: [FITS], note: [FITS] }), { notCards: ['code'] })).toMatchObject({
    column: 'note',
  })
})

test('the order id is a column like any other', async () => {
  const file = `${HEADER.join(',')}\nR-1,REFUND,1.00,EUR,${FITS}\n`
  expect(await refusalOf(file)).toMatchObject({ column: 'request_ref_po_id', code: 'card-data' })
  const { rows } = await readWhole(file, { notCards: ['request_ref_po_id'] })
  expect(rows[0]?.instruction?.orderId).toBe(FITS)
})

test.each([
  ['nothing', ['code', 'nothing'], 'nothing'],
  ['CVV', ['CVV'], 'CVV'],
])('a person cannot say it of the column %s', async (_, notCards, column) => {
  const file = fileOf({ code: ['1'], CVV: [''] })
  const refused = await refusalOf(file, { notCards })
  expect(refused.problem).toContain(`"${column}"`)
  expect(refused.problem).toContain('--not-a-card')
})

test('a column for card data holds nothing, also where a person says something of another', async () => {
  expect(await refusalOf(fileOf({ code: ['1'], CVV: ['123'] }), { notCards: ['code'] })).toMatchObject({
    column: 'CVV',
  })
})

test('a number in odd groups is asked about, and many of them tell what they are', async () => {
  const odd = (pan: string) => `${pan.slice(0, 8)} ${pan.slice(8)}`
  expect(await refusalOf(fileOf({ code: [odd(FITS)] }))).toMatchObject({
    problem: 'holds what may be a card number',
    remedy: expect.stringContaining('--not-a-card "code"'),
  })
  await readWhole(fileOf({ code: [odd(FITS), odd(FITS_NOT)] }))
  await readWhole(fileOf({ code: idsOf16(200).map(odd) }))
  expect(await refusalOf(fileOf({ code: cards(30).map(odd) }))).toMatchObject({ code: 'card-data' })
})

test('one number of 13 digits is an id, and several that all fit are asked about', async () => {
  await readWhole(fileOf({ code: ['4222222222222'] }))
  await readWhole(fileOf({ code: ['4222222222222', '4222222222223', '4222222222224'] }))
  expect(await refusalOf(fileOf({ code: ['4222222222222', '4222222222222'] }))).toMatchObject({ column: 'code' })
})

test.each([[[8, 8]], [[4, 12]], [[6, 10]], [[4, 4, 4, 4]]])(
  'a card number parted into cells of %j digits is asked about',
  async (lengths) => {
    const parted = (pan: string) =>
      lengths.map((length, i) => {
        const from = lengths.slice(0, i).reduce((sum, before) => sum + before, 0)
        return pan.slice(from, from + length)
      })
    const columnsOf = (pans: readonly string[]) =>
      Object.fromEntries(lengths.map((_, i) => [`part ${i}`, pans.map((pan) => parted(pan)[i] as string)]))
    expect(await refusalOf(fileOf(columnsOf([FITS])))).toMatchObject({ code: 'card-data', column: 'part 0', line: 2 })
    expect(await refusalOf(fileOf(columnsOf(cards(40))))).toMatchObject({ column: 'part 0' })
    await readWhole(fileOf(columnsOf([FITS, FITS_NOT])))
    await readWhole(fileOf(columnsOf(idsOf16(200))))
    await readWhole(fileOf(columnsOf([FITS])), { notCards: ['part 0'] })
  },
)

test('an order id and the number behind it are no halves of a card number', async () => {
  const file = `${HEADER.join(',')},code\nR-1,REFUND,1.00,EUR,41111111,11111111\n`
  await readWhole(file)
})

test('ids in results of this program are ids', async () => {
  const results = ['result_reference', 'result_batch', 'result_row', 'result_transaction_id']
  const file = (column: string) =>
    `${[...HEADER, ...results, column].join(',')}\n${[...ROW(1), 'R-1', 'B1', '1', FITS, FITS].join(',')}\n`
  expect(await read(file('result_order_id'))).not.toHaveProperty('kind')
  expect(await refusalOf(file('note'))).toMatchObject({ column: 'note' })
})

test('a workbook tells the same of its columns', async () => {
  const bytes = workbook([HEADER, ...idsOf16(200).map((id, i) => [...ROW(i).slice(0, 4), id])])
  expect(await read(bytes)).not.toHaveProperty('kind')
  const one = workbook([HEADER, [...ROW(1).slice(0, 4), FITS]])
  expect(await refusalOf(one)).toMatchObject({ column: 'request_ref_po_id' })
  expect(await refusalOf(workbook([HEADER, [...ROW(1).slice(0, 4), number('4.1111111111111E15')]]))).toMatchObject({
    code: 'card-data',
  })
})
