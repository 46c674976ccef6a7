// The header line: which column is which field, and what is carried through to the results.

import { unguardCell } from '../domain/formula-guard.ts'
import type { Currency } from '../domain/money.ts'
import { isProblem, type Problem, refuse, type StructuralFault } from '../domain/problem.ts'
import { type Text, words } from '../domain/words.ts'
import { Candidates } from './candidates.ts'
import { type CardKind, type CardMeaning, cardMeaningOf, speaksOfCards } from './cards/columns.ts'
import {
  cardKindsIn,
  fieldOf,
  isRejectColumn,
  isResultColumn,
  type MappedColumn,
  plainName,
  squeezed,
} from './columns.ts'
import type { CardPart, Field } from './field-names.ts'
import { currencyOfMarks, marksInName } from './fields/currency-marks.ts'
import { findDirections, findRivals, saysDirection, speaksOfAmount } from './fields/rivals.ts'
import {
  findDuplicate,
  findHalfResults,
  findMissing,
  findPanInHeader,
  findPayments,
  findTooLarge,
  findTwoOfOneField,
  missingFields,
} from './header-faults.ts'
import { type HeaderNeeds, meaningsOf, notCardsIn, saidPlaces } from './said-columns.ts'
import { notToSendIn, type UnitSaid, unitIn } from './statements/above.ts'
import { inMinorUnits, scaleInName } from './statements/scale.ts'
import type { Found } from './statements/statement.ts'
import { numbered, withoutUnused } from './unused-columns.ts'
import { cardPartOf, type Vocabulary, vocabularyOf } from './vocabulary.ts'

export interface Header {
  /** What the name of the amount's column says of its currency, or a line above the column names. */
  readonly currencyMarks: readonly string[]
  readonly isCurrencyAbove: boolean
  readonly unitAbove: UnitSaid | null
  /** The line above the column names that says that no row is to be sent. */
  readonly notToSend: Found | null
  /** The amounts are in minor units, as a person says and the name of their column does not. */
  readonly isSilentlyMinor: boolean
  /** Where nothing says the currency so far; a mark beside every amount still may. */
  readonly missingCurrency: Problem<Text> | null
  /** Every column as the file names it. */
  readonly written: readonly string[]
  /** The same for finding them again further down. */
  readonly names: { readonly plain: readonly string[]; readonly squeezed: ReadonlySet<string> }
  /** Where each understood field stands. */
  readonly fields: Readonly<Partial<Record<Field, number>>>
  /** Columns that were understood under another name than the gateway's. */
  readonly mapped: readonly { readonly written: string; readonly field: Field }[]
  /** Their places, but for those that a person named. */
  readonly guessed: readonly number[]
  /** For a person: columns that were passed over. */
  readonly notes: readonly string[]
  /** Columns with a name that were not understood; they are carried through. */
  readonly unknown: readonly string[]
  /** Of these, the columns that a person said are none, or that the operation does not use. */
  readonly ignored: readonly string[]
  /** Of the unknown ones, those whose names speak of an amount and that no `=ignore` excludes. */
  readonly rivals: readonly string[]
  /** The places without a meaning here, named or not, whose values may say something of the money of a row. */
  readonly beside: readonly number[]
  /** Of these, the ones that may say that rows are done. */
  readonly mayBeDone: readonly number[]
  /** Of the kind of file that it is read as. */
  readonly vocabulary: Vocabulary
  /** By place: the columns that are read as parts of a card. */
  readonly cardParts: ReadonlyMap<number, CardPart>
  /** Other columns for card data: they may hold nothing that can be it. */
  readonly cards: readonly { readonly place: number; readonly kinds: readonly CardKind[] }[]
  /** Columns whose numbers a person says are no card numbers. */
  readonly notCards: readonly number[]
  /** Columns that are not understood and whose names may mean card data, which their values decide. */
  readonly doubtful: readonly { readonly place: number; readonly meaning: Exclude<CardMeaning, 'certain'> }[]
  /** Some other column than a field shows that the file is about cards. */
  readonly speaksOfCards: boolean
  /** The places whose cells go into the results, in order: all but a former result's or reject's own. */
  readonly carried: readonly number[]
  /** Results fed back: where their references are, and which recorded row each line came from. */
  readonly results: { readonly reference: number; readonly batch: number | null; readonly row: number | null } | null
  /** Of rejects: where the number stands that each row had in its file. */
  readonly rejectRow: number | null
  /** This program wrote the file, as results or as rejects: its cells have the apostrophe of the formula guard. */
  readonly guarded: boolean
}

/** Of a file that lacks columns: what it is refused for, and which of its columns look like them. */
export interface Lacking {
  readonly lacks: { readonly fault: StructuralFault; readonly candidates: Candidates | null } | null
}

export function parseHeader(names: readonly string[], line: number, needs: HeaderNeeds): Header | StructuralFault {
  const read = readHeader(names, line, needs)
  return 'kind' in read || read.lacks === null ? read : read.lacks.fault
}

