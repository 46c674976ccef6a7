// What is wrong with the names of a file's columns: too large, card data, twice, half of a result, missing.

import { isRoundedPan } from '../domain/card-number.ts'
import { holdsCardSecret } from '../domain/card-secrets.ts'
import { CUSTOMER_FIELDS, FIELD_RULES, isVaultOperation, type Operation } from '../domain/instruction.ts'
import { mayHoldPan } from '../domain/pan.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../domain/problem.ts'
import { joined, type Text, words } from '../domain/words.ts'
import { isResultColumn, isSlipOf, type MappedColumn, namesOf, plainName, squeezed } from './columns.ts'
import type { CardPart, Field } from './field-names.ts'
import { LIMITS } from './limits.ts'
import { type HeaderNeeds, listOf } from './said-columns.ts'
import { vocabularyOf } from './vocabulary.ts'

export function findTooLarge(written: readonly string[]): Problem | null {
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

export function findPanInHeader(written: readonly string[]): Problem | null {
  // A sheet without column names begins with a row, whose numbers have lost their last digit.
  const isCard = (name: string) => mayHoldPan(name) || holdsCardSecret(name) || isRoundedPan(name)
  if (!written.some(isCard)) return null
  return {
    problem: 'the first line holds a card number where the column names should be',
    remedy: 'put the column names first; for stored cards use customer_vault_id',
  }
}

/** Lines above the column names are left out of the rows, and must hold no card number all the same. */
export function findCardAbove(texts: readonly string[]): StructuralFault | null {
  if (!texts.some((text) => mayHoldPan(text) || holdsCardSecret(text) || isRoundedPan(text))) return null
  const problem = 'a line above the column names holds a card number'
  return refuse(
    { problem, remedy: 'remove it from the file, and from wherever the file came from' },
    { code: 'card-data' },
  )
}

/** Columns without a name may be many, and so may be those that are only carried through; any other name may be there once. */
export function findDuplicate(written: readonly string[], isCarried: (place: number) => boolean): Problem<Text> | null {
  const seen = new Map<string, string>()
  for (const [place, name] of written.entries()) {
    const key = plainName(name)
    if (key === '' || isCarried(place)) continue
    const first = seen.get(key)
    if (first !== undefined) return twice(first, name, 'have the same name')
    seen.set(key, name)
  }
  return null
}

export function findTwoOfOneField(
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
      const or = words`${{ set: 'map', column: other, field: 'ignore', lead: ', or leave one out of the reading: ' }}`
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

/** Without their references, results would come back as new instructions. */
export function findHalfResults(written: readonly string[], hasReferences: boolean): Problem | null {
  const result = written.find(isResultColumn)
  if (result === undefined || hasReferences) return null
  return {
    problem: `the file has the results' column "${shown(result)}" but no column result_reference`,
    remedy: 'feed results back with all their columns, or remove every column that begins with result_',
  }
}

/** A file of payments must not delete the cards that it was to charge. */
export function findPayments({ operation }: HeaderNeeds, rivals: readonly string[]): Problem<Text> | null {
  const [column] = rivals
  if (column === undefined || operation === undefined || !isVaultOperation(operation)) return null
  const ignored = {
    set: 'map',
    column: shown(column).trim(),
    field: 'ignore',
    lead: ', or ignore it: ',
  } as const
  return {
    problem: `the column "${shown(column)}" speaks of an amount, and a file of the vault has none: it may be a file of payments`,
    remedy: words`take the column out${ignored}`,
  }
}

export function missingFields(meanings: readonly (Field | null)[], needs: HeaderNeeds): readonly Field[] {
  const has = (field: Field) => meanings.includes(field)
  return neededFields(needs, has).filter((field) => !has(field))
}

export function findMissing(
  written: readonly string[],
  meanings: readonly (Field | null)[],
  needs: HeaderNeeds,
): Problem<Text> | null {
  const missing = missingFields(meanings, needs)
  if (missing.length === 0) return null
  const has = (field: Field) => meanings.includes(field)
  const unknown = written.filter((name, i) => name.trim() !== '' && meanings[i] === null)
  const remedies = joined(
    missing.map((field) => remedyFor(field, unknown)),
    '; ',
  )
  const replaces = needs.operation === 'VAULT_UPDATE' ? REPLACES : ''
  const toStore = needs.operation === undefined && has('pmt_numb') && !has('amount') ? TO_STORE : ''
  return {
    problem: `the file has no column ${missing.join(', ')}; its first line has ${listOf(written)}${replaces}`,
    remedy: words`${remedies}${toStore}`,
  }
}

const TO_STORE = words`${{ act: 'use-vault', to: 'create', lead: '; to store the cards in the vault: ' }}`
const REPLACES = '. An update replaces the whole record, and the vault would lose what the file does not have'

function remedyFor(field: Field, unknown: readonly string[]): Text {
  const nearest = nearestTo(field, unknown)
  if (nearest === null) {
    const otherwise = { set: 'map', column: 'COLUMN', field, lead: ', or map it: ' } as const
    return REMEDIES[field] ?? words`add the column ${field}${otherwise}`
  }
  const mapped = { set: 'map', column: shown(nearest).trim(), field, lead: ', or add ' } as const
  return words`is "${shown(nearest)}" meant? Name it ${field}${mapped}`
}

const FOR_THE_FILE = ', or set it for the whole file, for example '
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
  return words`add the column ${field}, ${what}${{ set: 'map', column: 'COLUMN', field, lead: ', or map the column that holds it: ' }}`
}

/** What every row needs, whatever is in it. What only some rows need is asked of those rows. */
function neededFields({ operation, currency, cards }: HeaderNeeds, has: (field: Field) => boolean): readonly Field[] {
  if (operation === undefined) return ['transaction_type']
  const rules = FIELD_RULES[operation]
  const { card } = vocabularyOf({ operation, cards })
  const isNeeded = (field: (typeof asked)[number]) => {
    if (field === 'request_currency' && currency !== undefined) return false
    // A file with card numbers may name stored cards in no row.
    return rules[field] === 'required' || (rules[field] === 'this-or-card' && !(card !== null && has(card.number)))
  }
  const asked = ['amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id'] as const
  const ofCard = card !== null && rules.card === 'required' ? neededOf(card, has) : []
  return [...asked.filter(isNeeded), ...neededOfCustomer(operation), ...ofCard]
}

/** An update replaces the whole record: what the file does not have, the vault would lose. */
function neededOfCustomer(operation: Operation): readonly Field[] {
  switch (operation) {
    case 'VAULT_CREATE':
      return ['first_name', 'last_name']
    case 'VAULT_UPDATE':
      return CUSTOMER_FIELDS.filter((field) => field !== 'address_2')
    default:
      return []
  }
}

/** Of a card that every row has: month and year in one column, or in two. */
function neededOf(card: Readonly<Record<CardPart, Field>>, has: (field: Field) => boolean): readonly Field[] {
  const { number, code, expiry, month, year } = card
  return has(expiry) ? [number, code] : [number, month, year, code]
}

/** The one column whose name is a name of the field, mistyped. */
function nearestTo(field: Field, columns: readonly string[]): string | null {
  const near = columns.filter((column) => namesOf(field).some((name) => isSlipOf(column, name)))
  return near.length === 1 ? (near[0] as string) : null
}
