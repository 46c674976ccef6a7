// Lines with cells too few or too many: read where only empty ones differ and nothing can have moved.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount } from '../../src/domain/money.ts'
import { tries } from '../fixtures/tries.ts'
import { read, readWhole, refusalOf } from './table.ts'

const REFUND = { operation: 'REFUND' } as const

async function ordersOf(file: string): Promise<readonly (string | undefined | null)[]> {
  return (await readWhole(file, REFUND)).rows.map(({ instruction }) => instruction?.orderId)
}

describe('lines that differ in empty cells at their end', () => {
  test('are read, and counted in a note', async () => {
    const file = 'order_id;amount;currency;note;more\n1001;5.00;EUR;n;y;\n1002;6.00;EUR\n1003;7.00;EUR;n;y\n'
    const { survey, rows } = await readWhole(file, REFUND)
    expect(rows.map(({ instruction, cells }) => [instruction?.orderId, cells.length])).toEqual([
      ['1001', 5],
      ['1002', 5],
      ['1003', 5],
    ])
    expect(survey.warnings).toEqual([
      '2 lines, the first of them line 2, have cells too few or empty cells too many at the end: missing ones are read as empty.',
    ])
    const one = await readWhole('order_id;amount;currency;note\n1000;5.00;EUR;n\n1001;5.00;EUR\n', REFUND)
    expect(one.survey.warnings).toEqual([
      'Line 3 has cells too few or empty cells too many at the end: missing ones are read as empty.',
    ])
  })

  test('are read where each line ends with a delimiter and the first does not', async () => {
    expect(await ordersOf('order_id,amount,currency,note\n1001,5.00,EUR,x,\n1002,6.00,EUR,y,\n')).toEqual([
      '1001',
      '1002',
    ])
  })

  test.each([
    ['a decimal comma', 'order_id,currency,amount,note\n1001,EUR,5,50,\n'],
    ['a decimal comma in front', 'amount,order_id,note\n5,50,1001,\n'],
    ['a name in two parts', 'name,qty,order_id,amount,note\nBolt, M5,2,1001,12.50,\n'],
    ['a reference behind', 'order_id,amount,note,reference,more\n1001,5.00,a,b,R1,\n'],
    ['a reference that may be another cell', 'order_id,amount,note,reference,more\n1001,5.00,a,b,,\n'],
    ['a cell that is lost', 'qty,amount,order_id,note\n12.50,1001,x\n'],
    [
      'the amount that is lost, and another column holds numbers',
      'order_id,name,amount,qty\n1001,a,5.00,3\n1002,b,4\n',
    ],
    ['every line that is short', 'order_id,name,amount,note\n1001,a,5.00\n1002,b,6.00\n'],
    ['an amount in thousands', 'order_id,currency,amount,note,x\n1001,EUR,12.50,hi,y\n1002,EUR,1,234.50\n'],
    ['a decimal comma, and nothing behind', 'order_id,currency,amount,note,x\n1001,EUR,12.50,hi,y\n1002,EUR,89,90\n'],
    ['a text in two parts', 'order_id,item,amount,note,x\n1001,Cap,12.50,hi,y\n1002,Shirt,5,30.00\n'],
    ['a decimal comma behind a mark', 'amount,order_id,note\n€20,1001,a\n€12,50,,\n'],
    ['a decimal comma behind thousands', 'amount,order_id,customer,note,x\n20,1001,Bob,hi,y\n1 234,50,1002\n'],
    ['a first cell that is lost', 'qty,order_id,amount\n700,12.50\n'],
    ['text that is too much', 'order_id,amount,note\n1001,5.00,x,y\n'],
  ])('refuse the file where %s may have moved the cells', async (_, file) => {
    const currency = { currency: 'EUR' as never }
    expect((await refusalOf(file, { ...REFUND, ...currency })).problem).toMatch(
      /the row has \d cells and the header \d/,
    )
  })

  test('never make another instruction than the line was before a delimiter came into it or went out of it', async () => {
    const names = ['order_id', 'amount', 'currency', 'note', 'qty', 'name', 'last']
    const text = fc.constantFrom('', 'x', '7', '12', '4.50', '1001', 'EUR', 'a b')
    const lines = fc.record({
      order: fc.shuffledSubarray(names, { minLength: names.length, maxLength: names.length }),
      amount: fc.constantFrom('5.00', '5', '12.50', '1', '1001'),
      order_id: fc.constantFrom('1001', '7', '12'),
      others: fc.tuple(text, text, text, text),
      at: fc.nat(30),
      how: fc.constantFrom('split', 'insert', 'lose', 'join', 'short', 'long'),
    })
    await fc.assert(
      fc.asyncProperty(lines, async ({ order, amount, order_id, others: [note, qty, name, last], at, how }) => {
        const row: Record<string, string> = { order_id, amount, currency: 'EUR', note, qty, name, last }
        const cells = order.map((column) => row[column] ?? '')
        const i = at % cells.length
        const damaged =
          how === 'split'
            ? cells.flatMap((cell, k) =>
                k === i && cell.length > 1 ? [cell.slice(0, 1), cell.slice(1).replace(/^\./, '')] : [cell],
              )
            : how === 'insert'
              ? cells.toSpliced(i, 0, '')
              : how === 'lose'
                ? cells.toSpliced(i, 1)
                : how === 'join'
                  ? cells.toSpliced(i, 2, `${cells[i]}${cells[i + 1] ?? ''}`)
                  : how === 'short'
                    ? cells.slice(0, -1 - (at % 3))
                    : [...cells, '']
        if (damaged.length === cells.length) return
        const found = await read(`${order.join(',')}\n${cells.join(',')}\n${damaged.join(',')}\n`, REFUND)
        const instruction = 'kind' in found ? null : found.rows[1]?.instruction
        if (instruction?.money == null) return
        const asked = [instruction.orderId, formatAmount(instruction.money), instruction.money.currency]
        expect(asked).toEqual([order_id, Number(amount).toFixed(2), 'EUR'])
      }),
      { numRuns: tries(3000) },
    )
  })
})

