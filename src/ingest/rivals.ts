// Columns that speak of an amount and are not read as the amount: "Amount Refunded" beside "Transaction Amount".

import { type Field, plainName } from './columns.ts'
import { type Problem, shown } from './problem.ts'

/** Words that begin so, without accents. */
const BEGINNINGS = [
  ...['amount', 'amt', 'refund'],
  ...['betrag', 'summe', 'erstatt', 'ruckerstatt', 'ruckzahl', 'gutschrift'],
  ...['montant', 'rembours', 'importe', 'monto', 'reembols', 'devoluc', 'importo', 'rimbors'],
]
const WHOLE_WORDS = [
  ...['sum', 'total', 'totals', 'totale', 'gross', 'net', 'value'],
  ...['brutto', 'netto', 'wert', 'brut', 'bruto', 'neto', 'lordo', 'valor', 'valore', 'somme', 'suma', 'somma'],
]
/** With one of them the column says something about an amount or a refund and is none: "Refund reason". */
const OTHER_WORDS = [
  ...[
    'id',
    'ids',
    'no',
    'nr',
    'num',
    'number',
    'nummer',
    'numero',
    'date',
    'datum',
    'fecha',
    'data',
    'time',
    'at',
    'on',
  ],
  ...[
    'by',
    'reason',
    'grund',
    'raison',
    'motif',
    'motivo',
    'status',
    'currency',
    'ccy',
    'wahrung',
    'waehrung',
    'devise',
  ],
  ...['moneda', 'divisa', 'valuta', 'code', 'type', 'typ', 'tipo', 'ref', 'reference', 'referenz', 'referencia'],
  ...['note', 'notes', 'comment', 'comments', 'name', 'email', 'method', 'policy', 'url', 'key', 'description'],
  ...['quantity', 'qty', 'count', 'items', 'anzahl', 'menge', 'percent', 'rate'],
]
const GERMAN_ENDINGS = /(?:grund|datum|nummer|status|art|wahrung)$/

export function speaksOfAmount(column: string): boolean {
  const words = wordsOf(column)
  if (words.some((word) => OTHER_WORDS.includes(word) || GERMAN_ENDINGS.test(word))) return false
  return words.some(
    (word) =>
      WHOLE_WORDS.includes(word) ||
      word.endsWith('betrag') ||
      BEGINNINGS.some((beginning) => word.startsWith(beginning)),
  )
}

function wordsOf(column: string): readonly string[] {
  const words = column
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
  return words.split(/[^\p{L}]+/u)
}

/**
 * The gateway's own name and what a person said are meant. A name that was only understood is not enough where others
 * could be meant: an inbox has no reader for a note, and the whole sale would be refunded instead of a part.
 */
export function findRivals(
  written: readonly string[],
  amount: { readonly place: number; readonly isSaid: boolean } | null,
  rivals: readonly string[],
): Problem | null {
  const name = amount === null ? undefined : written[amount.place]
  if (name === undefined || amount?.isSaid === true || plainName(name) === AMOUNT || rivals.length === 0) return null
  const said = (column: string, field: string) => `--map "${shown(column.trim())}=${field}"`
  const others = rivals.map((rival) => `"${shown(rival)}"`).join(' or ')
  return {
    problem: `the column "${shown(name)}" would be read as the amount, and ${others} could be the one that is meant`,
    remedy: `say which one is: ${[name, ...rivals].map((column) => said(column, AMOUNT)).join(' or ')}; or say that ${rivals.length === 1 ? 'the other is' : 'the others are'} not: ${rivals.map((rival) => said(rival, 'ignore')).join(' ')}`,
  }
}

const AMOUNT: Field = 'amount'
