// Runs the scripts of `ledger/texts` in SQLite: to their end and synchronously, so that one can be part of a commit.

import type { DatabaseSync } from 'node:sqlite'
import type { Script, Step } from '../texts/script.ts'
import { compileNamed } from './named.ts'

type Compiled = ReturnType<typeof compileNamed>

export type Run = <T>(script: Script<T>) => T

/** Keeps its statements, for scripts that run again and again. */
export function prepareRunning(db: DatabaseSync): Run {
  const prepared = {
    rows: new Map<string, Compiled>(),
    exact: new Map<string, Compiled>(),
    lists: new Map<string, Compiled>(),
  }

  function compiled({ text, found }: Step): Compiled {
    const known = prepared[found].get(text)
    if (known !== undefined) return known
    const made = compileNamed(db, text)
    made.statement.setReadBigInts(found === 'exact')
    made.statement.setReturnArrays(found === 'lists')
    prepared[found].set(text, made)
    return made
  }

  function answer(step: Step): unknown[] {
    const { statement, positions } = compiled(step)
    return statement.all(...positions(step.values))
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
