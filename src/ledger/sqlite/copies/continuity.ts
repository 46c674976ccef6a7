// Whether what this process saw committed is still in the ledger. A copy put over the files of an open ledger takes it
// back, and SQLite goes on with what it finds then.

import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { findRows } from '../found.ts'

/**
 * Every commit, of any process, leaves a mark: its number and the random word of that process. Two rings, in tables of their own, take turns,
 * so that the marks of two successive commits lie on different pages: where files are replaced while a commit is being
 * written, one of the two is lost. A ring holds more commits than the log does, so that some of it is read from the
 * database file itself.
 */
const MARKS_PER_RING = 1024
const RINGS = ['even_commit', 'odd_commit'] as const

export interface Continuity {
  /** Inside a transaction, first. False: what was committed is gone, and nothing may be written. */
  advance(): boolean
  /** That transaction was committed. */
  committed(): void
  /** Whether the last two marks stand in the files, as another program reads them. Costs 15 µs. */
  holds(): boolean
  /** The same of all marks: for when the database file was written to, by a checkpoint or by a copy. Costs 2 ms. */
  holdsWhole(): boolean
  close(): void
}

interface Mark {
  readonly number: number
  readonly word: number
}

/** `openReader`: a connection of its own. The one that writes answers from its memory, whatever became of the files. */
export function openContinuity(db: DatabaseSync, openReader: () => DatabaseSync): Continuity {
  const markOf = prepareMarks(db)
  const [putEven, putOdd] = RINGS.map((ring) => db.prepare(`INSERT OR REPLACE INTO ${ring} VALUES (?, ?, ?)`))
  const seen = createSeen(db, markOf)
  let reader: Reader | null = null
  let pending: Mark | null = null
  const word = randomBytes(6).readUIntBE(0, 6)

  return {
    advance() {
      seen.begin()
      if (!seen.agreesWithLast(markOf(seen.last), markOf(seen.last - 1)) || !seen.catchUp()) return false
      const mark = { number: seen.last + 1, word }
      const put = mark.number % 2 === 0 ? putEven : putOdd
      put?.run(slotOf(mark.number), mark.number, mark.word)
      pending = mark
      return true
    },
    committed() {
      if (pending !== null) seen.note(pending)
    },
    holds() {
      seen.begin()
      reader ??= openReading(openReader())
      return seen.agreesWithLast(...reader.two(seen.last))
    },
    holdsWhole() {
      const fresh = openReader()
      try {
        return seen.readAll(fresh)
      } finally {
        fresh.close()
      }
    },
    close: () => reader?.close(),
  }
}

/** The marks as this process last saw them. None of them goes back. */
function createSeen(db: DatabaseSync, markOf: MarkOf) {
  /** By place. */
  const known = new Map<number, Mark>()
  let last = 0

  function agreesWithLast(newest: Mark | undefined, before: Mark | undefined): boolean {
    return agrees(known.get(placeOf(last)), newest) && agrees(known.get(placeOf(last - 1)), before)
  }

  function note(mark: Mark): void {
    known.set(placeOf(mark.number), mark)
    last = mark.number
  }

  /** Notes what other processes committed meanwhile. */
  function catchUp(): boolean {
    for (;;) {
      const next = markOf(last + 1)
      if (next === undefined || next.number <= last) return true
      if (next.number > last + 1) return readAll(db) // they went round more than once
      note(next)
    }
  }

  function readAll(from: DatabaseSync): boolean {
    const found = new Map(marksIn(from).map((mark) => [placeOf(mark.number), mark]))
    for (const [place, mark] of known) if (!agrees(mark, found.get(place))) return false
    for (const [place, mark] of found) known.set(place, mark)
    last = newestOf(known)
    return true
  }

  /** From here on nothing may get lost. Not at the opening: a damaged ledger must open, to be looked at. */
  function begin(): void {
    if (last === 0) readAll(db)
  }

  return {
    get last() {
      return last
    },
    begin,
    note,
    catchUp,
    readAll,
    agreesWithLast,
  }
}

/** Other processes may have gone on from there. */
function agrees(mark: Mark | undefined, found: Mark | undefined): boolean {
  if (mark === undefined) return true
  if (found === undefined || found.number < mark.number) return false
  return found.number > mark.number || found.word === mark.word
}

type MarkOf = (number: number) => Mark | undefined

function prepareMarks(db: DatabaseSync): MarkOf {
  const [even, odd] = RINGS.map((ring) => db.prepare(`SELECT number, word FROM ${ring} WHERE slot = ?`))
  return (number) => (number % 2 === 0 ? even : odd)?.get(slotOf(number)) as Mark | undefined
}

interface Reader {
  /** The mark of this number and of the one before. */
  two(number: number): readonly [Mark | undefined, Mark | undefined]
  close(): void
}

function openReading(connection: DatabaseSync): Reader {
  // In one statement: each begins a transaction of its own, and reads the pages once more.
  const both = connection.prepare(
    `SELECT e.number AS evenNumber, e.word AS evenWord, o.number AS oddNumber, o.word AS oddWord
     FROM (SELECT 1) LEFT JOIN even_commit e ON e.slot = ? LEFT JOIN odd_commit o ON o.slot = ?`,
  )
  return {
    two(number) {
      const isEven = number % 2 === 0
      const slots = isEven ? [slotOf(number), slotOf(number - 1)] : [slotOf(number - 1), slotOf(number)]
      const { evenNumber, evenWord, oddNumber, oddWord } = both.get(...slots) as Record<string, number | null>
      const even = toMark(evenNumber, evenWord)
      const odd = toMark(oddNumber, oddWord)
      return isEven ? [even, odd] : [odd, even]
    },
    close: () => connection.close(),
  }
}

function toMark(number: number | null | undefined, word: number | null | undefined): Mark | undefined {
  return typeof number === 'number' && typeof word === 'number' ? { number, word } : undefined
}

function marksIn(db: DatabaseSync): Mark[] {
  const all = RINGS.map((ring) => `SELECT number, word FROM ${ring}`).join(' UNION ALL ')
  return findRows<Mark>(db.prepare(all))
}

function slotOf(number: number): number {
  return Math.floor(number / 2) % MARKS_PER_RING
}

/** Among both rings. */
function placeOf(number: number): number {
  return number % (2 * MARKS_PER_RING)
}

function newestOf(marks: ReadonlyMap<number, Mark>): number {
  let newest = 0
  for (const { number } of marks.values()) newest = Math.max(newest, number)
  return newest
}
