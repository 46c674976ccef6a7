// Which card a row means: the stored one that it names, or the one whose details it has. Never both.

import type { CardDetails, CardExpiry } from '../domain/card.ts'
import { assert } from '../domain/fault.ts'
import type { Problem } from '../domain/problem.ts'
import { canBe } from './cards/columns.ts'
import type { CardPart, Field } from './field-names.ts'
import {
  parseCardCode,
  parseCardExpiry,
  parseCardNumber,
  parseExpiryMonth,
  parseExpiryYear,
  toExpiry,
} from './fields/card.ts'
import { parseGatewayId } from './fields/identifier.ts'
import type { RowReading } from './row-reading.ts'
import { kindProblem } from './workbook/cell.ts'

/** Where a file has card details. */
export interface CardColumns {
  readonly fields: Readonly<Record<CardPart, Field>>
  /** Month and year of the expiry stand in columns of their own. */
  readonly parted: boolean
  /** An expiry before this has passed; null: it was looked at before. */
  readonly nowMs: number | null
}

export function readTarget(
  row: RowReading,
  columns: CardColumns | null,
): { readonly vaultId: string | null; readonly card: CardDetails | null } {
  const card = readCard(row, columns)
  const takeVaultId = () => row.take('customer_vault_id', parseGatewayId)
  if (columns === null || row.ruleOf('customer_vault_id') !== 'this-or-card') return { vaultId: takeVaultId(), card }
  const namesStored = row.text('customer_vault_id') !== ''
  const hasCard = filledIn(row, columns) !== undefined
  if (namesStored && hasCard) row.fault('customer_vault_id', TWO_CARDS)
  else if (namesStored) return { vaultId: takeVaultId(), card }
  else if (!hasCard) row.fault('customer_vault_id', noCard(columns))
  return { vaultId: null, card }
}

const TWO_CARDS: Problem = {
  problem: 'names a stored card, and the row has card details too: only one of them can be charged',
  remedy: 'leave customer_vault_id empty, or all columns of the card',
}

function noCard({ fields: { number, code, expiry } }: CardColumns): Problem {
  return {
    problem: 'is empty, and the row has no card details either',
    remedy: `write the customer_vault_id of a stored card, or fill in ${number}, ${expiry} and ${code}`,
  }
}

/** The first part of a card that the row has. A masked number beside the id of a stored card is none. */
function filledIn(row: RowReading, { fields }: CardColumns): Field | undefined {
  const { number, code, ...others } = fields
  if (canBe(['number'], row.text(number))) return number
  return [code, ...Object.values(others)].find((field) =>
    field === code ? canBe(['code'], row.text(field)) : row.text(field) !== '',
  )
}

/** null: the row has none, or a fault says what is wrong with it. */
export function readCard(row: RowReading, columns: CardColumns | null): CardDetails | null {
  const rule = row.ruleOf('card')
  assert(columns !== null || rule !== 'required', 'a file of cards has columns of cards')
  if (columns === null) return null
  const filled = filledIn(row, columns)
  if (rule === 'forbidden') {
    if (filled !== undefined) row.fault(filled, NOT_SENT)
    return null
  }
  if (filled === undefined && rule !== 'required') return null
  const { fields } = columns
  const number = part(row, fields.number, (text) => parseCardNumber(text, row.stored(fields.number).kind))
  const expiry = readExpiry(row, columns)
  const code = part(row, fields.code, (text) => parseCardCode(text, number))
  return number === null || expiry === null || code === null ? null : { number, code, expiry }
}

const NOT_SENT: Problem = {
  problem: 'has a value, and the operation of the row takes no card details: it names an order',
  remedy: 'leave all columns of the card empty, or write the operation that is meant in transaction_type',
}

function readExpiry(row: RowReading, { fields, parted, nowMs }: CardColumns): CardExpiry | null {
  const hasParts = row.text(fields.month) !== '' || row.text(fields.year) !== ''
  if (!hasParts && !parted) return part(row, fields.expiry, (text) => parseCardExpiry(text, nowMs))
  if (row.text(fields.expiry) !== '') {
    row.fault(fields.expiry, SAID_TWICE)
    return null
  }
  const month = part(row, fields.month, parseExpiryMonth)
  const year = part(row, fields.year, parseExpiryYear)
  return month === null || year === null ? null : row.keep(fields.year, toExpiry(month, year, nowMs))
}

const SAID_TWICE: Problem = {
  problem: 'has a value beside the columns of month and year',
  remedy: 'leave one of them empty, or take it out of the file',
}

function part<T>(row: RowReading, field: Field, parse: (text: string) => T | Problem): T | null {
  const text = row.text(field)
  if (text === '') row.fault(field, EMPTY)
  return text === '' ? null : row.keep(field, kindProblem(field, row.stored(field).kind) ?? parse(text))
}

const EMPTY: Problem = {
  problem: 'is empty, and a card is sent with its number, expiry and code',
  remedy: 'write it as it is printed on the card',
}
