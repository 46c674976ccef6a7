// The reading that gives the cards of a file when its rows are about to be sent.

import type { FileHandle } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CardDetails } from '../../../src/domain/card.ts'
import { openCardReader } from '../../../src/ingest/cards/reader.ts'
import { Seals } from '../../../src/ingest/cards/seals.ts'
import { surveyFile } from '../../../src/ingest/inspect-file.ts'
import type { ReadingOptions } from '../../../src/ingest/inspect-records.ts'
import { readRows } from '../../../src/ingest/rows.ts'
import type { CardReader } from '../../../src/ports/cards.ts'
import { workbook } from '../sheets.ts'
import { ENCODINGS, encode, READING, toCsv, withFile } from '../table.ts'
import { type Cells, card, csvOf, expiryText, PAYMENTS, SALE, TAKEN, tableOf } from './card-files.ts'

interface Opened {
  readonly file: FileHandle
  readonly reader: CardReader
  readonly seals: Seals
  /** Where the file was read from, since the reader was opened. */
  readonly reads: number[]
}

/** A file whose rows were made into a draft, and the reader of its cards. */
async function withReader<T>(
  content: string | Uint8Array,
  use: (opened: Opened) => Promise<T>,
  options: Partial<ReadingOptions> = {},
): Promise<T> {
  const all = { ...READING, ...TAKEN, ...options }
  return withFile(content, async (file) => {
    const survey = await surveyFile(file, all)
    if (survey.kind === 'refused') throw new Error(survey.problem)
    const seals = new Seals()
    for await (const rows of readRows(file, survey, all, seals))
      for (const { faults } of rows) expect(faults).toEqual([])
    const reads: number[] = []
    const counted = {
      read: (...at: [Buffer, number, number, number]) => {
        reads.push(at[3])
        return file.read(...at)
      },
    }
    const reader = await openCardReader(counted as unknown as FileHandle, survey, all, seals)
    return use({ file, reader, seals, reads }).finally(() => reader.close())
  })
}

const rowsWith = (cards: readonly CardDetails[]): Cells[] =>
  cards.map((one, i) => ({
    ...SALE,
    ...{ reference: `R-${i + 1}`, pmt_numb: one.number, pmt_key: one.code, pmt_expiry: expiryText(one) },
  }))
const csvWith = (cards: readonly CardDetails[]) => csvOf(PAYMENTS, rowsWith(cards))
const CARDS = fc.sample(card, { numRuns: 40, seed: 7 })
const cardNo = (rowNo: number) => CARDS[rowNo - 1] as CardDetails

describe('the card of a row', () => {
  test('is the one of the file, in whatever order rows are asked for, each as often as one likes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(card, { minLength: 1, maxLength: 12 }),
        fc.array(fc.array(fc.nat(11), { maxLength: 6 }), { maxLength: 4 }),
        async (cards, asked) => {
          await withReader(csvWith(cards), async ({ reader }) => {
            for (const together of asked) {
              const rows = together.map((n) => (n % cards.length) + 1)
              expect(await Promise.all(rows.map((rowNo) => reader.cardOf(rowNo)))).toEqual(
                rows.map((rowNo) => cards[rowNo - 1]),
              )
            }
          })
        },
      ),
      { numRuns: 40 },
    )
  })

  test.each(ENCODINGS)('is read in %s', async (encoding) => {
    const rows = rowsWith(CARDS.slice(0, 5)).map((cells) => ({ ...cells, note: 'grün\nblau' }))
    const bytes = encode(toCsv(tableOf(PAYMENTS, rows), ';', '\r\n'), encoding)
    await withReader(bytes, async ({ reader }) => {
      for (const rowNo of [1, 5, 2]) expect(await reader.cardOf(rowNo)).toEqual(cardNo(rowNo))
    })
  })

  test('is read from a workbook', async () => {
    const table = tableOf(PAYMENTS, rowsWith(CARDS)) as string[][]
    await withReader(workbook(table), async ({ reader }) => {
      for (const rowNo of [3, 40, 1]) expect(await reader.cardOf(rowNo)).toEqual(cardNo(rowNo))
    })
  })

  test('is read below column names that are repeated', async () => {
    const [head, ...lines] = csvWith(CARDS.slice(0, 4)).split('\n')
    const content = [head, lines[0], lines[1], head, lines[2], lines[3]].join('\n')
    await withReader(content, async ({ reader }) => expect(await reader.cardOf(3)).toEqual(cardNo(3)))
  })

  test('of a vault file has month and year from their columns', async () => {
    const columns = ['card_number', 'card_exp_mm', 'card_exp_yy', 'card_cvv', 'first_name', 'last_name']
    const cells = {
      first_name: 'Ann',
      last_name: 'Smith',
      card_number: '4111 1111 1111 1111',
      card_exp_mm: '4',
      card_exp_yy: '31',
      card_cvv: '123',
    }
    await withReader(
      csvOf(columns, [cells]),
      async ({ reader }) =>
        expect(await reader.cardOf(1)).toEqual({
          ...{ number: '4111111111111111', code: '123', expiry: { month: '04', year: '2031' } },
        }),
      { operation: 'VAULT_CREATE' },
    )
  })
})

