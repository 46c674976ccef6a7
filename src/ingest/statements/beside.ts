// What the cells beside an instruction say against it: such a row is bad, and the others are read.

import type { Instruction } from '../../domain/instruction.ts'
import { type Currency, formatAmount, type Money } from '../../domain/money.ts'
import { isProblem, type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import type { DecimalSign } from '../../domain/written-amount.ts'
import { unquoted } from '../csv/quotes.ts'
import type { CsvRecord } from '../csv/records.ts'
import { parseMoney, parsePlainDecimal } from '../fields/amount.ts'
import { mayMark, partMark, partName } from '../fields/currency-marks.ts'
import { signShownBy } from '../fields/decimal-sign.ts'
import type { Header } from '../header.ts'
import type { Survey } from '../inspect-file.ts'
import { STRUCK } from '../workbook/cell.ts'
import { plainWord } from './names.ts'
import type { Scale } from './scale.ts'
import { mapped } from './statement.ts'
import { SUMS } from './tables.ts'

export interface Against extends Problem<Text> {
  readonly place: number
  /** Text does not show it: in rejects the row would be like any other. */
  readonly isOfSheet: boolean
}

type Judge = (record: CsvRecord, instruction: Instruction) => Against | null

/** `noted`: by line, the comment of a workbook that says that the row is not to be sent. */
export function besideRows(
  header: Header,
  { decimal, noted }: Pick<Survey, 'decimal' | 'noted'>,
  scale: Scale | undefined,
): Judge {
  // In which unit the sum of an order is beside amounts in cents, is not known.
  const sums = scale === undefined ? sumsIn(header) : []
  return (record, { operation, money }) => {
    const comment = noted?.get(record.line)
    const found = struckIn(header, record) ?? (comment === undefined ? null : notToSend(comment))
    if (found !== null || money === null) return found
    for (const column of sums) {
      const sum = column.operations.includes(operation) ? sumIn(record, column, decimal, money.currency) : null
      if (sum !== null && sum.amountMinor < money.amountMinor) return aboveSum(header, column.place, sum)
    }
    return null
  }
}

function struckIn({ ignored, written }: Header, { kinds, cells }: CsvRecord): Against | null {
  const isStruck = (kind: string, i: number) => kind === 'struck' && !ignored.includes(written[i] ?? '')
  const place = kinds?.findIndex((kind, i) => isStruck(kind, i) && cells[i]?.trim() !== '') ?? -1
  return place === -1 ? null : { place, isOfSheet: true, ...STRUCK }
}

function notToSend({ place, text }: { readonly place: number; readonly text: string }): Against {
  return {
    ...{ place, isOfSheet: true },
    problem: `has a comment that says that the row is not to be sent ("${shown(text)}")`,
    remedy: 'find out whether it is; delete the row, or the comment if the row is meant',
  }
}

type SumColumn = ReturnType<typeof sumsIn>[number]

function sumsIn({ beside, written }: Header) {
  return beside.flatMap((place) => {
    const { marks, others } = partName(written[place] ?? '')
    const title = others.map(plainWord).join(' ')
    return SUMS.filter(({ names }) => names.test(title)).map(({ operations }) => ({ place, marks, operations }))
  })
}

/** What cannot be read so says nothing; nor does zero, which stands for nothing as often as not. */
function sumIn(record: CsvRecord, column: SumColumn, decimal: DecimalSign | null, currency: Currency): Money | null {
  const { cells, kinds, marks } = record
  const { mark, number } = partMark(unquoted(cells[column.place] ?? '').trim())
  const said = [...column.marks, ...(marks?.[column.place] ?? []), ...(mark === null ? [] : [mark])]
  if (said.length > 0 && !said.some((one) => mayMark(one, currency))) return null
  const sign = signShownBy(number)
  const shownSign = sign === '.' || sign === ',' ? sign : null
  const isText = (kinds?.[column.place] ?? 'text') === 'text'
  const sum = parseMoney(parsePlainDecimal(number, isText ? (decimal ?? shownSign) : '.'), currency)
  return isProblem(sum) ? null : sum
}

function aboveSum({ written }: Header, place: number, sum: Money): Against {
  const name = (written[place] ?? '').trim()
  return {
    ...{ place, isOfSheet: false },
    problem: `says that the order came to ${formatAmount(sum)} ${sum.currency}, which is less than the amount of the row`,
    remedy: words`correct the one that is wrong; if the column is of something else, ignore it: ${mapped(name, 'ignore')}`,
  }
}
