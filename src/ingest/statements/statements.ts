// Gathers what a file says of its money beside what is read of it: currency, scale, progress, what may be sent, which way, and when.

import { isVaultOperation, type Operation } from '../../domain/instruction.ts'
import { type Currency, parseCurrency } from '../../domain/money.ts'
import type { StructuralFault } from '../../domain/problem.ts'
import type { Text } from '../../domain/words.ts'
import type { MappedColumn } from '../columns.ts'
import { unquoted } from '../csv/quotes.ts'
import type { Header } from '../header.ts'
import { CodeColumns } from './currency.ts'
import { May } from './may.ts'
import { Progress } from './progress.ts'
import { type Scale, scaleStatement, wholeStatement } from './scale.ts'
import { effectOf, hasSales, noteOf, Operations, refusalOf } from './statement.ts'
import { wayStatement } from './way.ts'
import { When } from './when.ts'

/** What a person says of it. */
export interface Said {
  readonly operation?: Operation | undefined
  readonly scale?: Scale | undefined
  readonly map?: readonly MappedColumn[] | undefined
  readonly nowMs?: number | undefined
  readonly timeZone?: string | undefined
  /** Of all merchants that are configured, the one that is meant first. */
  readonly merchants?: readonly string[] | undefined
}

/** Of a file; more are no codes. */
const CURRENCIES_MOST = 200

export class Statements {
  readonly #header: Header
  /** Of the header. */
  readonly #line: number
  readonly #said: Said
  readonly #codes: CodeColumns
  readonly #progress: Progress
  readonly #may: May
  readonly #when: When
  readonly #operations: Operations
  /** By the cells of the column that is read; undefined: it is none, and the row is a bad one. */
  readonly #currencies = new Map<string, Currency | undefined>()
  #namesNone: boolean = false

  constructor(header: Header, line: number, said: Said) {
    const { written, beside, mayBeDone, fields } = header
    const isOfVault = said.operation !== undefined && isVaultOperation(said.operation)
    this.#header = header
    this.#line = line
    this.#said = said
    this.#codes = new CodeColumns(written, fields.amount === undefined ? [] : beside)
    this.#progress = new Progress(written, isOfVault ? [] : beside, mayBeDone)
    const undecided = isOfVault ? [] : beside.filter((place) => !mayBeDone.includes(place))
    this.#may = new May(written, undecided, said.merchants ?? [])
    this.#when = new When(header, undecided, said)
    this.#operations = new Operations(said.operation)
  }

  /** Of a row that moves money. */
  see(cells: readonly string[], line: number): void {
    const { transaction_type: operation, request_currency: currency } = this.#header.fields
    const named = currency === undefined ? '' : unquoted(cells[currency] ?? '')
    const used = named === '' ? null : this.#currencyOf(named)
    this.#namesNone ||= used === null
    if (used !== undefined) this.#codes.see(cells, line, used)
    if (operation !== undefined) this.#operations.see(unquoted(cells[operation] ?? ''))
    this.#progress.see(cells, line)
    this.#may.see(cells, line)
    this.#when.see(cells, line)
  }

  /** As the rows that move money name them. */
  get currencies(): ReadonlySet<Currency> {
    return new Set([...this.#currencies.values()].filter((one) => one !== undefined))
  }

  #currencyOf(named: string): Currency | undefined {
    if (this.#currencies.has(named)) return this.#currencies.get(named)
    const currency = parseCurrency(named)
    if (this.#currencies.size < CURRENCIES_MOST) this.#currencies.set(named, currency)
    return currency
  }

  /** `used`: the currency of rows that name none. `whole`: how many amounts there are, where none of them has decimals; else 0. */
  decide(
    used: Currency | null,
    whole: number,
  ): { readonly faults: readonly StructuralFault[]; readonly notes: readonly Text[] } {
    const { fields, written } = this.#header
    const { scale } = this.#said
    const amount = written[fields.amount ?? -1]
    const currencies = [this.#namesNone ? used : null, ...this.#currencies.values()].filter((one) => one != null)
    const progress = this.#progress.statements({ isOfPaid: !hasSales(this.#operations.found) })
    const statements = [
      amount === undefined ? null : scaleStatement(amount, scale, this.#line),
      ...this.#codes.statements(used, fields.request_currency !== undefined),
      ...progress,
      ...this.#may.statements().filter(({ column }) => !progress.some((told) => told.column === column)),
      wayStatement(this.#header, this.#line),
      ...this.#when.statements(),
      scale === undefined ? wholeStatement(whole, currencies) : null,
    ].filter((statement) => statement !== null)
    const having = (effect: ReturnType<typeof effectOf>) =>
      statements.filter((statement) => effectOf(statement, this.#operations.found) === effect)
    const moments = this.#when.note()
    return {
      faults: having('refusal').map(refusalOf),
      notes: [...having('note').map(noteOf), ...(moments === null ? [] : [moments])],
    }
  }
}