describe('further lines of an order, without an amount and an id', () => {
  const FILE =
    'Name,Amount,Currency,Order ID,Item\n#1,5.00,EUR,1001,a\n#1,,,,b\n#1,,,,c\n#2,6.00,EUR,1002,d\n#3,,EUR,1003,e\n'

  test('are one fault each, counted among the rows', async () => {
    const { rows } = await readWhole(FILE, REFUND)
    expect(rows.map(({ faults }) => faults.map(({ column, problem }) => `${column}: ${problem}`).join(', '))).toEqual([
      '',
      'null: has neither an amount nor an id: it looks like a further line of the row above it',
      'null: has neither an amount nor an id: it looks like a further line of the row above it',
      '',
      'Amount: is empty, and REFUND needs it',
    ])
    expect(rows.filter(({ instruction }) => instruction === null)).toHaveLength(3)
  })
})

describe('a line of totals below the rows', () => {
  const toldOf = async (line: string): Promise<string> => {
    const file = `order_id;amount;currency;note\n1001;5.00;EUR;x\n1002;6.00;EUR;y\n${line}\n`
    const found = await read(file, REFUND)
    if ('kind' in found) return String(found.problem)
    return (
      found.rows
        .at(-1)
        ?.faults.map(({ problem }) => problem)
        .join('; ') ?? ''
    )
  }

  test.each([
    ['Summe: ;;11,00;EUR;;2', 6],
    [';;;;11.00', 5],
  ])('is told to be one before its cells are counted: %s', async (line, cells) => {
    expect(await toldOf(line)).toBe(
      `line 4 looks like a line of totals, not like an instruction: the row has ${cells} cells and the header 4`,
    )
  })

  test.each(['Total;11.00;;', ';11.00;;', ';11;;', 'Summe;11.00;EUR;', 'Total;11.00', '11.00', ';11.00;;;;', 'Gesamt'])(
    'is told to be one before what it lacks: %s',
    async (line) => {
      expect(await toldOf(line)).toBe('the row looks like a line of totals, not like an instruction')
    },
  )

  test.each(['1003', '1003;;EUR;', 'x;5.00;EUR;', ';5.00;EUR;z'])(
    'is not what another bad line is: %s',
    async (line) => {
      expect(await toldOf(line)).toMatch(/^(?!.*totals)./)
    },
  )
})
