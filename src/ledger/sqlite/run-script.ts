// Runs the scripts of `ledger/texts` in SQLite: to their end and synchronously, so that one can be part of a commit.

import type { DatabaseSync } from 'node:sqlite'
import type { Script, Step } from '../texts/script.ts'
import { compileNamed } from './named.ts'

export type Run = <T>(script: Script<T>) => T

/** Keeps its statements, for scripts that run again and again. */
export function prepareRunning(db: DatabaseSync): Run {
  const prepared = new Map<string, ReturnType<typeof compileNamed>>()
  function answer({ text, values, exact }: Step): unknown[] {
    const { statement, positions } = prepared.get(text) ?? compileNamed(db, text)
    prepared.set(text, { statement, positions })
    statement.setReadBigInts(exact)
    return statement.all(...positions(values))
  }
  return (script) => {
    let step = script.next()
    while (step.done !== true) step = script.next(answer(step.value))
    return step.value
  }
}

export function runNow<T>(db: DatabaseSync, script: Script<T>): T {
  return prepareRunning(db)(script)
}
