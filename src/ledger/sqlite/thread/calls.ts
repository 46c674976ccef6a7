// Calls from one thread to another, in groups: what is asked in one turn of the event loop is one message, and so is what is
// answered in one. A message costs as much as ten calls.

import type { MessagePort } from 'node:worker_threads'
import { Fault, type FaultCode } from '../../../domain/fault.ts'
import { Words } from '../../../domain/words.ts'

/** A function of the contract; what goes in and comes out can be copied. */
type Method = (...asked: readonly never[]) => Promise<unknown>

type Call = readonly [id: number, name: string, asked: readonly unknown[]]
type Answer = readonly [id: number, value: unknown, failed: Carried | null]

/** An error on its way: a copy of a fault would be a plain error, without its code. */
export type Carried =
  | { readonly kind: 'fault'; readonly code: FaultCode; readonly state: Fault['state']; readonly parts: Words['parts'] }
  | { readonly kind: 'error'; readonly message: string; readonly stack: string | undefined }

export function carry(error: unknown): Carried {
  if (error instanceof Fault) return { kind: 'fault', code: error.code, state: error.state, parts: error.text.parts }
  if (error instanceof Error) return { kind: 'error', message: error.message, stack: error.stack }
  return { kind: 'error', message: String(error), stack: undefined }
}

export function arrived(carried: Carried): Error {
  if (carried.kind === 'fault') return new Fault(carried.code, new Words(carried.parts), { state: carried.state })
  const error = new Error(carried.message)
  if (carried.stack !== undefined) error.stack = carried.stack
  return error
}

/** The functions with these names, each answered at the other end of the port. */
export function callOver(port: MessagePort, names: readonly string[]): Record<string, Method> {
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const send = inGroups<Call>(port)
  let last = 0
  port.on('message', (answers: readonly Answer[]) => {
    for (const [id, value, failed] of answers) {
      const asker = open.get(id)
      open.delete(id)
      if (failed === null) asker?.resolve(value)
      else asker?.reject(arrived(failed))
    }
  })
  const method =
    (name: string): Method =>
    (...asked) =>
      new Promise((resolve, reject) => {
        last += 1
        open.set(last, { resolve, reject })
        send([last, name, asked])
      })
  return Object.fromEntries(names.map((name) => [name, method(name)]))
}

/** Answers what is called at the other end. */
export function answerOver(port: MessagePort, methods: Readonly<Record<string, Method>>): void {
  const send = inGroups<Answer>(port)
  port.on('message', (calls: readonly Call[]) => {
    for (const [id, name, asked] of calls) {
      const method = methods[name] as Method
      method(...(asked as never[])).then(
        (value) => send([id, value, null]),
        (error: unknown) => send([id, null, carry(error)]),
      )
    }
  })
}

function inGroups<T>(port: MessagePort): (one: T) => void {
  let group: T[] = []
  const post = () => {
    const posted = group
    group = []
    port.postMessage(posted)
  }
  return (one) => {
    if (group.length === 0) setImmediate(post)
    group.push(one)
  }
}
