// The columns this program understands, under the gateway's names and under those that people give them.

import { toLowerAscii } from '../domain/keyword.ts'
import { isProblem, type Problem, shown } from '../domain/problem.ts'
import { FAMILY_RESULT_COLUMN, REJECT_COLUMNS, RESULT_COLUMNS, VAULT_RESULT_COLUMNS } from '../domain/result-columns.ts'
import { type CardKind, cardKindsOf, saysExpiry } from './cards/columns.ts'
import { type CardPart, type Field, PAYMENT_CARD, SYNONYMS, VAULT_CARD } from './field-names.ts'
import { PAYMENTS, type Vocabulary } from './vocabulary.ts'

/** As one word too, `numerodecarte`; card-columns.ts knows them by their words. */
const CARD_NAMES = [
  ...[
    'pmt_numb',
    'pmt_key',
    'pmt_expiry',
    'pan',
    'card_number',
    'card_no',
    'cc_number',
    'credit_card',
    'credit_card_number',
  ],
  ...['cvv', 'cvv2', 'cvc', 'cvc2', 'csc', 'card_cvv', 'card_cvc', 'security_code', 'card_security_code'],
  ...['card_expiry', 'card_expiry_date', 'card_exp_mm', 'card_exp_yy'],
  ...['kartennummer', 'kreditkartennummer', 'kartenprüfnummer', 'kartenprüfziffer', 'prüfziffer'],
  ...['numéro_de_carte', 'numéro_carte', 'cryptogramme', 'número_de_tarjeta', 'número_tarjeta'],
  ...['numero_di_carta', 'numero_carta', 'numero_della_carta', 'codice_di_sicurezza', 'código_de_seguridad'],
]