/** Whether the rows below it hold card data is to be known of a file that lacks columns, too. */
export function readHeader(
  names: readonly string[],
  line: number,
  needs: HeaderNeeds,
): (Header & Lacking) | StructuralFault {
  const guarded = findResults(names) !== null || names.some(isRejectColumn)
  const written = guarded ? names.map(unguardCell) : names
  const vocabulary = vocabularyOf(needs)
  const meant = meaningsOf(written, needs)
  const unreadable = findPanInHeader(written) ?? findTooLarge(written)
  if (unreadable !== null) return refuse(unreadable, { line })
  const refuseNames = (fault: Problem<Text>) => refuse(isMostlyNumbers(written) ? NO_NAMES : fault, { line })
  if (isProblem(meant)) return refuseNames(meant)
  const { meanings, passed, notes } = withoutUnused(meant, written, needs.operation)
  const fields: Partial<Record<Field, number>> = {}
  const results = findResults(written)
  const amount = meanings.indexOf('amount')
  const above = (needs.above ?? []).map((cells, i) => ({ line: i + 1, cells }))
  const unitAbove = unitIn(above)
  const marksOf = (text: string) => (amount === -1 ? [] : marksInName(text))
  const currencyNamed = marksOf(written[amount] ?? '')
  const currencyMarks = currencyNamed.length > 0 ? currencyNamed : marksOf(unitAbove?.unit ?? '')
  const inName = currencyOfMarks(currencyMarks)
  // Whether every amount has a mark is seen in the rows.
  const asked = { ...needs, currency: inName ?? needs.currency ?? (amount === -1 ? undefined : ANY_CURRENCY) }
  const places = written.map((_, i) => i)
  const cardParts = cardPartsIn(meanings, vocabulary)
  const cards = otherCardColumns(written, cardParts, results !== null)
  const cardPlaces = [...cards.map(({ place }) => place), ...cardParts.keys()]
  const isOurs = (i: number) => {
    const name = plainName(written[i] as string)
    return isRejectColumn(name) || (results !== null && name.startsWith('result_'))
  }
  const unread = places.filter((i) => meanings[i] === null && !cardPlaces.includes(i) && !isOurs(i))
  const unknown = unread.filter((i) => (written[i] as string).trim() !== '')
  const ignored = [
    ...saidPlaces(needs.map ?? [], written, ({ field, mayBeDone }) => field === null && !mayBeDone),
    ...passed,
  ]
  const rivals = unknown.filter((i) => !ignored.includes(i) && speaksOfAmount(written[i] as string))
  const directions = unknown.filter((i) => !ignored.includes(i) && saysDirection(written[i] as string))
  const namesAt = (some: readonly number[]) => some.map((i) => written[i] as string)
  const unfit =
    findDuplicate(written, (i) => unread.includes(i)) ??
    findTwoOfOneField(written, meanings, needs.map ?? [], fields) ??
    findHalfResults(written, results !== null)
  const missing = unfit === null ? findMissing(written, meanings, asked) : null
  const fault =
    unfit ??
    missing ??
    findPayments(needs, namesAt(rivals)) ??
    findRivals(written, amountIn(fields, written, needs.map ?? []), namesAt(rivals)) ??
    (fields.amount === undefined ? null : findDirections(namesAt(directions)))
  if (fault !== null && missing === null) return refuseNames(fault)
  const said = notCardsIn(written, needs.notCards ?? [], cardPlaces)
  if (isProblem(said) && missing === null) return refuse(said, { line })
  const notCards = isProblem(said) ? [] : said
  const candidatesFor = (fields: readonly Field[]) =>
    isMostlyNumbers(written)
      ? null
      : new Candidates(
          written,
          fields,
          places.filter((i) => (meant[i] ?? null) === null),
        )
  return {
    lacks:
      missing === null ? null : { fault: refuseNames(missing), candidates: candidatesFor(missingFields(meant, needs)) },
    currencyMarks,
    isCurrencyAbove: currencyNamed.length === 0,
    unitAbove,
    notToSend: notToSendIn(above),
    isSilentlyMinor: needs.scale === 'minor' && amount !== -1 && scaleInName(written[amount] as string) === null,
    missingCurrency: findMissing(written, meanings, { ...needs, currency: inName ?? needs.currency }),
    written,
    names: { plain: written.map(plainName), squeezed: new Set(written.map(squeezed)) },
    fields,
    mapped: mappedIn(written, meanings),
    guessed: guessedIn(written, meanings, needs.map ?? []),
    notes,
    unknown: namesAt(unknown),
    ignored: namesAt(ignored),
    rivals: namesAt(rivals),
    beside: unread.filter((i) => !ignored.includes(i)),
    mayBeDone: saidPlaces(needs.map ?? [], written, ({ mayBeDone }) => mayBeDone === true),
    vocabulary,
    cardParts,
    cards,
    notCards,
    doubtful: unknown.flatMap((place) => {
      const meaning = cardMeaningOf(written[place] as string)
      return meaning === null || meaning === 'certain' || notCards.includes(place) ? [] : [{ place, meaning }]
    }),
    speaksOfCards: cardPlaces.length > 0 || namesAt(unknown).some(speaksOfCards),
    carried: places.filter((i) => !isOurs(i)),
    results,
    rejectRow: placeOf('reject_row', written),
    guarded,
  }
}

