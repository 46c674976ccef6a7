// Columns that say how far the money of a row has come: "Status" with Completed and Denied, "Info" with "Umsatz vorgemerkt". Such a
// column is not read, so that what is pending or was refused elsewhere would be sent like the rest.

import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'

/** Without accents. A row is compared as a whole, but for the nouns below. */
const DONE = setOf(
  'done complete completed success successful succeeded ok paid settled posted booked cleared approved captured refunded',
  'processed executed charged closed finished partiallyrefunded partialrefund partiallypaid fullyrefunded',
  'abgeschlossen erledigt ausgefuhrt gebucht bezahlt erfolgreich verbucht genehmigt erstattet teilweiseerstattet',
  'termine effectue paye comptabilise rembourse reussi completado pagado contabilizado reembolsado completato pagato contabilizzato rimborsato',
)
const NOT_DONE = setOf(
  'pending denied declined failed rejected refused reversed blocked held onhold unclaimed unpaid expired uncaptured incomplete',
  'error processing inprogress notcompleted requirescapture requiresaction temporaryhold underreview',
  'vorgemerkt ausstehend abgelehnt fehlgeschlagen zuruckgewiesen inbearbeitung inprufung unbezahlt abgelaufen',
  'enattente refuse rejete echoue encours pendiente rechazado fallido enproceso insospeso inattesa rifiutato fallito',
)
/** Of a booking, and of nothing that somebody wants done. */
const PLAIN = setOf('vorgemerkt')
const NOUNS = /^(?:umsatz|buchung|zahlung|payment|transaction|refund|transaktion|operation|paiement|pago|pagamento)/

/** By their names: "Status", "Payment Status", "Buchungsstatus". That of a payout, an address or a dispute is another thing. */
const NAMES =
  /^(?:payment|transaction|txn|refund|financial|charge|zahlungs?|buchungs?|transaktions?|umsatz|erstattungs?)?(?:status|state|zustand|stato|estado|statut|etat)(?:(?:of|du|de)(?:payment|transaction|refund|paiement|pago))?$/
const OTHER_STATUS = /status|state|zustand|stato|estado|statut/

function setOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')))
}

const CHARACTERS_MOST = 40

function plainWord(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

interface Found {
  readonly line: number
  readonly cell: string
}

interface Column {
  readonly isNamed: boolean
  done: Found | null
  notDone: Found | null
  isPlain: boolean
}

/** Where every filled cell of a column is such a word, and one says that the row is not done. */
export class ProgressEvidence {
  readonly #written: readonly string[]
  /** By place. A column with any other word is out. */
  readonly #columns = new Map<number, Column>()

  /** `places`: the columns that have no meaning here. */
  constructor(written: readonly string[], places: readonly number[]) {
    this.#written = written
    for (const place of places) {
      const name = plainWord(written[place] ?? '')
      const isNamed = NAMES.test(name)
      if (!isNamed && OTHER_STATUS.test(name)) continue
      this.#columns.set(place, { isNamed, done: null, notDone: null, isPlain: false })
    }
  }

  see(cells: readonly string[], line: number): void {
    for (const [place, column] of this.#columns) {
      const cell = unquoted(cells[place] ?? '').trim()
      if (cell === '') continue
      const whole = cell.length > CHARACTERS_MOST ? '' : plainWord(cell)
      const word = whole.replace(NOUNS, '')
      if (NOT_DONE.has(whole) || NOT_DONE.has(word)) {
        column.notDone ??= { line, cell }
        column.isPlain ||= PLAIN.has(word)
      } else if (DONE.has(whole) || DONE.has(word)) column.done ??= { line, cell }
      else if (!column.isNamed) this.#columns.delete(place)
    }
  }

  decide(): StructuralFault | null {
    for (const [place, { isNamed, done, notDone, isPlain }] of this.#columns)
      if (notDone !== null && (isNamed || isPlain || done !== null)) return this.#refusal(place, notDone, done)
    return null
  }

  #refusal(place: number, notDone: Found, done: Found | null): StructuralFault {
    const name = (this.#written[place] ?? '').trim()
    const text = ({ cell, line }: Found) => `"${shown(cell)}" in line ${line}`
    const others = done === null ? '' : `, and ${text(done)}`
    const column = name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
    const ignored = { set: 'map', column: name === '' ? 'NAME' : shown(name), field: 'ignore' } as const
    return refuse(
      {
        problem: `${column} says how far a row has come (${text(notDone)}${others}), and it is not read: every row would be sent`,
        remedy: words`leave only the rows in the file that are to be sent, then ${name === '' ? 'give it a name and ' : ''}ignore the column: ${ignored}`,
      },
      { line: notDone.line, ...(name === '' ? {} : { column: name }) },
    )
  }
}
