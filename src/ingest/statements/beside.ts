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
import { ORDER_SUM_NAMES, PAID_SUM_NAMES } from './words.ts'

export interface Against extends Problem<Text> {
  readonly place: number
  /** Text does not show it: in rejects the row would be like any other. */
  readonly isOfSheet: boolean
}

type Judge = (record: CsvRecord, instruction: Instruction) => Against | null

/** `noted`: by line, the comment of a workbook that says that the row is not to be sent. `scale`: in which unit the sum of an order is beside amounts in cents, is not known. */
export function besideRows(
  header: Header,
  { decimal, noted }: Pick<Survey, 'decimal' | 'noted'>,
  scale: Scale | undefined,
): Judge {
  const names = header.written.map(partName)
  const placesOf = (sums: RegExp) =>
    header.beside.filter((place) => sums.test(names[place]?.others.map(plainWord).join(' ') ?? ''))
  const [ordered, paid] = scale === undefined ? [placesOf(ORDER_SUM_NAMES), placesOf(PAID_SUM_NAMES)] : [[], []]
  const sums = { REFUND: [...ordered, ...paid], CAUTH: ordered }
  const isRead = (place: number) => !header.ignored.includes(header.written[place] ?? '')
  return (record, { operation, money }) => {
    const struck =
      record.kinds?.findIndex((kind, i) => kind === 'struck' && isRead(i) && record.cells[i]?.trim() !== '') ?? -1
    if (struck !== -1) return { place: struck, isOfSheet: true, ...STRUCK }
    const comment = noted?.get(record.line)
    if (comment !== undefined) return notToSend(comment)
    if (money === null || (operation !== 'REFUND' && operation !== 'CAUTH')) return null
    for (const place of sums[operation]) {
      const sum = sumIn(record, place, names[place]?.marks ?? [], decimal, money.currency)
      if (sum !== null && sum.amountMinor < money.amountMinor) return aboveSum(header, place, sum)
    }
    return null
  }
}

function notToSend({ place, text }: { readonly place: number; readonly text: string }): Against {
  return {
    ...{ place, isOfSheet: true },
    problem: `has a comment that says that the row is not to be sent ("${shown(text)}")`,
    remedy: 'find out whether it is; delete the row, or the comment if the row is meant',
  }
}

/** What cannot be read so says nothing; nor does zero, which stands for nothing as often as not. */
function sumIn(
  { cells, kinds, marks }: CsvRecord,
  place: number,
  inName: readonly string[],
  decimal: DecimalSign | null,
  currency: Currency,
): Money | null {
  const { mark, number } = partMark(unquoted(cells[place] ?? '').trim())
  const said = [...inName, ...(marks?.[place] ?? []), ...(mark === null ? [] : [mark])]
  if (said.length > 0 && !said.some((one) => mayMark(one, currency))) return null
  const kind = kinds?.[place] ?? 'text'
  const sign = signShownBy(number)
  const read = kind !== 'text' ? '.' : (decimal ?? (sign === '.' || sign === ',' ? sign : null))
  const sum = parseMoney(parsePlainDecimal(number, read), currency)
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