/** Stands for one that the rows may still say. */
const ANY_CURRENCY = 'XXX' as Currency

function mappedIn(written: readonly string[], meanings: readonly (Field | null)[]): Header['mapped'] {
  return written.flatMap((name, i) => {
    const field = meanings[i] ?? null
    return field === null || plainName(name) === field ? [] : [{ written: name, field }]
  })
}

function guessedIn(
  written: readonly string[],
  meanings: readonly (Field | null)[],
  map: readonly MappedColumn[],
): Header['guessed'] {
  const said = saidPlaces(map, written, ({ field }) => field !== null)
  return written.flatMap((name, i) => {
    const field = meanings[i] ?? null
    return field === null || plainName(name) === field || said.includes(i) ? [] : [i]
  })
}

/** The results of a vault file say when a card expires, in a column that this program wrote. */
function otherCardColumns(
  written: readonly string[],
  cardParts: Header['cardParts'],
  isResults: boolean,
): Header['cards'] {
  return written
    .map((name, place) => ({ place, kinds: isResults && isResultColumn(name) ? [] : cardKindsIn(name) }))
    .filter(({ place, kinds }) => kinds.length > 0 && !cardParts.has(place))
}

function cardPartsIn(meanings: readonly (Field | null)[], vocabulary: Vocabulary): ReadonlyMap<number, CardPart> {
  return new Map(
    meanings.flatMap((field, place) => {
      const part = cardPartOf(field, vocabulary)
      return part === null ? [] : [[place, part] as const]
    }),
  )
}

function amountIn(
  { amount }: Readonly<Partial<Record<Field, number>>>,
  written: readonly string[],
  map: readonly MappedColumn[],
): Parameters<typeof findRivals>[1] {
  if (amount === undefined) return null
  return { place: amount, isSaid: saidPlaces(map, written, ({ field }) => field === 'amount').includes(amount) }
}

/** The carried columns, as the results name them again: no name twice. */
export function carriedColumns(header: Header): readonly string[] {
  const { carried, written, fields, isSilentlyMinor } = header
  return numbered(
    carried.map((i) => {
      const name = written[i] as string
      return i === fields.amount && isSilentlyMinor ? inMinorUnits(name) : name
    }),
  )
}

/** Every column that was understood, under its own name or another, in the order of the file. */
export function understoodColumns(header: Header): readonly { readonly written: string; readonly field: Field }[] {
  const places = Object.entries(header.fields) as [Field, number][]
  return places
    .toSorted(([, a], [, b]) => a - b)
    .map(([field, place]) => ({ written: header.written[place] as string, field }))
}

function findResults(written: readonly string[]): Header['results'] {
  const reference = placeOf('result_reference', written)
  if (reference === null) return null
  return { reference, batch: placeOf('result_batch', written), row: placeOf('result_row', written) }
}

function placeOf(name: string, written: readonly string[]): number | null {
  const place = written.findIndex((column) => plainName(column) === name)
  return place === -1 ? null : place
}

/** Whether a record is the header again, as where two files were pasted together. */
export function isHeaderAgain({ names, written }: Header, cells: readonly string[]): boolean {
  return cells.length === written.length && cells.every((cell, i) => plainName(cell) === names.plain[i])
}

/** Whether a record names columns again, but others or in another order: the rows below it would be read wrongly. */
export function namesColumns({ names, fields, vocabulary }: Header, cells: readonly string[]): boolean {
  // A row of words with an amount or an id where it belongs is a row.
  const numbers = [fields.amount, fields.request_ref_po_id, fields.customer_vault_id]
  if (numbers.some((place) => isNumberLike(cells[place ?? -1] ?? ''))) return false
  let [known, others] = [0, 0]
  const filled = cells.reduce((count, cell) => (cell.trim() === '' ? count : count + 1), 0)
  for (const cell of cells) {
    if (cell.trim() === '') continue
    if (isName(cell) && (names.squeezed.has(squeezed(cell)) || fieldOf(cell, vocabulary) !== undefined)) known += 1
    else others += 1
    if (others >= filled / 2) return false
  }
  return known >= 2
}

const NO_NAMES: Problem<Text> = {
  problem: 'the first line is mostly numbers, so that it does not seem to name the columns',
  remedy: words`put the line with the column names first, and delete what is above it${{ set: 'header-row', to: 'N', lead: ', or say which line it is with ' }}`,
}

/** As where rows begin at once, or an export begins with a line about itself. */
function isMostlyNumbers(written: readonly string[]): boolean {
  const filled = written.filter((name) => name.trim() !== '')
  return filled.filter(isNumberLike).length > filled.length / 2
}

/** Asked in two steps: one pattern for both would take the square of a long cell. */
function isNumberLike(cell: string): boolean {
  return /\d/.test(cell) && !/\p{L}/u.test(cell)
}

/** A number is never a column name, even where a column is called 1. */
function isName(cell: string): boolean {
  return cell.length <= NAME_CHARACTERS && /\p{L}/u.test(cell)
}

const NAME_CHARACTERS = 100
