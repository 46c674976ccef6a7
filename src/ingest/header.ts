// The header line: which column is which field, what is carried through to the results, and what is missing.

import { isRoundedPan } from '../domain/card-number.ts'
import { holdsCardSecret } from '../domain/card-secrets.ts'
import { unguardCell } from '../domain/formula-guard.ts'
import { FIELD_RULES, type Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { mayHoldPan } from '../domain/pan.ts'
import { isProblem, type Problem, refuse, type StructuralFault, shown } from '../domain/problem.ts'
import { joined, type SettingName, type Text, words } from '../domain/words.ts'
import { type CardKind, type CardMeaning, cardMeaningOf, speaksOfCards } from './cards/columns.ts'
import {
  cardKindsIn,
  type Field,
  fieldOf,
  isRejectColumn,
  isResultColumn,
  isSlipOf,
  type MappedColumn,
  namesOf,
  nearestName,
  plainName,
  squeezed,
} from './columns.ts'
import { findDirections, findRivals, saysDirection, speaksOfAmount } from './fields/rivals.ts'
import { LIMITS } from './limits.ts'

export interface Header {
  /** Every column as the file names it. */
  readonly written: readonly string[]
  /** The same for finding them again further down. */
  readonly names: { readonly plain: readonly string[]; readonly squeezed: ReadonlySet<string> }
  /** Where each understood field stands. */
  readonly fields: Readonly<Partial<Record<Field, number>>>
  /** Columns that were understood under another name than the gateway's. */
  readonly mapped: readonly { readonly written: string; readonly field: Field }[]
  /** Columns with a name that were not understood; they are carried through. */
  readonly unknown: readonly string[]
  /** Of these, the columns that a person said are none. */
  readonly ignored: readonly string[]
  /** Of the unknown ones, those whose names speak of an amount and that no `=ignore` excludes. */
  readonly rivals: readonly string[]
  /** Beside an amount: the places without a meaning here, named or not, whose values may say which way the money goes. */
  readonly beside: readonly number[]
  /** Columns for card data: they may hold nothing that can be it. */
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
  /** This program wrote the file, as results or as rejects: its cells have the apostrophe of the formula guard. */
  readonly guarded: boolean
}

export interface HeaderNeeds {
  readonly operation?: Operation | undefined
  readonly currency?: Currency | undefined
  /** What a person said of columns; it goes before what their names say. */
  readonly map?: readonly MappedColumn[] | undefined
  readonly notCards?: readonly string[] | undefined
}

export function parseHeader(names: readonly string[], line: number, needs: HeaderNeeds): Header | StructuralFault {
  const guarded = findResults(names) !== null || names.some(isRejectColumn)
  const written = guarded ? names.map(unguardCell) : names
  const meanings = meaningsOf(written, needs.map ?? [])
  const unreadable = findPanInHeader(written) ?? findTooLarge(written)
  if (unreadable !== null) return refuse(unreadable, { line })
  const refuseNames = (fault: Problem<Text>) => refuse(isMostlyNumbers(written) ? NO_NAMES : fault, { line })
  if (isProblem(meanings)) return refuseNames(meanings)
  const fields: Partial<Record<Field, number>> = {}
  const results = findResults(written)
  const places = written.map((_, i) => i)
  const cards = written
    .map((name, place) => ({ place, kinds: cardKindsIn(name) }))
    .filter(({ kinds }) => kinds.length > 0)
  const cardPlaces = cards.map(({ place }) => place)
  const isOurs = (i: number) => {
    const name = plainName(written[i] as string)
    return isRejectColumn(name) || (results !== null && name.startsWith('result_'))
  }
  const unread = places.filter((i) => meanings[i] === null && !cardPlaces.includes(i) && !isOurs(i))
  const unknown = unread.filter((i) => (written[i] as string).trim() !== '')
  const ignored = saidPlaces(needs.map ?? [], written, (field) => field === null)
  const rivals = unknown.filter((i) => !ignored.includes(i) && speaksOfAmount(written[i] as string))
  const directions = unknown.filter((i) => !ignored.includes(i) && saysDirection(written[i] as string))
  const namesAt = (some: readonly number[]) => some.map((i) => written[i] as string)
  const fault =
    findDuplicate(written) ??
    findTwoOfOneField(written, meanings, needs.map ?? [], fields) ??
    findHalfResults(written) ??
    findMissing(written, meanings, needs) ??
    findRivals(written, amountIn(fields, written, needs.map ?? []), namesAt(rivals)) ??
    (fields.amount === undefined ? null : findDirections(namesAt(directions)))
  if (fault !== null) return refuseNames(fault)
  const notCards = notCardsIn(written, needs.notCards ?? [], cardPlaces)
  if (isProblem(notCards)) return refuse(notCards, { line })
  return {
    written,
    names: { plain: written.map(plainName), squeezed: new Set(written.map(squeezed)) },
    fields,
    mapped: places.flatMap((i) => {
      const [name, field] = [written[i] as string, meanings[i] ?? null]
      return field === null || plainName(name) === field ? [] : [{ written: name, field }]
    }),
    unknown: namesAt(unknown),
    ignored: namesAt(ignored),
    rivals: namesAt(rivals),
    beside: fields.amount === undefined ? [] : unread.filter((i) => !ignored.includes(i)),
    cards,
    notCards,
    doubtful: unknown.flatMap((place) => {
      const meaning = cardMeaningOf(written[place] as string)
      return meaning === null || meaning === 'certain' || notCards.includes(place) ? [] : [{ place, meaning }]
    }),
    speaksOfCards: cards.length > 0 || namesAt(unknown).some(speaksOfCards),
    carried: places.filter((i) => !isOurs(i)),
    results,
    guarded,
  }
}

/** The places of the columns that a person says hold no card numbers. */
function notCardsIn(
  written: readonly string[],
  said: readonly string[],
  cards: readonly number[],
): readonly number[] | Problem<Text> {
  const places: number[] = []
  for (const column of said) {
    const place = placeOf(column, written, 'not-a-card')
    if (typeof place !== 'number') return place
    if (cards.includes(place))
      return {
        problem: words`${{ set: 'not-a-card', to: null }} names the column "${shown(column)}", whose name says that it is for card data`,
        remedy: 'take the column out of the file; card data never travels through this program',
      }
    places.push(place)
  }
  return places
}

/** Where a person said a column is such a field. */
function saidPlaces(
  map: readonly MappedColumn[],
  written: readonly string[],
  isSuch: (field: Field | null) => boolean,
): readonly number[] {
  return map.flatMap(({ column, field }) => {
    const place = isSuch(field) ? placeOf(column, written) : null
    return typeof place === 'number' ? [place] : []
  })
}

function amountIn(
  { amount }: Readonly<Partial<Record<Field, number>>>,
  written: readonly string[],
  map: readonly MappedColumn[],
): Parameters<typeof findRivals>[1] {
  if (amount === undefined) return null
  return { place: amount, isSaid: saidPlaces(map, written, (field) => field === 'amount').includes(amount) }
}

const NO_NAMES: Problem = {
  problem: 'the first line is mostly numbers, so that it does not seem to name the columns',
  remedy: 'put the line with the column names first, and delete what is above it',
}

/** As where rows begin at once, or an export begins with a line about itself. */
function isMostlyNumbers(written: readonly string[]): boolean {
  const filled = written.filter((name) => name.trim() !== '')
  return filled.filter(isNumberLike).length > filled.length / 2
}

/** By place: the field that the column is read as; null where it is carried through only. */
function meaningsOf(written: readonly string[], map: readonly MappedColumn[]): (Field | null)[] | Problem<Text> {
  const meanings = written.map((name) => fieldOf(name) ?? null)
  const said = new Map<number, Field | null>()
  for (const { column, field } of map) {
    const place = placeOf(column, written)
    if (typeof place !== 'number') return place
    if (said.has(place)) {
      const name = shown(written[place] as string)
      return { problem: words`${{ set: 'map', to: null }} names the column "${name}" twice`, remedy: 'map it once' }
    }
    said.set(place, field)
  }
  for (const [place, field] of said) {
    meanings[place] = field
    // A synonym gives way to what was said; the gateway's own name does not, and both are refused below.
    for (const [i, name] of written.entries()) {
      if (field !== null && !said.has(i) && meanings[i] === field && plainName(name) !== field) meanings[i] = null
    }
  }
  return meanings
}

/** By its name as written; where no column has it, by the name that differs in blanks, accents and the like only. */
function placeOf(column: string, written: readonly string[], set: SettingName = 'map'): number | Problem<Text> {
  const places = written.map((_, i) => i)
  const exact = places.filter((i) => plainName(written[i] as string) === plainName(column))
  const found = exact.length > 0 ? exact : places.filter((i) => squeezed(written[i] as string) === squeezed(column))
  const [place] = found
  if (place !== undefined && found.length === 1) return place
  const names = written.filter((name) => name.trim() !== '')
  if (place !== undefined) {
    return {
      problem: words`${{ set, to: null }} "${shown(column)}" could mean ${found.map((i) => `"${shown(written[i] as string)}"`).join(' or ')}`,
      remedy: 'write the name exactly as the file has it',
    }
  }
  const nearest = nearestName(column, names)
  return {
    problem: words`the file has no column "${shown(column)}", which ${{ set, to: null }} or the saved format names; its first line has ${listOf(names)}`,
    remedy:
      nearest === null
        ? 'write the name as the file has it'
        : `is "${shown(nearest)}" meant? Write it as the file has it`,
  }
}

function listOf(names: readonly string[]): string {
  const found = names.slice(0, 30).map((name) => `"${shown(name)}"`)
  return `${found.join(', ')}${names.length > 30 ? ` and ${names.length - 30} more` : ''}`
}

function findTooLarge(written: readonly string[]): Problem | null {
  if (written.length > LIMITS.columns) {
    return {
      problem: `the first line has ${written.length} columns; ${LIMITS.columns} are the most`,
      remedy: 'take out the columns that are not needed, or look for a wrong delimiter',
    }
  }
  if (written.reduce((sum, name) => sum + name.length, 0) <= LIMITS.headerCharacters) return null
  return {
    problem: `the column names are longer than ${LIMITS.headerCharacters} characters together`,
    remedy: 'the first line must hold the column names only: look for a quotation mark in it that is never closed',
  }
}

/** The carried columns, as the results name them again. */
export function carriedColumns(header: Header): readonly string[] {
  return header.carried.map((i) => header.written[i] as string)
}

/** Every column that was understood, under its own name or another, in the order of the file. */
export function understoodColumns(header: Header): readonly { readonly written: string; readonly field: Field }[] {
  const places = Object.entries(header.fields) as [Field, number][]
  return places
    .toSorted(([, a], [, b]) => a - b)
    .map(([field, place]) => ({ written: header.written[place] as string, field }))
}

function findPanInHeader(written: readonly string[]): Problem | null {
  // A sheet without column names begins with a row, whose numbers have lost their last digit.
  const isCard = (name: string) => mayHoldPan(name) || holdsCardSecret(name) || isRoundedPan(name)
  if (!written.some(isCard)) return null
  return {
    problem: 'the first line holds a card number where the column names should be',
    remedy: 'card numbers never travel through this program: use customer_vault_id, and put the column names first',
  }
}

/** Columns without a name may be many; any other name may be there once. */
function findDuplicate(written: readonly string[]): Problem<Text> | null {
  const seen = new Map<string, string>()
  for (const name of written) {
    const key = plainName(name)
    if (key === '') continue
    const first = seen.get(key)
    if (first !== undefined) return twice(first, name, 'have the same name')
    seen.set(key, name)
  }
  return null
}

function findTwoOfOneField(
  written: readonly string[],
  meanings: readonly (Field | null)[],
  map: readonly MappedColumn[],
  fields: Partial<Record<Field, number>>,
): Problem<Text> | null {
  const isSaid = (name: string) => map.some(({ column }) => squeezed(column) === squeezed(name))
  for (const [i, field] of meanings.entries()) {
    if (field === null) continue
    const place = fields[field]
    if (place !== undefined) {
      const [first, second] = [written[place] as string, written[i] as string]
      const other = shown((isSaid(second) ? first : second).trim())
      const or = words`${{ set: 'map', to: `${other}=ignore`, lead: ', or leave one out of the reading: ' }}`
      return twice(first, second, `both mean ${field}`, or)
    }
    fields[field] = i
  }
  return null
}

function twice(first: string, second: string, why: string, or: Text = ''): Problem<Text> {
  return {
    problem: `the columns "${shown(first)}" and "${shown(second)}" ${why}`,
    remedy: words`remove or rename one of them${or}`,
  }
}

function findResults(written: readonly string[]): Header['results'] {
  const place = (name: string) => {
    const i = written.findIndex((column) => plainName(column) === name)
    return i === -1 ? null : i
  }
  const reference = place('result_reference')
  return reference === null ? null : { reference, batch: place('result_batch'), row: place('result_row') }
}

/** Without their references, results would come back as new instructions. */
function findHalfResults(written: readonly string[]): Problem | null {
  const result = written.find(isResultColumn)
  if (result === undefined || findResults(written) !== null) return null
  return {
    problem: `the file has the results' column "${shown(result)}" but no column result_reference`,
    remedy: 'feed results back with all their columns, or remove every column that begins with result_',
  }
}

function findMissing(
  written: readonly string[],
  meanings: readonly (Field | null)[],
  needs: HeaderNeeds,
): Problem<Text> | null {
  const missing = neededFields(needs).filter((field) => !meanings.includes(field))
  if (missing.length === 0) return null
  const unknown = written.filter((name, i) => name.trim() !== '' && meanings[i] === null)
  return {
    problem: `the file has no column ${missing.join(', ')}; its first line has ${listOf(written)}`,
    remedy: joined(
      missing.map((field) => remedyFor(field, unknown)),
      '; ',
    ),
  }
}

function remedyFor(field: Field, unknown: readonly string[]): Text {
  const nearest = nearestTo(field, unknown)
  if (nearest === null) {
    const otherwise = { set: 'map', to: `COLUMN=${field}`, lead: ', or say which column it is: ' } as const
    return REMEDIES[field] ?? words`add the column ${field}${otherwise}`
  }
  const mapped = { set: 'map', to: `${shown(nearest).trim()}=${field}`, lead: ', or say ' } as const
  return words`is "${shown(nearest)}" meant? Name it ${field}${mapped}`
}

const FOR_THE_FILE = ', or say it for the whole file, for example '
const REMEDIES: Readonly<Partial<Record<Field, Text>>> = {
  transaction_type: words`add the column transaction_type${{ set: 'operation', to: 'REFUND', lead: FOR_THE_FILE }}`,
  request_currency: words`add the column request_currency${{ set: 'currency', to: 'EUR', lead: FOR_THE_FILE }}`,
  // What is proposed here would be refunded or charged, so it is said what it is, and no column is guessed.
  request_ref_po_id: remedyForId(
    'request_ref_po_id',
    "the gateway's id of the earlier transaction (an order number of the shop is something else)",
  ),
  customer_vault_id: remedyForId(
    'customer_vault_id',
    "the gateway's id of the stored card (a customer number is something else)",
  ),
}

function remedyForId(field: Field, what: string): Text {
  return words`add the column ${field}, ${what}${{ set: 'map', to: `COLUMN=${field}`, lead: ', or say which column holds it: ' }}`
}

/** What every row needs, whatever is in it. What only some rows need is asked of those rows. */
function neededFields({ operation, currency }: HeaderNeeds): readonly Field[] {
  if (operation === undefined) return ['transaction_type']
  const rules = FIELD_RULES[operation]
  const asked = ['amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id'] as const
  return asked.filter(
    (field) => rules[field] === 'required' && (field !== 'request_currency' || currency === undefined),
  )
}

/** The one column whose name is a name of the field, mistyped. */
function nearestTo(field: Field, columns: readonly string[]): string | null {
  const near = columns.filter((column) => namesOf(field).some((name) => isSlipOf(column, name)))
  return near.length === 1 ? (near[0] as string) : null
}

/** Whether a record is the header again, as where two files were pasted together. */
export function isHeaderAgain({ names, written }: Header, cells: readonly string[]): boolean {
  return cells.length === written.length && cells.every((cell, i) => plainName(cell) === names.plain[i])
}

/** Whether a record names columns again, but others or in another order: the rows below it would be read wrongly. */
export function namesColumns({ names, fields }: Header, cells: readonly string[]): boolean {
  // A row of words with an amount or an id where it belongs is a row.
  const numbers = [fields.amount, fields.request_ref_po_id, fields.customer_vault_id]
  if (numbers.some((place) => isNumberLike(cells[place ?? -1] ?? ''))) return false
  let [known, others] = [0, 0]
  const filled = cells.reduce((count, cell) => (cell.trim() === '' ? count : count + 1), 0)
  for (const cell of cells) {
    if (cell.trim() === '') continue
    if (isName(cell) && (names.squeezed.has(squeezed(cell)) || fieldOf(cell) !== undefined)) known += 1
    else others += 1
    if (others >= filled / 2) return false
  }
  return known >= 2
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
