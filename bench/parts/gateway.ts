// The bare gateway as its parent sees it: a process of its own that is told what comes, and asked what came.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What came since the sending began. Moments are monotonic milliseconds (`moment.ts`). */
export interface Counted {
  requests: number
  /** Orders that were asked for, each counted once. */
  distinct: number
  /** Requests that are no refund of an order of the file. */
  strange: number
  connections: number
  /** When the first request came. */
  firstMs: number
  /** When the last answer was given. */
  lastMs: number
  /** When as many were open at once as the window has; 0: never. */
  fullMs: number
  /** Answers given before that. */
  answeredBefore: number
  /** How long all answers together were held. */
  heldMs: number
  /** The most requests within any second. */
  busiest: number
  /** Processor time of the gateway itself. */
  cpuMs: number
}

/** What is going to be sent. */
export interface ToSend {
  readonly rows: number
  /** Requests that the sending side keeps open. */
  readonly window: number
  readonly latencyMs: number
}

export type ToGateway = ({ readonly ask: 'begin' } & ToSend) | { readonly ask: 'counted' }

export type FromGateway =
  | { readonly event: 'listening'; readonly url: string }
  /** The first request came. */
  | { readonly event: 'first' }
  /** As many as were told have been answered. */
  | { readonly event: 'last' }
  | { readonly event: 'begin' | 'counted'; readonly counted: Counted }

export interface BareGateway {
  readonly url: string
  /** Forgets what came before. Resolves when it is ready; `first` and `last` when that happened. */
  begin(toSend: ToSend): Promise<Expected>
  counted(): Promise<Counted>
  close(): void
}

export interface Expected {
  readonly first: Promise<void>
  readonly last: Promise<void>
}

/** What the gateway says to every refund. */
export function approvalOf(transaction: number, order: string, amount: string): string {
  return `{"REQUEST_ACTION":"REFUND","TRANS_STATUS_NAME":"APPROVED","TRANS_VALUE":"${amount}00","TRANS_REQUEST_ID":${transaction},"TRANS_RECORD_ID":${order},"TRANS_ORDER_ID":${order},"TRANS_CUR":"EUR"}`
}

export async function openGateway(): Promise<BareGateway> {
  const child = fork(fileURLToPath(new URL('child-gateway.ts', import.meta.url)))
  const waiting = new Map<FromGateway['event'], (message: FromGateway) => void>()
  const heard = (event: FromGateway['event']) =>
    new Promise<FromGateway>((resolve) => {
      waiting.set(event, resolve)
    })
  child.on('message', (message: FromGateway) => waiting.get(message.event)?.(message))
  const listening = await heard('listening')
  if (listening.event !== 'listening') throw new Error('the gateway did not start')
  const ask = async (message: ToGateway) => {
    const answered = heard(message.ask)
    child.send(message)
    const answer = await answered
    if (!('counted' in answer)) throw new Error('the gateway answered something else')
    return answer.counted
  }
  return {
    url: listening.url,
    async begin(toSend) {
      const expected = { first: heard('first').then(() => {}), last: heard('last').then(() => {}) }
      await ask({ ask: 'begin', ...toSend })
      return expected
    },
    counted: () => ask({ ask: 'counted' }),
    close: () => void child.kill('SIGKILL'),
  }
}
