// Asks on a terminal before something that cannot be undone. Without a terminal it asks nothing.

import { createInterface } from 'node:readline'
import { Fault } from '../domain/fault.ts'
import type { Io } from '../ports/io.ts'
import type { Terminal } from './terminal.ts'

/** A question keeps others waiting: one draft at a time is on its way into a ledger. */
const ANSWER_WITHIN_MS = 5 * 60_000

const PROMPT = '[y/N] '

export interface Confirming {
  /** Ends in a question mark. */
  readonly question: string
  /** What no, or no answer, leaves: one sentence. */
  readonly otherwise: string
  /** The answer was given with the command. */
  readonly yes: boolean
  readonly signal?: AbortSignal
}

/** Returns if the answer is yes, or if there is no terminal to ask on; faults otherwise. */
export async function confirm(terminal: Terminal, { question, otherwise, yes, signal }: Confirming): Promise<void> {
  if (yes || !mayAsk(terminal)) return
  const isShort = question.length + PROMPT.length < (terminal.columns ?? 80)
  if (!isShort) terminal.say(question)
  const answer = await ask(terminal.io, isShort ? `${question} ${PROMPT}` : PROMPT, signal)
  if (answer !== null && /^\s*(y|yes)\s*$/i.test(answer)) return
  throw new Fault('interrupted', otherwise)
}

/** What a person types at a terminal; faults if they do not. */
export async function askFor(terminal: Terminal, question: string, otherwise: string): Promise<string> {
  const answer = await ask(terminal.io, question, undefined)
  if (answer !== null) return answer
  throw new Fault('interrupted', otherwise)
}

/** Whether a person is at both ends. */
export function mayAsk({ isAttended, json, io }: Pick<Terminal, 'json' | 'isAttended' | 'io'>): boolean {
  return isAttended && !json && io.stdin.isTTY === true
}

/** null: interrupted, or no answer in time. */
async function ask(
  { stdin, stderr, signals }: Io,
  question: string,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false })
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  signals.once('SIGINT', interrupt)
  const given = [interrupted.signal, ...(signal === undefined ? [] : [signal])]
  const over = AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), ...given])
  try {
    return await new Promise((resolve) => {
      const giveUp = () => {
        stderr.write('\n')
        resolve(null)
      }
      over.addEventListener('abort', giveUp, { once: true })
      lines.once('close', giveUp)
      lines.question(question, (answer) => {
        lines.off('close', giveUp)
        resolve(answer)
      })
    })
  } finally {
    signals.off('SIGINT', interrupt)
    lines.close()
    stdin.unref?.()
  }
}
