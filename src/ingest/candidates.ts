// Where a column is missing: the columns of the file whose cells look like what it would hold. They are named, never taken.

import { parseCurrency } from '../domain/money.ts'
import { mayHoldPan } from '../domain/pan.ts'
import { shown } from '../domain/problem.ts'
import { isCardColumn } from './columns.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { partMark } from './fields/currency-marks.ts'
import { signShownBy } from './fields/decimal-sign.ts'
import { withoutMinus } from './fields/minus.ts'
import { speaksOfAmount } from './fields/rivals.ts'

/** Rows that are looked at. */
export const SAMPLE_ROWS = 200
const NAMED = 6

/** An order number of the shop is not the gateway's id, and would be refunded as if it were. */
const NO_IDS =
  /order|bestell|auftrag|commande|pedido|ordine|phone|tel|fax|mobil|zip|postcode|plz|date|datum|ean|gtin|sku|barcode|iban|bic|konto|account|qty|quantity|menge|anzahl/i
const LOOKS_LIKE_DATE = /^(?:19|20)\d{6}$/
const ID_DIGITS_LEAST = 6

/** What the cells of one column have shown so far. */
class Column {
  readonly name: string
  filled = 0
  isAmount: boolean = true
  hasDecimals: boolean = false
  isCurrency: boolean = true
  isId: boolean = true
  readonly digits = new Set<number>()

  constructor(name: string) {
    this.name = name.trim()
  }

  see(cell: string): void {
    if (cell === '') return
    this.filled += 1
    const amount = partMark(withoutMinus(cell) ?? cell).number
    const sign = signShownBy(amount)
    this.isAmount &&= sign !== 'malformed'
    this.hasDecimals ||= sign === '.' || sign === ','
    this.isCurrency &&= /^[A-Za-z]{3}$/.test(cell) && parseCurrency(cell) !== undefined
    this.isId &&=
      /^\d+$/.test(cell) && cell.length >= ID_DIGITS_LEAST && !LOOKS_LIKE_DATE.test(cell) && !mayHoldPan(cell)
    this.digits.add(cell.length)
  }
}

export class Candidates {
  readonly #missing: readonly Field[]
  readonly #columns: readonly { readonly place: number; readonly column: Column }[]

  /** `unread`: the places of the columns that are not understood. */
  constructor(written: readonly string[], missing: readonly Field[], unread: readonly number[]) {
    this.#missing = missing
    this.#columns = unread.flatMap((place) => {
      const name = written[place] as string
      return name.trim() === '' || isCardColumn(name) ? [] : [{ place, column: new Column(name) }]
    })
  }

  see({ cells }: CsvRecord): void {
    for (const { place, column } of this.#columns) column.see(unquoted(cells[place] ?? ''))
  }

  /** Empty where no column looks like it. */
  toString(): string {
    const needs = (...fields: readonly Field[]) => fields.some((field) => this.#missing.includes(field))
    const parts = [
      needs('amount') ? this.#named('with amounts', isAmounts) : '',
      needs('request_currency') ? this.#named('with currencies', ({ isCurrency }) => isCurrency) : '',
      needs('request_ref_po_id', 'customer_vault_id') ? this.#ids() : '',
    ].filter((part) => part !== '')
    return parts.length === 0 ? '' : `columns ${parts.join('; ')}`
  }

  #named(what: string, isSuch: (column: Column) => boolean): string {
    const names = this.#columns
      .filter(({ column }) => column.filled > 0 && isSuch(column))
      .map(({ column }) => column.name)
    if (names.length === 0) return ''
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
    return `${what}: ${names
      .slice(0, NAMED)
      .map((name) => `"${shown(name)}"`)
      .join(', ')}${more}`
  }

  #ids(): string {
    const isIds = ({ isId, name }: Column) => isId && !NO_IDS.test(name)
    const found = this.#columns.filter(({ column }) => column.filled > 0 && isIds(column))
    const digits = new Set(found.flatMap(({ column }) => [...column.digits]))
    const [one] = digits
    return this.#named(digits.size === 1 ? `with numbers of ${one} digits` : 'with long numbers', isIds)
  }
}

/** Whole numbers alone may count anything, unless the name says what they are. */
function isAmounts({ isAmount, hasDecimals, name }: Column): boolean {
  return isAmount && (hasDecimals || speaksOfAmount(name))
}
