// Whether the numbers of a file are card numbers, by all of each column. One id in ten has the check digit of a card number
// by chance, every card number has it: a column of ids tells itself. ADR 0015.

import { type Candidate, candidatesIn, isCertain } from '../../domain/pan-candidates.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { plainName } from '../columns.ts'
import type { CsvRecord } from '../csv/records.ts'
import type { Header } from '../header.ts'

/** What of a column looks like card numbers and was let pass. Never a value. */
export interface NumbersPassed {
  readonly column: string
  /** Numbers of one length and writing in the ranges of issuers. */
  readonly numbers: number
  /** Those among them whose check digit fits. */
  readonly fitting: number
  /** `chance`: no more fit than of any ids; `few`: at most half of too few to tell; `said`: a person says so; `ours`: ids in results of this program. */
  readonly why: 'chance' | 'few' | 'said' | 'ours'
}

export interface CardsJudged {
  readonly passed: readonly NumbersPassed[]
  /** Forms of numbers, by `formOf`, that passed in some column. */
  readonly forms: ReadonlySet<string>
}

/** Fewer numbers tell nothing: of twenty ids two fit on average, hardly ever seven. */
const ENOUGH = 20
/** So many standard deviations above the tenth that fits by chance. */
const DEVIATIONS = 3
/** So many above it, and no person can say that they are other numbers. */
const DEVIATIONS_OF_CARDS = 6
/** Of fewer than enough, where all fit: by chance that is one in a thousand. */
const ALL_OF = 3
/** A card number may be parted into this many cells. */
const CELLS_MOST = 5

interface Tally {
  readonly place: number
  readonly form: string
  readonly certain: boolean
  readonly short: boolean
  numbers: number
  fitting: number
  readonly first: { rowNo: number; line: number }
}

/** What a number is counted with: others of the same length in the same writing. */
function formOf({ writing, digits }: Pick<Candidate, 'writing' | 'digits'>): string {
  return writing === 'odd' ? 'odd' : `${writing} ${digits.length}`
}

/** At most so many of them fit where none is a card number. */
function chanceOf(numbers: number, deviations: number): number {
  return numbers / 10 + deviations * Math.sqrt(numbers * 0.09)
}

/** Beyond doubt: a person who says otherwise is mistaken. */
function areCards({ numbers, fitting }: Pick<Tally, 'numbers' | 'fitting'>): boolean {
  return numbers >= ENOUGH ? fitting > chanceOf(numbers, DEVIATIONS_OF_CARDS) : numbers >= ALL_OF && fitting === numbers
}

export class CardEvidence {
  readonly #header: Header
  readonly #tallies = new Map<string, Tally>()
  /** Columns that are read as something are no half of a number. */
  readonly #fields: ReadonlySet<number>

  constructor(header: Header) {
    this.#header = header
    this.#fields = new Set(Object.values(header.fields))
  }