describe('the file', () => {
  const LONG = Array.from({ length: 4_000 }, (_, i) => CARDS[i % CARDS.length] as CardDetails)

  test('is read once for all rows that are asked for in their order, and no further than the last of them', async () => {
    await withReader(csvWith(LONG), async ({ reader, reads }) => {
      await Promise.all([900, 2, 500, 30].map((rowNo) => reader.cardOf(rowNo)))
      await reader.cardOf(1_500)
      expect(reads.filter((position) => position === 0)).toHaveLength(1)
      const far = Math.max(...reads)
      await reader.cardOf(10)
      expect(reads.filter((position) => position === 0)).toHaveLength(2)
      expect(Math.max(...reads)).toBe(far)
      expect(far).toBeLessThan(csvWith(LONG).length * 0.8)
    })
  })

  test('is passed once for rows that are asked for while it is read', async () => {
    await withReader(csvWith(LONG), async ({ reader, reads }) => {
      const served: number[] = []
      const ask = async (rowNo: number) => {
        await reader.cardOf(rowNo)
        served.push(rowNo)
      }
      const first = ask(1_000).then(() => Promise.all([ask(5), ask(3_000), ask(2_000), ask(7)]))
      await Promise.all([first, ask(1_500)])
      expect(served).toEqual([1_000, 1_500, 2_000, 3_000, 5, 7])
      expect(reads.filter((position) => position === 0)).toHaveLength(2)
    })
  })
})

