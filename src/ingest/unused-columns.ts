// Columns that are understood and that the operation of the file does not use, or that cannot be what they were taken for:
// they are carried through like any other, and a person is told of it.

import {
  CUSTOMER_FIELDS,
  DETAIL_FIELDS,
  FIELD_RULES,
  type Operation,
  parseOperation,
  type RuledField,
} from '../domain/instruction.ts'
import { refuse, type StructuralFault, shown } from '../domain/problem.ts'
import { words } from '../domain/words.ts'
import { plainName } from './columns.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { SideEvidence } from './fields/sides.ts'
import type { Header } from './header.ts'
import { plainWord } from './statements/names.ts'
import { MONEY_KINDS } from './statements/words.ts'

/** No row of the file may have another operation. */
function isUnused(field: Field, operation: Operation): boolean {
  const rules: Partial<Record<string, string>> = FIELD_RULES[operation]
  const rule = (name: RuledField) => rules[name] === 'unused'
  if ((DETAIL_FIELDS as readonly Field[]).includes(field)) return rule('details')
  if ((CUSTOMER_FIELDS as readonly Field[]).includes(field)) return rule('customer')
  return rules[field] === 'unused'
}

/** Several columns of one field that is not used need no person to choose from them. */
export function withoutUnused(
  meanings: readonly (Field | null)[],
  written: readonly string[],
  operation: Operation | undefined,
): {
  readonly meanings: readonly (Field | null)[]
  readonly passed: readonly number[]
  readonly notes: readonly string[]
} {
  const passed: number[] = []
  const notes: string[] = []
  for (const field of new Set(meanings)) {
    const places = meanings.flatMap((meant, i) => (meant === field ? [i] : []))
    if (field === null || operation === undefined || places.length < 2 || !isUnused(field, operation)) continue
    passed.push(...places)
    const names = places.map((i) => `"${shown((written[i] as string).trim())}"`).join(' and ')
    notes.push(`${names} mean ${field}, which ${operation} does not use: carried through.`)
  }
  return { meanings: meanings.map((field, i) => (passed.includes(i) ? null : field)), passed, notes }
}

/** Values that are named in a note; the rest is counted. */
const VALUES_NAMED = 5
const VALUES_KEPT = 100
/** Without numbers, signs and other scripts, which may say anything. */
const LATIN_WORDS = /^[\p{Script=Latin}\p{M}][\p{Script=Latin}\p{M} '-]+$/u

/** A column called `Type` may hold anything. Where the operation is said and none of its cells is one, it is another column. */
export class GuessedType {
  readonly #header: Header
  /** null: the column holds an operation, is called by its own name, or no operation was said. */
  #place: number | null
  readonly #sides: SideEvidence
  readonly #values = new Set<string>()

  constructor(header: Header, operation: Operation | undefined) {
    const place = header.fields.transaction_type
    const isGuessed = place !== undefined && operation !== undefined && header.guessed.includes(place)
    this.#header = header
    this.#place = isGuessed ? place : null
    this.#sides = new SideEvidence(header.written, isGuessed ? [place] : [])
  }

  see({ cells, line }: CsvRecord): void {
    if (this.#place === null) return
    const cell = unquoted(cells[this.#place] ?? '')
    if (cell === '') return
    if (parseOperation(cell) !== undefined) this.#place = null
    this.#sides.see(cells, line)
    if (this.#values.size < VALUES_KEPT) this.#values.add(cell)
  }

  /** The header without the column; null: it stays what it is. */
  decide(): { readonly header: Header; readonly note: string } | StructuralFault | null {
    const place = this.#place
    if (place === null || this.#values.size === 0) return null
    const bothWays = this.#sides.decide()
    if (bothWays !== null) return bothWays
    const { transaction_type: _, ...fields } = this.#header.fields
    const name = this.#header.written[place] as string
    const values = [...this.#values].slice(0, VALUES_NAMED).map((value) => `"${shown(value)}"`)
    const more = this.#values.size > VALUES_NAMED ? ' and others' : ''
    if (this.#values.size > 1) {
      // More than one kind of row. What is no word of money may tell kinds of something else, and only a person knows of what.
      if (![...this.#values].every(isOfOther)) return null
      const ignored = { set: 'map', column: shown(name.trim()), field: 'ignore' } as const
      return refuse(
        {
          problem: `the column "${shown(name.trim())}" tells kinds of rows apart (${values.join(', ')}${more}), and none is an operation`,
          remedy: words`leave only the rows in the file that are meant; if the kinds are of something else, add ${ignored}`,
        },
        { column: name },
      )
    }
    return {
      header: {
        ...this.#header,
        fields,
        mapped: this.#header.mapped.filter(({ written }) => written !== name),
        unknown: [...this.#header.unknown, name],
        ignored: [...this.#header.ignored, name],
      },
      note: `"${shown(name.trim())}" holds no operation (${values.join(', ')}${more}): carried through, and every row is read as what the whole file was declared to be.`,
    }
  }
}

/** Of a ticket or a person, such as Adult and Child. A number or another script may say anything. */
function isOfOther(value: string): boolean {
  return LATIN_WORDS.test(value) && !MONEY_KINDS.test(plainWord(value))
}

// ───────────────────────────────────────────────────────────── Columns of one name

/** Columns that are only carried through may have one name; the results number them, so that each is known. */
export function numbered(names: readonly string[]): readonly string[] {
  const taken = new Set(names.map(plainName))
  const seen = new Set<string>()
  return names.map((name) => {
    const plain = plainName(name)
    if (plain === '' || !seen.has(plain)) {
      seen.add(plain)
      return name
    }
    let count = 2
    while (taken.has(plainName(`${name.trim()} (${count})`))) count += 1
    taken.add(plainName(`${name.trim()} (${count})`))
    return `${name.trim()} (${count})`
  })
}

export function numberedNote(names: readonly string[]): string | null {
  const others = numbered(names).filter((name, i) => name !== names[i])
  if (others.length === 0) return null
  const list = others.slice(0, VALUES_NAMED).map((name) => `"${shown(name)}"`)
  const more = others.length > VALUES_NAMED ? ` and ${others.length - VALUES_NAMED} more` : ''
  return `Columns that are carried through have the same name; in the results the later ones are called ${list.join(', ')}${more}.`
}
