// Columns that speak of an amount, or of its direction, and are not read: "Amount Refunded" or "Debit/Credit" beside "Transaction Amount".

import { type Problem, shown } from '../../domain/problem.ts'
import { joined, type Text, type Words, words } from '../../domain/words.ts'
import { plainName } from '../columns.ts'
import type { Field } from '../field-names.ts'
import { wordsOf } from '../statements/names.ts'

/** Words that begin so, without accents. */
const BEGINNINGS = ['amount', 'amt', 'betrag', 'summe', 'montant', 'importe', 'monto', 'importo']
/** Long and unmistakable ones, wherever in a word: `Teilerstattung`. */
const STEMS = ['refund', 'erstatt', 'ruckzahl', 'gutschrift', 'rembours', 'reembols', 'devoluc', 'rimbors']
const WHOLE_WORDS = [
  ...['sum', 'total', 'totals', 'totale', 'gross', 'net', 'value'],
  ...['brutto', 'netto', 'wert', 'brut', 'bruto', 'neto', 'lordo', 'valor', 'valore', 'somme', 'suma', 'somma'],
]
/** What a column is that says something about an amount or a refund and is none: "Refund reason", "Date of refund". */
const OTHER_WORDS = [
  ...['id', 'ids', 'no', 'nr', 'num', 'number', 'nummer', 'numero', 'date', 'datum', 'fecha', 'data', 'time'],
  ...['reason', 'grund', 'raison', 'motif', 'motivo', 'status', 'currency', 'ccy', 'wahrung', 'waehrung', 'devise'],
  ...['moneda', 'divisa', 'valuta', 'code', 'type', 'typ', 'tipo', 'ref', 'reference', 'referenz', 'referencia'],
  ...['note', 'notes', 'comment', 'comments', 'name', 'email', 'method', 'policy', 'url', 'key', 'description'],
  ...['quantity', 'qty', 'count', 'items', 'anzahl', 'menge', 'percent', 'rate'],
]
/** "Refunded at" is a date and "Refunded by" a person. */
const LAST_WORDS = ['at', 'on', 'by']
/** What comes behind one of them no longer says what the column is: "Refund in order currency". */
const PREPOSITIONS = [
  ...['in', 'at', 'on', 'by', 'to', 'for', 'of', 'per', 'from', 'with', 'without', 'before', 'after'],
  ...['auf', 'fur', 'fuer', 'von', 'pro', 'nach', 'vor', 'en', 'dans', 'sur', 'par', 'pour', 'por', 'para'],
]
const GERMAN_ENDINGS = /(?:grund|datum|nummer|status|art|wahrung)$/

export function speaksOfAmount(column: string): boolean {
  const words = wordsOf(column)
  if (saysOther(words)) return false
  return words.some(
    (word) =>
      WHOLE_WORDS.includes(word) ||
      word.endsWith('betrag') ||
      STEMS.some((stem) => word.includes(stem)) ||
      BEGINNINGS.some((beginning) => word.startsWith(beginning)),
  )
}

/** By the first or the last word of what the column is. */
function saysOther(words: readonly string[]): boolean {
  if (LAST_WORDS.includes(words.at(-1) ?? '')) return true
  const end = words.findIndex((word) => PREPOSITIONS.includes(word))
  const named = end === -1 ? words : words.slice(0, end)
  return [named[0] ?? '', named.at(-1) ?? ''].some((word) => OTHER_WORDS.includes(word) || GERMAN_ENDINGS.test(word))
}

const DIRECTIONS = [
  ...['debit', 'credit', 'debits', 'credits', 'dr', 'cr', 'dbt', 'cdt', 'crdt', 'soll', 'haben', 'sollhaben'],
  ...['debe', 'haber', 'dare', 'avere', 'direction', 'sens', 'sign', 'vorzeichen'],
  ...['dc', 'cd', 'sh', 'drcr', 'crdr'],
]
const ONE_LETTER = ['d c', 'c d', 's h', 'h s', 'd h', 'h d', 'd a']
const BESIDE_DIRECTIONS = [
  ...['kennzeichen', 'kz', 'indicator', 'ind', 'flag', 'mark'],
  ...['type', 'code', 'or', 'and', 'oder', 'und'],
]

/** "Debit/Credit", "Soll/Haben", "D/C": it has no meaning of its own here, and without it money may go the wrong way. */
export function saysDirection(column: string): boolean {
  const words = wordsOf(column).filter((word) => !BESIDE_DIRECTIONS.includes(word))
  if (ONE_LETTER.includes(words.join(' '))) return true
  return words.length > 0 && words.every((word) => DIRECTIONS.includes(word.replace(/kennzeichen$/, '')))
}

/** It cannot be known which of its signs belong to which operation. */
export function findDirections(columns: readonly string[]): Problem<Text> | null {
  const [first] = columns
  if (first === undefined) return null
  return {
    problem: `the column "${shown(first)}" says which way the money of a row goes, and it is not read`,
    remedy: words`leave only the rows in the file that go the way of their operation, then ignore the column: ${each(columns, 'ignore', ' ')}`,
  }
}

/**
 * The gateway's own name is meant, unless the cells of another say otherwise (`otherAmounts`), and so is what a person said. A name that was only understood is not enough where others
 * could be meant: an inbox has no reader for a note, and the whole sale would be refunded instead of a part.
 */
export function findRivals(
  written: readonly string[],
  amount: { readonly place: number; readonly isSaid: boolean } | null,
  rivals: readonly string[],
): Problem<Text> | null {
  const name = amount === null ? undefined : written[amount.place]
  if (name === undefined || amount?.isSaid === true || plainName(name) === AMOUNT || rivals.length === 0) return null
  return rivalProblem(name, rivals)
}

/** `name`: of the column that would be read. */
export function rivalProblem(name: string, rivals: readonly string[]): Problem<Text> {
  const others = rivals.map((rival) => `"${shown(rival)}"`).join(' or ')
  return {
    problem: `the column "${shown(name)}" would be read as the amount, and ${others} could be the one that is meant`,
    remedy: words`choose one: ${each([name, ...rivals], AMOUNT, ' or ')}; or ignore ${rivals.length === 1 ? 'the other' : 'the others'}: ${each(rivals, 'ignore', ' ')}`,
  }
}

const AMOUNT: Field = 'amount'

/** Each column mapped to that field. */
function each(columns: readonly string[], field: Field | 'ignore', separator: string): Words {
  return joined(
    columns.map((column) => words`${{ set: 'map', column: shown(column.trim()), field }}`),
    separator,
  )
}