/** A name as it is compared where only letter case, quotation marks and what cannot be seen may differ. */
export function plainName(name: string): string {
  if (PLAIN.test(name)) return name.trim().toLowerCase()
  return name
    .replace(/[\p{Cf}"]/gu, '')
    .trim()
    .normalize('NFC')
    .toLowerCase()
}

/** Nothing in it but what most cells have: the long way round costs, and every row is asked. */
const PLAIN = /^[\w .-]*$/

/** `Order ID`, `order-id`, `orderId` and `"ORDER_ID"` are one name; so are `Währung` and `wahrung`. */
export function squeezed(name: string): string {
  if (PLAIN.test(name)) return name.replace(/[ _.-]+/g, '').toLowerCase()
  return name
    .normalize('NFKD')
    .replace(/[\s\p{M}\p{Cf}_./'’"-]+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
}

const CARD_NAME_SET: ReadonlySet<string> = new Set(CARD_NAMES.map(squeezed))
const RESULT_NAME_SET: ReadonlySet<string> = new Set([...RESULT_COLUMNS, ...VAULT_RESULT_COLUMNS, FAMILY_RESULT_COLUMN])
const REJECT_NAME_SET: ReadonlySet<string> = new Set(REJECT_COLUMNS)

export function fieldOf(column: string, vocabulary: Vocabulary = PAYMENTS): Field | undefined {
  return fieldsByName(vocabulary).get(squeezed(column))
}

const BY_NAME = new Map<Vocabulary, ReadonlyMap<string, Field>>()

function fieldsByName(vocabulary: Vocabulary): ReadonlyMap<string, Field> {
  const known = BY_NAME.get(vocabulary)
  if (known !== undefined) return known
  // A field's own name goes before what another is called as well.
  const names = vocabulary.fields.flatMap((field) => SYNONYMS[field].map((name) => [squeezed(name), field] as const))
  const own = vocabulary.fields.map((field) => [squeezed(field), field] as const)
  const byName = new Map([...names, ...own])
  BY_NAME.set(vocabulary, byName)
  return byName
}

/** Columns meant for card data, whether it is taken or not. */
export function isCardColumn(column: string): boolean {
  return cardKindsIn(column).length > 0
}

/** What such a column may not hold; empty: it is none. A name that is known as one word only may hold nothing. */
export function cardKindsIn(column: string): readonly CardKind[] {
  const kinds = cardKindsOf(column)
  return kinds.length === 0 && CARD_NAME_SET.has(squeezed(column)) ? ['any'] : kinds
}

export function isResultColumn(column: string): boolean {
  return RESULT_NAME_SET.has(plainName(column))
}

/** What a person said of a column by name; null: it is carried through and not understood. */
export interface MappedColumn {
  readonly column: string
  readonly field: Field | null
  /** It says that rows are done, and they are meant all the same; of rows that are not done the file is refused. */
  readonly mayBeDone?: true
}

/** As the command line or a saved format has it; an empty field or `ignore` takes a column's meaning away, `done` what it says is done. */
export interface SaidColumn {
  readonly column: string
  readonly field: string
}

/** Checked as far as it can be without a file. `vocabulary`: of the kind of file that it is said of. */
export function parseColumnMap(
  said: readonly SaidColumn[],
  vocabulary: Vocabulary = PAYMENTS,
): readonly MappedColumn[] | Problem {
  const map: MappedColumn[] = []
  for (const { column, field: name } of said) {
    const mayBeDone = toLowerAscii(name.trim()) === 'done'
    const field = mayBeDone ? null : parseMappedField(name, vocabulary)
    if (isProblem(field)) return field
    const reserved = reservedProblem(column, field)
    if (reserved !== null) return reserved
    const again = map.find((entry) => plainName(entry.column) === plainName(column))
    const rival = field === null ? undefined : map.find((entry) => entry.field === field)
    if (again !== undefined || rival !== undefined) {
      const columns = `"${shown((again ?? rival)?.column ?? '')}" and "${shown(column)}"`
      return {
        problem:
          again === undefined ? `${columns} are both mapped to ${field}` : `${columns} are one column, mapped twice`,
        remedy: 'map each column once, and one column to a field',
      }
    }
    map.push({ column, field, ...(mayBeDone ? { mayBeDone } : {}) })
  }
  return map
}

function parseMappedField(name: string, vocabulary: Vocabulary): Field | null | Problem {
  const { fields, card } = vocabulary
  const wanted = toLowerAscii(name.trim())
  if (wanted === '' || wanted === 'ignore') return null
  const field = fields.find((known) => known === wanted)
  if (field !== undefined) return field
  if (card === null && (isCardColumn(name) || partOf(wanted) !== null)) {
    return {
      problem: `"${shown(name)}" is a field for card data, which is not taken here`,
      remedy: 'use customer_vault_id (a stored card) or request_ref_po_id (an order)',
    }
  }
  const meant = fieldOf(name, vocabulary) ?? nearestName(name, fields)
  return {
    problem: `"${shown(name)}" is not a field`,
    remedy: `${meant === null ? '' : `is ${meant} meant? The `}fields are ${fields.join(', ')}, or ignore`,
  }
}

/** Which part of a card the field holds; null: none. */
function partOf(field: string | null): CardPart | null {
  const parts = [...Object.entries(PAYMENT_CARD), ...Object.entries(VAULT_CARD)] as [CardPart, Field][]
  return parts.find(([, name]) => name === field)?.[0] ?? null
}

/** A PIN or a track is no part of a card that is sent. */
function mayHold(column: string, part: CardPart): boolean {
  const kinds = cardKindsIn(column)
  if (part === 'number') return kinds.includes('number')
  if (part === 'code') return kinds.includes('code') || kinds.includes('check')
  return kinds.length === 1 && kinds[0] === 'any' && saysExpiry(column)
}

function reservedProblem(column: string, field: Field | null): Problem | null {
  if (column.trim() === '') {
    return { problem: 'a column without a name cannot be mapped', remedy: 'give the column a name in the file' }
  }
  const part = partOf(field)
  if (isCardColumn(column) && (part === null || !mayHold(column, part))) {
    return {
      problem: `"${shown(column)}" is a column for card data, which is not taken as anything else`,
      remedy: 'take the column out of the file; if it holds something else, rename it there',
    }
  }
  if (!isResultColumn(column) && !isRejectColumn(column)) return null
  return {
    problem: `"${shown(column)}" is a column of results or rejects`,
    remedy: 'map the columns of the input only',
  }
}

/** The one name that was meant and mistyped; null: none, or more than one could be. */
export function nearestName<T extends string>(written: string, names: readonly T[]): T | null {
  const near = names.filter((name) => isSlipOf(written, name))
  return near.length === 1 ? (near[0] as T) : null
}

/** Shorter words are each other's neighbours: month and monto, order and owner. */
const LETTERS_SURE = 6

/**
 * One letter too many, too few or another one, or two letters swapped, and never the first letter or a digit. More than
 * that is another word, and a column proposed for it would move money by what it holds.
 */
export function isSlipOf(written: string, name: string): boolean {
  const [a, b] = [squeezed(written), squeezed(name)]
  if (a === b || b.length < LETTERS_SURE || a[0] !== b[0] || digitsOf(a) !== digitsOf(b)) return false
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start += 1
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const [inA, inB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const isSwap = inA.length === 2 && inB.length === 2 && inA[0] === inB[1] && inA[1] === inB[0]
  return isSwap || (inA.length <= 1 && inB.length <= 1)
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** What a file of rejects says about its rows: nothing of it is the row's. */
export function isRejectColumn(column: string): boolean {
  return REJECT_NAME_SET.has(plainName(column))
}

/** Every name a field goes by, squeezed; for finding what a mistyped column was meant to be. */
export function namesOf(field: Field): readonly string[] {
  return [field, ...SYNONYMS[field]].map(squeezed)
}
