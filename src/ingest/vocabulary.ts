// Which fields a file may have, by what kind of file it is read as.

import { FIELD_RULES, isVaultOperation, type Operation } from '../domain/instruction.ts'
import { type CardPart, type Field, PAYMENT_CARD, PAYMENT_FIELDS, VAULT_CARD, VAULT_FIELDS } from './field-names.ts'

/** Whether the rows of a file may have card details. Only a process that sends them straight from the file takes them. */
export type CardsTaken = 'refused' | 'taken'

export interface Vocabulary {
  readonly fields: readonly Field[]
  /** The fields that hold the parts of a card; null: card details are not taken. */
  readonly card: Readonly<Record<CardPart, Field>> | null
}

export const PAYMENTS: Vocabulary = { fields: PAYMENT_FIELDS, card: null }
const CARD_PAYMENTS = withCard(PAYMENT_FIELDS, PAYMENT_CARD)
const VAULT: Vocabulary = { fields: VAULT_FIELDS, card: null }
const CARD_VAULT = withCard(VAULT_FIELDS, VAULT_CARD)

/** Of files of every kind, where it is not known yet which one it is: a saved format. */
export const ANY_FILE: Vocabulary = {
  fields: [...new Set([...CARD_PAYMENTS.fields, ...CARD_VAULT.fields])],
  card: PAYMENT_CARD,
}

function withCard(fields: readonly Field[], card: Readonly<Record<CardPart, Field>>): Vocabulary {
  return { fields: [...fields, ...Object.values(card)], card }
}

/** An operation that sends no card has no card columns, even where card details are taken. */
export function vocabularyOf({
  operation,
  cards = 'refused',
}: {
  readonly operation?: Operation | undefined
  readonly cards?: CardsTaken | undefined
}): Vocabulary {
  const takesCard = cards === 'taken' && (operation === undefined || FIELD_RULES[operation].card !== 'forbidden')
  if (operation !== undefined && isVaultOperation(operation)) return takesCard ? CARD_VAULT : VAULT
  return takesCard ? CARD_PAYMENTS : PAYMENTS
}

/** Which part of a card a field holds; null: none that is taken. */
export function cardPartOf(field: Field | null, { card }: Vocabulary): CardPart | null {
  const parts = Object.entries(card ?? {}) as [CardPart, Field][]
  return parts.find(([, name]) => name === field)?.[0] ?? null
}
