// Card data in a record that one record alone shows: refuses the whole file. The finding names the place, never the value.

import { isRoundedPan } from '../../domain/card-number.ts'
import { holdsCardSecret } from '../../domain/card-secrets.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import type { CsvRecord } from '../csv/records.ts'
import type { Field } from '../field-names.ts'
import type { Header } from '../header.ts'
import { type CardKind, canBe, saysExpiry } from './columns.ts'
import { holdsOtherPan } from './evidence.ts'

/** `passed`: forms of numbers that the whole file has shown to be no card numbers; null: that is not known yet. */
export function findCardData(
  header: Header,
  record: CsvRecord,
  rowNo: number,
  passed: ReadonlySet<string> | null,
): StructuralFault | null {
  const at = (i: number) => ({ code: 'card-data' as const, rowNo, line: record.line, column: header.written[i] ?? '' })
  const filled = header.cards.find(({ place, kinds }) => canBe(kinds, record.cells[place] ?? ''))
  if (filled !== undefined) return refuse(inOtherColumn(header, filled), at(filled.place))
  const isNumber = (i: number) => header.cardParts.get(i) === 'number'
  const rounded =
    record.kinds?.findIndex(
      (kind, i) => NUMBER_KINDS.has(kind) && !isNumber(i) && isRoundedPan(record.cells[i] ?? ''),
    ) ?? -1
  if (rounded !== -1) return refuse(ROUNDED, at(rounded))
  const secret = record.cells.findIndex(holdsCardSecret)
  if (secret !== -1) return refuse(SECRET, at(secret))
  const pan = passed === null ? -1 : record.cells.findIndex((cell, i) => !isNumber(i) && holdsOtherPan(cell, passed))
  return pan === -1 ? null : refuse(NUMBER, at(pan))
}

const NUMBER_KINDS: ReadonlySet<string> = new Set(['whole', 'number', 'rescaled', 'stale', 'covered'])
const ROUNDED: Problem = {
  problem: 'holds a number that may be a card number whose last digits the spreadsheet has made zeros',
  remedy:
    'if it is one, remove it from the file, and from wherever the file came from; if not, format the column as Text and fill it again from the source',
}
const SECRET: Problem = {
  problem: 'holds the security code or the magnetic track of a card, which may never be kept',
  remedy: 'remove it from the file, and from wherever the file came from',
}
const NUMBER: Problem = {
  problem: 'holds a card number',
  remedy: 'remove it from the file, and from wherever the file came from',
}

type CardColumn = Header['cards'][number]

/** A column that is for card data by its name and is not read as a part of a card. */
function inOtherColumn({ vocabulary, written }: Header, { place, kinds }: CardColumn): Problem<Text> {
  if (vocabulary.card === null) return NOT_TAKEN
  const field = meantBy(kinds, vocabulary.card)
  const name = written[place] ?? ''
  if (field === null && saysExpiry(name))
    return {
      problem: 'has expiry dates of cards and is not read as a part of a card',
      remedy: 'take the column out of the file',
    }
  const column = shown(name).trim()
  return {
    problem: 'holds card data and is not read as a part of a card',
    remedy:
      field === null
        ? 'take the column out of the file, or leave it empty'
        : words`leave it empty, or name it ${field}${{ set: 'map', column, field, lead: ', or add ' }}`,
  }
}

/** What the name does not say is not proposed: it may be a PIN. */
function meantBy(kinds: readonly CardKind[], card: NonNullable<Header['vocabulary']['card']>): Field | null {
  if (kinds.includes('number')) return card.number
  return kinds.includes('code') ? card.code : null
}

const TO_RUN = { act: 'run-file', lead: '; sales and authorizations with card details are sent by ' } as const
const TO_STORE = { act: 'use-vault', to: 'create', lead: '; cards are stored by ' } as const
const NOT_TAKEN: Problem<Text> = {
  problem: 'holds card data, which is not taken here',
  remedy: words`use customer_vault_id (a stored card) or request_ref_po_id (an order), and leave card columns empty or masked${TO_RUN}${TO_STORE}`,
}
