// Names that speak of refunds, in a file that is to do something else.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import type { Header } from '../header.ts'
import { wordsOf } from './names.ts'
import type { Statement } from './statement.ts'
import { REFUND_STATES, REFUND_STEMS } from './words.ts'

function speaksOfRefunds(column: string): boolean {
  return wordsOf(column).some((word) => REFUND_STEMS.some((stem) => word.includes(stem)))
}

/** What was refunded of a sale, or may be, is told of the sale. */
function isOfSale(column: string): boolean {
  return wordsOf(column).some((word) => REFUND_STATES.has(word))
}

/** The column of amounts by its name, where no person said that it is the one; or two others, where none of them was spoken of. */
export function wayStatement({ written, fields, guessed, beside, ignored }: Header, line: number): Statement | null {
  const amount = fields.amount ?? -1
  const name = shown((written[amount] ?? '').trim())
  const others = beside.flatMap((place) => {
    const column = (written[place] ?? '').trim()
    return speaksOfRefunds(column) && !isOfSale(column) ? [shown(column)] : []
  })
  const [one, other] = others
  const at = { says: 'refunds', line, column: null } as const
  if (guessed.includes(amount) && speaksOfRefunds(name))
    return {
      ...at,
      problem: `the name of the column "${name}" says that its amounts are refunds, and they are to be something else`,
      remedy: words`if they are to be refunded, say so: ${{ set: 'operation', to: 'REFUND' }}; if they are not: ${{ set: 'map', column: name, field: 'amount' }}`,
    }
  if (one === undefined || other === undefined || ignored.some(speaksOfRefunds)) return null
  return {
    ...at,
    problem: `the columns "${one}" and "${other}" say that the rows are refunds, and they are to be something else`,
    remedy: words`if they are to be refunded, say so: ${{ set: 'operation', to: 'REFUND' }}; if they are not: ${{ set: 'map', column: one, field: 'ignore' }}`,
  }
}
