// What a person says of columns by their names, before what the names say themselves.

import { FIELD_RULES, type Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { type Problem, shown } from '../domain/problem.ts'
import { type SettingName, type Text, words } from '../domain/words.ts'
import { fieldOf, type MappedColumn, nearestName, plainName, squeezed } from './columns.ts'
import { type Field, ORDER_ID_ELSEWHERE } from './field-names.ts'
import { isAmountIn } from './fields/currency-marks.ts'
import { type Scale, withoutMinorUnits } from './statements/scale.ts'
import { type CardsTaken, cardPartOf, type Vocabulary, vocabularyOf } from './vocabulary.ts'

export interface HeaderNeeds {
  readonly operation?: Operation | undefined
  readonly currency?: Currency | undefined
  readonly cards?: CardsTaken | undefined
  /** What a person said of columns; it goes before what their names say. */
  readonly map?: readonly MappedColumn[] | undefined
  readonly notCards?: readonly string[] | undefined
  readonly scale?: Scale | undefined
  /** The cells of the lines above the column names. */
  readonly above?: readonly (readonly string[])[] | undefined
}

/** By place: the field that the column is read as; null where it is carried through only. */
export function meaningsOf(written: readonly string[], needs: HeaderNeeds): (Field | null)[] | Problem<Text> {
  const { map = [], operation } = needs
  const vocabulary = vocabularyOf(needs)
  const meanings = written.map((name) => fieldOf(name, vocabulary) ?? null)
  const said = new Map<number, Field | null>()
  for (const { column, field } of map) {
    // A saved format may ignore what not every export has.
    if (field === null && !written.some((name) => squeezed(name) === squeezed(column))) continue
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
  // A name with a currency in it means the amount where no other column does: beside one it is a converted amount.
  const unlessOther = (wanted: Field, isSuch: (name: string) => boolean) => {
    if (meanings.includes(wanted)) return
    for (const [i, name] of written.entries())
      if (meanings[i] === null && !said.has(i) && isSuch(name)) meanings[i] = wanted
  }
  unlessOther('amount', isAmountIn)
  const isOrderNeeded = operation !== undefined && FIELD_RULES[operation].request_ref_po_id === 'required'
  if (isOrderNeeded) unlessOther('request_ref_po_id', isOrderIdElsewhere)
  return withNumber(meanings, said, vocabulary)
}

const ORDER_IDS: ReadonlySet<string> = new Set(ORDER_ID_ELSEWHERE.map(squeezed))

function isOrderIdElsewhere(name: string): boolean {
  return ORDER_IDS.has(squeezed(name))
}

/** Without the number of a card a code may be that of a door, and an expiry that of a voucher. */
function withNumber(
  meanings: (Field | null)[],
  said: ReadonlyMap<number, Field | null>,
  vocabulary: Vocabulary,
): (Field | null)[] {
  if (vocabulary.card === null || meanings.includes(vocabulary.card.number)) return meanings
  return meanings.map((field, place) => (cardPartOf(field, vocabulary) === null || said.has(place) ? field : null))
}

/** By its name as written; where no column has it, by the name that differs in blanks, accents and the like only. */
function placeOf(column: string, written: readonly string[], set: SettingName = 'map'): number | Problem<Text> {
  const places = written.map((_, i) => i)
  const exact = places.filter((i) => plainName(written[i] as string) === plainName(column))
  const found =
    exact.length > 0
      ? exact
      : places.filter((i) => squeezed(withoutMinorUnits(written[i] as string)) === squeezed(column))
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

export function listOf(names: readonly string[]): string {
  const found = names.slice(0, 30).map((name) => `"${shown(name)}"`)
  return `${found.join(', ')}${names.length > 30 ? ` and ${names.length - 30} more` : ''}`
}

/** Where a person said a column is such a field. */
export function saidPlaces(
  map: readonly MappedColumn[],
  written: readonly string[],
  isSuch: (said: MappedColumn) => boolean,
): readonly number[] {
  return map.flatMap((said) => {
    const place = isSuch(said) ? placeOf(said.column, written) : null
    return typeof place === 'number' ? [place] : []
  })
}

/** The places of the columns that a person says hold no card numbers. */
export function notCardsIn(
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
        remedy: 'take the column out of the file, or leave it empty',
      }
    places.push(place)
  }
  return places
}
