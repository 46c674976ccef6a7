// Shares the time among searches, and writes a case for whatever fails.

import { spawnSync } from 'node:child_process'
import { relative } from 'node:path'
import { writeCase } from './cases.ts'
import { type Exit, ROOT, type Round, run } from './rounds.ts'

export interface Search {
  readonly name: string
  /** Its part of the time, relative to the parts of the others. */
  readonly share: number
  /** What a round takes on two busy cores. */
  readonly roundSeconds: number
  /** Names of one program without which it finds nothing. */
  readonly needs?: readonly string[]
  /** Rounds are counted from 0; null: there are no more. */
  round(nth: number, seed: number): Round | null
}

export interface Options {
  readonly minutes: number
  /** How many rounds run at a time. */
  readonly jobs: number
  readonly seed: number
  /** The folder where cases are written. */
  readonly cases: string
  /** Ends it before its time. */
  readonly signal: AbortSignal
  say(line: string): void
}

export interface Result {
  readonly name: string
  /** The name of each round that came to its end. */
  readonly rounds: string[]
  readonly brokenOff: string[]
  seconds: number
  /** The file of each case; the end of the output of a round that failed without one. */
  readonly failures: string[]
  /** Why it did not run; null: it did. */
  readonly notRun: string | null
}

interface State {
  readonly search: Search
  readonly result: Result
  begun: number
  /** What is expected of the rounds under way. */
  underWaySeconds: number
  longestSeconds: number
  isOver: boolean
}

/** A search that has failed so often would fail in the same way again. */
const ENOUGH = 3
/** No two rounds have a seed in common. */
const SEEDS_PER_ROUND = 1_000
/** A round is broken off that takes so many times what it should. */
const TOO_LONG = 10

export async function search(searches: readonly Search[], options: Options): Promise<Result[]> {
  const { minutes, jobs, seed, signal } = options
  const endMs = performance.now() + minutes * 60_000
  const breakOff = AbortSignal.any([signal, AbortSignal.timeout(minutes * 60_000)])
  const states = statesOf(searches, options)
  const work = async () => {
    while (!breakOff.aborted) {
      const state = nextOf(states, (endMs - performance.now()) / 1_000)
      if (state === null) return
      const nth = state.begun++
      const round = state.search.round(nth, seed + nth * SEEDS_PER_ROUND)
      if (round === null) state.isOver = true
      else await play(state, round, breakOff, options)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return states.map(({ result }) => result)
}

function statesOf(searches: readonly Search[], { minutes, jobs }: Options): State[] {
  const ready = searches.filter(({ needs }) => needs === undefined || needs.some(isInstalled))
  const needed = minutesNeeded(ready, minutes, jobs)
  const whyNot = ({ name, needs }: Search) => {
    const need = needed.get(name)
    if (need === undefined) return `${needs?.[0]} is missing: npm run setup -- --search`
    return need > minutes ? `too little time: --minutes ${Math.ceil(need)}, or --only ${name}` : null
  }
  return searches.map((search) => {
    const notRun = whyNot(search)
    const result = { name: search.name, rounds: [], brokenOff: [], seconds: 0, failures: [], notRun }
    const { roundSeconds: longestSeconds } = search
    return { search, result, begun: 0, underWaySeconds: 0, longestSeconds, isOver: notRun !== null }
  })
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', program]).status === 0
}

/**
 * By name, the minutes from which on a round fits into the share of its search. A search that needs more than there are leaves its share to
 * the others.
 */
export function minutesNeeded(searches: readonly Search[], minutes: number, jobs: number): Map<string, number> {
  const needed = new Map<string, number>()
  let shares = searches.reduce((sum, { share }) => sum + share, 0)
  for (const { name, share, roundSeconds } of searches.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const need = (roundSeconds / 60) * Math.max(1, shares / share / jobs)
    needed.set(name, need)
    if (need > minutes) shares -= share
  }
  return needed
}

const lengthOf = ({ roundSeconds, share }: Search) => roundSeconds / share

/** The search that has used the least of its share, among those whose round ends in time. */
function nextOf(states: readonly State[], secondsLeft: number): State | null {
  const used = ({ search, result, underWaySeconds }: State) => (result.seconds + underWaySeconds) / search.share
  const ready = states.filter(({ isOver, longestSeconds }) => !isOver && longestSeconds <= secondsLeft)
  return ready.toSorted((one, other) => used(one) - used(other))[0] ?? null
}

async function play(state: State, round: Round, breakOff: AbortSignal, { cases, say }: Options): Promise<void> {
  const { search, result } = state
  const startedMs = performance.now()
  const expectedSeconds = state.longestSeconds
  state.underWaySeconds += expectedSeconds
  const tooLong = AbortSignal.timeout(search.roundSeconds * TOO_LONG * 1_000)
  const exit = await run(round, AbortSignal.any([breakOff, tooLong]))
  const seconds = (performance.now() - startedMs) / 1_000
  state.underWaySeconds -= expectedSeconds
  state.longestSeconds = Math.max(state.longestSeconds, seconds)
  result.seconds += seconds
  const failures = exit.isBrokenOff ? [] : failuresIn(round, exit, cases)
  const rounds = exit.isBrokenOff ? result.brokenOff : result.rounds
  rounds.push(round.name)
  result.failures.push(...failures)
  if (result.failures.length >= ENOUGH) state.isOver = true
  const outcome = exit.isBrokenOff ? 'broken off' : failures.length === 0 ? 'passed' : `FAILED ${failures.join(', ')}`
  say(`${search.name} ${round.name}: ${outcome}, ${seconds.toFixed(0)} s`)
}

function failuresIn(round: Round, exit: Exit, folder: string): string[] {
  const paths = round.casesIn(exit).map((one) => relative(ROOT, writeCase(one, folder)))
  if (exit.code === 0 || paths.length > 0) return paths
  return [`no case, exit code ${exit.code}: ${exit.output.slice(-2_000)}`]
}
