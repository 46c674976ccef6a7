// What no row says alone: which columns hold cards, how amounts are written, in which currency, which way the money goes.

import { assert } from '../domain/fault.ts'
import { parseCurrency } from '../domain/money.ts'
import { refuse, type StructuralFault } from '../domain/problem.ts'
import { type Text, words } from '../domain/words.ts'
import type { DecimalSign } from '../domain/written-amount.ts'
import { DoubtfulColumns } from './cards/columns.ts'
import { CardEvidence, type CardsJudged } from './cards/evidence.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { MarkEvidence, mayMark, partMark } from './fields/currency-marks.ts'
import { DecimalEvidence, deviantsNote } from './fields/decimal-sign.ts'
import { DirectionEvidence } from './fields/direction.ts'
import { type Minuses, withoutMinus } from './fields/minus.ts'
import { NumericIdEvidence } from './fields/numeric-ids.ts'
import { SideEvidence } from './fields/sides.ts'
import type { Header } from './header.ts'
import { type CurrencySaid, currencyNote, currencyOfFile } from './statements/currency.ts'
import { type Said, Statements } from './statements/statements.ts'
import { GuessedType, numberedNote } from './unused-columns.ts'

/** How the rows are read, as all of them together show. */
export interface RowsShown {
  /** null: no amount of the file shows one. */
  readonly decimal: DecimalSign | null
  /** Nearly all amounts show that sign, and a few the other. */
  readonly isDecimalMixed: boolean
  /** A whole number from here on lacks its sign as likely as not. */
  readonly oddFrom: number | null
  readonly minuses: Minuses
  readonly currencySaid: CurrencySaid
  /** The fields whose number cells in a workbook are read as ids. */
  readonly numericIds: ReadonlySet<Field>
  readonly cards: CardsJudged
  /** Without a column that was taken for the operation's and is not. */
  readonly header: Header
}

export class RowEvidence {
  readonly header: Header
  /** Of the header. */
  readonly #line: number
  readonly #said: Said
  readonly #amounts = new DecimalEvidence()
  /** The same without their marks, which counts where all have the same one. */
  readonly #marked = new DecimalEvidence()
  readonly #marks = new MarkEvidence()
  readonly #directions = new DirectionEvidence()
  readonly #sides: SideEvidence
  readonly #statements: Statements
  readonly #type: GuessedType
  readonly #numericIds: NumericIdEvidence
  readonly #cards: CardEvidence
  readonly #doubtful: DoubtfulColumns

  constructor(header: Header, line: number, said: Said) {
    this.header = header
    this.#line = line
    this.#said = said
    this.#type = new GuessedType(header, said.operation)
    this.#sides = new SideEvidence(header.written, header.fields.amount === undefined ? [] : header.beside)
    this.#statements = new Statements(header, line, said)
    this.#numericIds = new NumericIdEvidence(header)
    this.#cards = new CardEvidence(header)
    this.#doubtful = new DoubtfulColumns(header)
  }

  see(read: CsvRecord, rowNo: number): void {
    this.#cards.see(read, rowNo)
    this.#doubtful.see(read, rowNo)
    this.#numericIds.see(read)
    this.#type.see(read)
    const { amount: place = -1 } = this.header.fields
    const amount = unquoted(read.cells[place] ?? '')
    this.#sides.see(read.cells, read.line)
    if (place === -1 || /[1-9]/.test(amount)) this.#statements.see(read.cells, read.line)
    else this.#statements.seeUnsent(read, amount)
    this.#directions.see(amount, read.line, this.#otherMarks(read))
    this.#marks.see(withoutMinus(amount) ?? amount, read.marks?.[place] ?? [])
    // A number of a workbook has no decimal sign that was written.
    if ((read.kinds?.[place] ?? 'text') !== 'text') {
      this.#amounts.seeNumber(amount)
      this.#marked.seeNumber(amount)
      return
    }
    const unsigned = this.#said.sign === undefined ? amount : (withoutMinus(amount) ?? amount)
    this.#amounts.see(unsigned, read.line)
    this.#marked.see(partMark(unsigned).number, read.line)
  }

