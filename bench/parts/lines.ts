// From the rounds of a case to its lines in the table.

import type { Goal, Line, Rounds } from './case.ts'
import { ratiosOf } from './figures.ts'
import type { Took } from './process.ts'
import type { Sent } from './sending.ts'

/** Time and processor time of a command and of its other side. A ratio says how many times as fast ours is. */
export function versus(what: string, name: string, rounds: Rounds<Took>, goal: Goal): Line[] {
  const line = (unit: string, figure: (took: Took) => number): Line => {
    const ours = rounds.ours.map(figure)
    const figures = rounds.other.map(figure)
    return { what, unit, ours, other: { name, figures }, ratios: ratiosOf(figures, ours) }
  }
  return [{ ...line('s', ({ seconds }) => seconds), goal }, line('s of processor', ({ cpuMs }) => cpuMs / 1000)]
}

/** Rows a second of the worker and of another side. */
export function rates(what: string, name: string, rounds: Rounds<Sent>, goal: Goal): Line {
  const ours = rounds.ours.map(({ perSecond }) => perSecond)
  const figures = rounds.other.map(({ perSecond }) => perSecond)
  return { what, unit: 'rows/s', ours, other: { name, figures }, ratios: ratiosOf(ours, figures), goal }
}

/** Processor time of the sending process for each row: of ours over that of the other side. */
export function cpus(what: string, name: string, rounds: Rounds<Sent>, goal: Goal | undefined): Line {
  const ours = rounds.ours.map(({ cpuMsPerRow }) => cpuMsPerRow)
  const figures = rounds.other.map(({ cpuMsPerRow }) => cpuMsPerRow)
  return {
    what,
    unit: 'ms of processor a row',
    ours,
    other: { name, figures },
    ratios: ratiosOf(ours, figures),
    ...(goal && { goal }),
  }
}

/** Processor time for each row of the Redis or PostgreSQL that a side uses. */
export function servers(what: string, name: string, rounds: Rounds<Sent>): Line {
  const [ours, figures] = [rounds.ours, rounds.other].map((side) => side.map(({ serverMsPerRow }) => serverMsPerRow))
  return { what, unit: 'ms of its server a row', ours: ours ?? [], other: { name, figures: figures ?? [] } }
}