  see(record: CsvRecord, rowNo: number): void {
    const { cells } = record
    for (let place = 0; place < cells.length; place++)
      if (this.#header.cardParts.get(place) !== 'number')
        for (const found of candidatesIn(cells[place] as string))
          this.#count(place, formOf(found), found, record, rowNo)
    this.#seeParted(record, rowNo)
  }

  /** A number in neighbouring cells, each of digits alone. */
  #seeParted(record: CsvRecord, rowNo: number): void {
    for (let from = 0; from < record.cells.length - 1; from++) {
      let digits = ''
      let lengths = ''
      for (let place = from; place < Math.min(record.cells.length, from + CELLS_MOST); place++) {
        const cell = record.cells[place]?.trim() ?? ''
        if (this.#fields.has(place) || !/^\d{1,13}$/.test(cell)) break
        digits += cell
        lengths += ` ${cell.length}`
        if (place === from || digits.length < 14 || digits.length > 19) continue
        const found = candidatesIn(digits).find(({ writing }) => writing === 'piece')
        if (found !== undefined) this.#count(from, `parted${lengths}`, { ...found, writing: 'odd' }, record, rowNo)
      }
    }
  }

  #count(place: number, form: string, found: Candidate, { line }: CsvRecord, rowNo: number): void {
    const key = `${place} ${form}`
    const tally = this.#tallies.get(key) ?? {
      place,
      form,
      certain: isCertain({ ...found, fits: true }),
      short: found.writing === 'short',
      numbers: 0,
      fitting: 0,
      first: { rowNo, line },
    }
    tally.numbers += 1
    if (found.fits && tally.fitting === 0) Object.assign(tally.first, { rowNo, line })
    if (found.fits) tally.fitting += 1
    this.#tallies.set(key, tally)
  }

  judge(): CardsJudged | StructuralFault {
    const fitting = [...this.#tallies.values()].filter((tally) => tally.fitting > 0)
    const wrong = fitting
      .filter((tally) => this.#whyPassed(tally) === null)
      .toSorted((a, b) => a.first.line - b.first.line || a.place - b.place)
    if (wrong[0] !== undefined) return this.#refusal(wrong[0])
    const passed = fitting.map((tally) => {
      const { place, numbers, fitting: fits } = tally
      const why = this.#whyPassed(tally) ?? 'chance'
      return { column: shown(this.#header.written[place] ?? ''), numbers, fitting: fits, why }
    })
    return { passed, forms: new Set(fitting.map(({ form }) => form)) }
  }

  /** null: they do not pass. */
  #whyPassed(tally: Tally): NumbersPassed['why'] | null {
    const { place, numbers, fitting, certain, short } = tally
    if (numbers >= ENOUGH && fitting <= chanceOf(numbers, DEVIATIONS)) return 'chance'
    if (this.#isOwnId(place)) return 'ours'
    if (this.#header.notCards.includes(place)) return areCards(tally) ? null : 'said'
    if (certain || numbers >= ENOUGH) return null
    return 2 * fitting > numbers && !(short && fitting < 2) ? null : 'few'
  }

  /** Ids that the gateway gave and this program wrote into its results. */
  #isOwnId(place: number): boolean {
    return this.#header.results !== null && OWN_IDS.has(plainName(this.#header.written[place] ?? ''))
  }

  #refusal(tally: Tally): StructuralFault {
    const { place, form, numbers, fitting, certain, first } = tally
    const name = this.#header.written[place] ?? ''
    const counted =
      numbers === 1 ? '' : ` (${fitting} of ${numbers} numbers of that form in the column have its check digit)`
    const remedy = `remove ${fitting === 1 ? 'it' : 'them'} from the file, and from wherever the file came from; use customer_vault_id for stored cards`
    const otherwise =
      areCards(tally) || name.trim() === ''
        ? ''
        : words`${{ set: 'not-a-card', to: shown(name), lead: '; if the column holds ids or other numbers that only look like card numbers, add ' }}`
    const parted = form.startsWith('parted') ? ', together with the cells behind it,' : ''
    return refuse(
      {
        problem: certain
          ? `holds a card number${counted}`
          : `holds what may be ${parted === '' ? '' : 'a part of '}a card number${parted}${counted}`.replace(
              ',(',
              ', (',
            ),
        remedy: words`${remedy}${otherwise}`,
      },
      { code: 'card-data', ...first, column: name },
    )
  }
}

const OWN_IDS: ReadonlySet<string> = new Set([
  'result_transaction_id',
  'result_order_id',
  'result_record_id',
  'result_vault_id',
])

/** Whether a text holds a certain card number of a form that was not let pass. */
export function holdsOtherPan(text: string, forms: ReadonlySet<string>): boolean {
  return candidatesIn(text).some((found) => isCertain(found) && !forms.has(formOf(found)))
}

/** What a person is told of numbers that were let pass. */
export function passedWarnings(passed: readonly NumbersPassed[]): Text[] {
  return passed.flatMap(({ column, numbers, fitting, why }) => {
    const because = WHY_PASSED[why]
    if (because === null) return []
    const look = fitting === 1 ? 'looks like a card number' : 'look like card numbers'
    return [words`${fitting} of ${numbers} numbers in the column "${column}" ${look}: ${because}.`]
  })
}

const WHY_PASSED: Readonly<Record<NumbersPassed['why'], Text | null>> = {
  chance: 'no more than of any ids, so that they are read as ids',
  few: 'most of its numbers do not, so that they are read as ids',
  said: words`they are read as other numbers, as ${{ set: 'not-a-card', to: null }} says`,
  ours: null,
}
