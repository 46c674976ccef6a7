// Gathers what a file says of its money beside what is read of it: currency, scale, progress, what may be sent, which way, and when.

import { isVaultOperation, type Operation, parseOperation } from '../../domain/instruction.ts'
import { type Currency, parseCurrency } from '../../domain/money.ts'
import type { StructuralFault } from '../../domain/problem.ts'
import type { Text } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'
import type { Header } from '../header.ts'
import type { ReadingOptions } from '../inspect-records.ts'
import { saidPlaces } from '../said-columns.ts'
import { isRemark, notToSendStatement, type Remark, remarkStatement } from './above.ts'
import { type Column, columnsIn } from './columns.ts'
import { scaleStatement, wholeStatement } from './scale.ts'
import { effectOn, noteOf, refusalOf } from './statement.ts'
import { Moments, monthStatement } from './when.ts'

/** What a person says of it. */
export type Said = Omit<ReadingOptions, 'accountKey' | 'spelling'>

/** A file with more has rows that are read otherwise. */
const REMARKS_MOST = 100

export class Statements {
  readonly #header: Header
  /** Of the header. */
  readonly #line: number
  readonly #said: Said
  readonly #columns: readonly Column[]
  readonly #operations = new Set<Operation>()
  /** As the rows that move money name them. */
  readonly currencies = new Set<Currency>()
  /** A file of this program's own has been asked about before. */
  readonly #moments: Moments | null
  readonly #remarks: Remark[] = []

  constructor(header: Header, line: number, said: Said) {
    this.#header = header
    this.#line = line
    this.#said = said
    const isOfVault = said.operation !== undefined && isVaultOperation(said.operation)
    this.#columns = isOfVault ? [] : columnsIn(header, said)
    if (said.operation !== undefined) this.#operations.add(said.operation)
    this.#moments = header.guarded || header.fields.execute_at === undefined ? null : new Moments(said)
  }

  /** Of a row that moves money. */
  see(cells: readonly string[], line: number): void {
    const {
      request_currency: inCurrency = -1,
      transaction_type: ofType = -1,
      execute_at: at = -1,
    } = this.#header.fields
    const code = unquoted(cells[inCurrency] ?? '')
    const used = code === '' ? null : parseCurrency(code)
    if (used) this.currencies.add(used)
    const operation = this.#said.operation ?? parseOperation(unquoted(cells[ofType] ?? ''))
    if (operation !== undefined) this.#operations.add(operation)
    for (const column of this.#columns) column.see(cells, line, used)
    this.#moments?.see(unquoted(cells[at] ?? ''), line)
  }

  /** Of a row that moves none. */
  seeUnsent({ cells, line }: Remark, amount: string): void {
    if (this.#remarks.length < REMARKS_MOST && isRemark(cells, amount)) this.#remarks.push({ line, cells })
  }

  /** `used`: the currency of rows that name none. `whole`: how many amounts there are, where none of them has decimals; else 0. */
  decide(
    used: Currency | null,
    whole: number,
  ): { readonly faults: readonly StructuralFault[]; readonly notes: readonly Text[] } {
    const { notToSend, written } = this.#header
    const { scale, map = [] } = this.#said
    const areMomentsMeant = saidPlaces(map, written, ({ field }) => field === 'execute_at').length > 0
    const effectOf = effectOn(this.#operations)
    const statements = [
      scaleStatement(this.#header, scale),
      ...this.#columns.map((column) => column.statements(used).find((one) => effectOf(one) !== null)),
      notToSend === null ? null : notToSendStatement(notToSend),
      remarkStatement(this.#remarks),
      monthStatement(this.#header, this.#said),
      areMomentsMeant ? null : this.#moments?.statement(),
      scale === undefined ? wholeStatement(whole, used, this.currencies) : null,
    ].filter((statement) => statement !== null && statement !== undefined)
    const having = (effect: 'refused' | 'noted') => statements.filter((one) => effectOf(one) === effect)
    return { faults: having('refused').map((one) => refusalOf(one, this.#line)), notes: having('noted').map(noteOf) }
  }
}