describe('a file that is not what was checked gives no card any more', () => {
  const content = csvWith(CARDS)
  const lineOf = (rowNo: number) => Buffer.from(content.split('\n').slice(0, rowNo).join('\n')).length + 1

  test.each([
    ['a digit of the number', 'pmt_numb'],
    ['the code', 'pmt_key'],
    ['the amount', 'amount'],
    ['a note', 'note'],
  ])('where %s was changed', async (_, column) => {
    await withReader(content, async ({ file, reader }) => {
      const changed = rowsWith(CARDS).map((cells, i) => (i !== 4 ? cells : { ...cells, [column]: '7' }))
      await file.write(csvOf(PAYMENTS, changed), 0)
      expect(await reader.cardOf(4)).toEqual(cardNo(4))
      expect(await Promise.all([6, 5].map((rowNo) => reader.cardOf(rowNo)))).toEqual(['changed', 'changed'])
      expect(await reader.cardOf(3)).toBe('changed')
    })
  })

  test.each([
    ['rows changed places', (lines: string[]) => lines.toSpliced(1, 2, lines[2] ?? '', lines[1] ?? '')],
    ['a row was put in', (lines: string[]) => lines.toSpliced(1, 0, lines[1] ?? '')],
    ['a row was taken out', (lines: string[]) => lines.toSpliced(1, 1)],
    ['it ends early', (lines: string[]) => lines.slice(0, 2)],
    ['it is empty', () => []],
  ])('where %s', async (_, change) => {
    await withReader(content, async ({ file, reader }) => {
      await file.truncate(0)
      await file.write(change(content.split('\n')).join('\n'), 0)
      expect(await reader.cardOf(2)).toBe('changed')
      expect(await reader.cardOf(1)).toBe('changed')
    })
  })

  test('where it can no longer be read', async () => {
    await withReader(content, async ({ file, reader }) => {
      await file.close()
      expect(await Promise.all([1, 2].map((rowNo) => reader.cardOf(rowNo)))).toEqual(['changed', 'changed'])
    })
  })

  test('where it is no longer text, or a workbook is damaged', async () => {
    await withReader(content, async ({ file, reader }) => {
      await file.write(Buffer.from([0xff, 0x00]), 0, 2, lineOf(1))
      expect(await reader.cardOf(1)).toBe('changed')
    })
    await withReader(workbook(tableOf(PAYMENTS, rowsWith(CARDS)) as string[][]), async ({ file, reader }) => {
      expect(await reader.cardOf(1)).toEqual(cardNo(1))
      await file.truncate(300)
      expect(await reader.cardOf(1)).toBe('changed')
    })
  })

  test('where it has no such row, or a row without a card', async () => {
    const stored = { ...SALE, reference: 'S', customer_vault_id: '7', pmt_numb: '', pmt_key: '', pmt_expiry: '' }
    const both = csvOf(PAYMENTS, [...rowsWith(CARDS.slice(0, 1)), stored])
    for (const rowNo of [0, 1.5, 2, 3])
      await withReader(both, async ({ reader }) => expect(await reader.cardOf(rowNo)).toBe('changed'))
  })
})

describe('seals', () => {
  const record = { kind: 'record', line: 2, cells: ['a', 'b'] } as const

  test('fit the row of that number with the same cells, and no other', () => {
    const seals = new Seals()
    seals.begin(1)
    seals.add(1, record)
    seals.add(2, record)
    expect(seals.fits(1, record)).toBe(false)
    seals.finish()
    expect([seals.fits(1, record), seals.fits(2, record)]).toEqual([true, true])
    for (const cells of [['a', 'c'], ['ab', ''], ['a'], ['a', 'b', ''], ['a","b']])
      expect(seals.fits(1, { ...record, cells })).toBe(false)
    expect([seals.fits(0, record), seals.fits(3, record)]).toEqual([false, false])
    expect(() => seals.add(2, record)).toThrow('row 2 is sealed after row 2')
    seals.drop()
    expect(seals.fits(1, record)).toBe(false)
  })

  test('are those of the last reading, which came to its end', async () => {
    await withReader(csvWith(CARDS.slice(0, 3)), async ({ reader, seals }) => {
      seals.begin(3)
      expect(await reader.cardOf(1)).toBe('changed')
    })
  })

  test('are made by the reader of a file that no draft was made of', async () => {
    const options = { ...READING, ...TAKEN }
    await withFile(csvWith(CARDS), async (file) => {
      const survey = await surveyFile(file, options)
      if (survey.kind === 'refused') throw new Error(survey.problem)
      const reader = await openCardReader(file, survey, options, new Seals())
      expect(await reader.cardOf(7)).toEqual(cardNo(7))
      const later = { ...options, nowMs: Date.UTC(2099, 0) }
      const resumed = await openCardReader(file, survey, later, new Seals())
      expect(await resumed.cardOf(7)).toEqual(cardNo(7)) // expired, and the file is what was checked
      await file.write(' ', 0)
      await expect(openCardReader(file, survey, options, new Seals())).rejects.toThrow('changed while it was read')
    })
  })

  test('of a reader that was closed fit nothing, and who waits is told', async () => {
    await withReader(csvWith(CARDS), async ({ reader }) => {
      const waiting = [reader.cardOf(1), reader.cardOf(9)]
      await reader.close()
      expect(await Promise.all(waiting)).toEqual(['changed', 'changed'])
      expect(await reader.cardOf(1)).toBe('changed')
    })
  })
})