  judge(): StructuralFault | (RowsShown & { readonly notes: readonly Text[] }) {
    const cards = this.#cards.judge()
    const { fields, written, currencyMarks: inName, unitAbove, isCurrencyAbove, missingCurrency } = this.header
    const currencySaid = {
      forAll: this.#said.currency ?? null,
      inName,
      ...(unitAbove !== null && isCurrencyAbove ? { where: unitAbove.where } : {}),
      mark: this.#marks.decide(),
      inColumn: this.#statements.currencies,
    }
    const lacksCurrency = missingCurrency !== null && currencyOfFile(currencySaid) === null
    const amounts = currencySaid.mark === null ? this.#amounts : this.#marked
    const decimal = amounts.decide(this.#said.decimal)
    const type = this.#type.decide()
    const said = this.#statements.decide(currencyOfFile(currencySaid), amounts.whole)
    const faults = [
      this.#doubtful.decide(),
      'kind' in cards ? cards : null,
      this.#directions.decide(
        currencySaid.mark !== null,
        this.#said.sign === 'minus',
        written[fields.amount ?? -1] ?? '',
      ) ?? this.#sides.decide(),
      ...said.faults,
      lacksCurrency ? refuse(missingCurrency, { line: this.#line }) : null,
      isFault(decimal) ? decimal : null,
      isFault(type) ? type : null,
    ].filter((fault) => fault !== null)
    const [first, ...others] = faults
    if (first !== undefined) return others.reduce(alsoTold, first)
    assert(!('kind' in cards) && !isFault(decimal) && !isFault(type), 'a fault is told')
    const few = this.#said.decimal === undefined ? amounts.deviants() : null
    const leaning = this.#said.decimal === undefined && few === null ? amounts.leaning(decimal) : null
    const inCurrency = currencyNote(currencySaid, fields.request_currency !== undefined)
    const header = type?.header ?? this.header
    const sameNames = numberedNote(header.carried.map((i) => header.written[i] as string))
    const numericIds = this.#numericIds.decide()
    return {
      decimal,
      isDecimalMixed: few !== null,
      oddFrom: currencySaid.inColumn.size > 1 ? null : amounts.oddFrom, // 7990 HUF beside 12.30 EUR is nothing odd
      minuses: { isSaid: this.#said.sign === 'minus', all: this.#directions.minuses },
      currencySaid,
      numericIds: numericIds.fields,
      cards,
      header,
      notes: [
        ...header.notes,
        ...said.notes,
        ...[type?.note ?? null, sameNames, few === null ? null : deviantsNote(few), leaning, inCurrency].filter(
          (note) => note !== null,
        ),
        ...numericIds.notes,
      ],
    }
  }

  /** What a workbook shows beside the amount of the row, without the signs of its currency. */
  #otherMarks({ cells, marks }: CsvRecord): readonly string[] {
    const { fields } = this.header
    const shown = marks?.[fields.amount ?? -1] ?? []
    if (shown.length === 0) return shown
    const currency = parseCurrency(unquoted(cells[fields.request_currency ?? -1] ?? '')) ?? this.#said.currency
    return currency === undefined ? shown : shown.filter((mark) => !mayMark(mark, currency))
  }
}

function isFault(found: object | string | null): found is StructuralFault {
  return typeof found === 'object' && found !== null && 'kind' in found
}

/** A person mends all of them in one round. */
function alsoTold(first: StructuralFault, { line, problem, remedy }: StructuralFault): StructuralFault {
  const at = line === null ? '' : ` (line ${line})`
  return { ...first, remedy: words`${first.remedy}. Also${at}: ${problem}; ${remedy}` }
}
