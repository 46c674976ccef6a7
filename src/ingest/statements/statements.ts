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
import { monthStatement } from './kinds.ts'
import { CutDecimals, scaleStatement, wholeStatement } from './scale.ts'
import { isRefused, noteOf, refusalOf } from './statement.ts'
import { UnreadColumns } from './unread.ts'
import { wayStatement } from './way.ts'
import { Moments } from './when.ts'

/** What a person says of it. */
export type Said = Pick<
  ReadingOptions,
  | 'operation'
  | 'scale'
  | 'map'
  | 'nowMs'
  | 'timeZone'
  | 'runKey'
  | 'merchants'
  | 'environment'
  | 'currency'
  | 'decimal'
  | 'sign'
> & {
  /** Between the cells of a line. Absent: it is no text. */
  readonly separator?: string | null
}

/** Of a file; more are nothing that is named. */
const NAMED_MOST = 200
/** A file with more has rows that are read otherwise. */
const REMARKS_MOST = 100

/** What the cells of a column that is read name, each read once. null: nothing; undefined: nothing that there is, and the row is bad. */
class Names<T> {
  readonly #place: number
  readonly #parse: (cell: string) => T | undefined
  readonly #byCell = new Map<string, T | null | undefined>()

  constructor(place: number | undefined, parse: (cell: string) => T | undefined) {
    this.#place = place ?? -1
    this.#parse = parse
  }

  in(cells: readonly string[]): T | null | undefined {
    const cell = cells[this.#place] ?? ''
    if (this.#byCell.has(cell)) return this.#byCell.get(cell)
    const text = unquoted(cell)
    const named = text === '' ? null : this.#parse(text)
    if (named === null || this.#byCell.size < NAMED_MOST) this.#byCell.set(cell, named)
    return named
  }

  /** `none`: stands for rows that name nothing. */
  all(none: T | null = null): ReadonlySet<T> {
    const named = [...this.#byCell.values()].map((one) => (one === null ? none : one))
    return new Set(named.filter((one) => one !== null && one !== undefined))
  }
}

export class Statements {
  readonly #header: Header
  /** Of the header. */
  readonly #line: number
  readonly #said: Said
  readonly #unread: UnreadColumns | null
  readonly #operations: Names<Operation>
  readonly #currencies: Names<Currency>
  /** A file of this program's own has been asked about before. */
  readonly #moments: Moments | null
  readonly #remarks: Remark[] = []
  readonly #cut = new CutDecimals()
  /** The column right of the amounts, if it is not read. */
  readonly #besideAmount: number | null

  constructor(header: Header, line: number, said: Said) {
    const { fields, guarded } = header
    this.#header = header
    this.#line = line
    this.#said = said
    const isOfVault = said.operation !== undefined && isVaultOperation(said.operation)
    this.#unread = isOfVault ? null : new UnreadColumns(header, said)
    this.#operations = new Names(fields.transaction_type, parseOperation)
    this.#currencies = new Names(fields.request_currency, parseCurrency)
    const beside = (fields.amount ?? -2) + 1
    const mayBeCut = said.separator === ',' && said.scale === undefined && header.beside.includes(beside)
    this.#besideAmount = mayBeCut ? beside : null
    this.#moments = guarded || fields.execute_at === undefined ? null : new Moments(said)
  }

  /** Of a row that moves money. */
  see(cells: readonly string[], line: number): void {
    if (this.#said.operation === undefined) this.#operations.in(cells)
    this.#unread?.see(cells, line, this.#currencies.in(cells))
    if (this.#besideAmount !== null) this.#cut.see(cells[this.#besideAmount] ?? '')
    this.#moments?.see(unquoted(cells[this.#header.fields.execute_at ?? -1] ?? ''), line)
  }

  /** Of a row that moves none. */
  seeUnsent({ cells, line }: Remark, amount: string): void {
    if (this.#remarks.length < REMARKS_MOST && isRemark(cells, amount)) this.#remarks.push({ line, cells })
  }

  /** As the rows that move money name them. */
  get currencies(): ReadonlySet<Currency> {
    return this.#currencies.all()
  }

  /** `used`: the currency of rows that name none. `whole`: how many amounts there are, where none of them has decimals; else 0. */
  decide(
    used: Currency | null,
    whole: number,
  ): { readonly faults: readonly StructuralFault[]; readonly notes: readonly Text[] } {
    const { fields, written, unitAbove, notToSend } = this.#header
    const { operation, scale, map = [] } = this.#said
    const operations = operation === undefined ? this.#operations.all() : new Set([operation])
    const areMomentsMeant = saidPlaces(map, written, ({ field }) => field === 'execute_at').length > 0
    const ofColumns = this.#unread?.statements(used) ?? []
    const statements = [
      scaleStatement(written[fields.amount ?? -1], unitAbove, scale, this.#line),
      ...ofColumns.map((told) => told.find((one) => isRefused(one, operations) !== null)),
      notToSend === null ? null : notToSendStatement(notToSend),
      remarkStatement(this.#remarks),
      wayStatement(this.#header, this.#unread?.filledNames ?? [], this.#line),
      monthStatement(this.#header, this.#said, this.#line),
      areMomentsMeant ? null : this.#moments?.statement(),
      this.#cut.statement((written[this.#besideAmount ?? -1] ?? '').trim(), whole, this.#line),
      scale === undefined ? wholeStatement(whole, this.#currencies.all(used)) : null,
    ].filter((statement) => statement !== null && statement !== undefined)
    const having = (refused: boolean) => statements.filter((one) => isRefused(one, operations) === refused)
    return {
      faults: having(true).map(refusalOf),
      notes: [...having(false).map(noteOf), ...(this.#moments?.notes() ?? [])],
    }
  }
}
