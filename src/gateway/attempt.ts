// One attempt to send, as undici's handler of one request. What is known of the socket becomes exactly one outcome.

import type { Socket } from 'node:net'
import { type Dispatcher, errors } from 'undici'
import type { Connection, Outcome, UnsentWhy } from '../domain/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import type { Fence } from '../ports/gateway.ts'
import { readAnswer, type Sent } from './answered.ts'
import { noConnectionWithin } from './connect.ts'
import { type Deadlines, Timed } from './deadlines.ts'
import { parseHttpDate, parseRetryAfter } from './retry-after.ts'
import type { Scrub } from './scrub.ts'

/** What all attempts of one gateway share. */
export interface AttemptContext {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly connectLimitMs: number
  /** `host:port`, for people. */
  readonly address: string
  /** An answer had our password in it. */
  readonly onRepeated: () => void
  /** Every attempt without an outcome is in one of the two: those that have not started yet, */
  readonly waiting: Deadlines<Attempt>
  /** and those of which bytes may have left. */
  readonly started: Deadlines<Attempt>
}

/** A connection to the gateway and the next ones in its place: one request at a time rides on it. */
export interface Line {
  socket: Socket | null
  /** Requests that were started on this connection. */
  carried: number
}

/** What belongs to one request: what its answer may repeat, and what must not be kept of it. */
export interface Own {
  readonly sent: Sent
  readonly scrub: Scrub
}

const HELD_BACK = {
  fence: 'held back before the first byte: its time to send had passed',
  pace: 'held back before the first byte: the rate of this second is used up',
} as const

type Headers = Readonly<Record<string, string | string[] | undefined>>

type State =
  /** No byte has left: for a connection, for a place in the pool. */
  | 'waiting'
  /** Bytes may have left: only an answer or its absence can end it. */
  | 'started'
  | 'settled'

export class Attempt extends Timed implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<Outcome>
  readonly #context: AttemptContext
  readonly #own: Own
  readonly #fence: Fence
  readonly #abandon: AbortSignal
  readonly #resolve: (outcome: Outcome) => void
  readonly #chunks: Buffer[] = []
  #state: State = 'waiting'
  #controller: Dispatcher.DispatchController | null = null
  #sentAtMs = 0
  #httpStatus: number | null = null
  #headers: Headers = {}
  #line: Line | null = null
  /** Not known before it starts: until then the stricter of the two. */
  #connection: Connection = 'warm'

  constructor(context: AttemptContext, own: Own, fence: Fence, abandon: AbortSignal) {
    super()
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.outcome = promise
    this.#resolve = resolve
    this.#context = context
    this.#own = own
    this.#fence = fence
    this.#abandon = abandon
    context.waiting.begin(this)
  }

  /** Which connection it will be sent over. */
  ride(line: Line): void {
    this.#line = line
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  get isUnwanted(): boolean {
    return this.#abandon.aborted
  }

  /** Gives up an attempt that has not started; its connection, should it come, carries no byte. */
  abandon(): void {
    if (this.isWaiting) this.#settleUnsent('abandoned', 'given up before it was sent: work is being stopped')
  }

  /** undici calls this synchronously before it writes; aborting here leaves no byte. Everything rests on that. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Not waiting: it was given up while it was connecting, or undici is about to send it a second time.
    const refusal = this.isWaiting ? this.#askFence() : null
    if (refusal !== null && this.isWaiting) this.#settleUnsent(refusal.why, refusal.detail)
    // Looked at behind the fence, which may run code that abandons this very attempt.
    if (this.isWaiting) this.#start(controller)
    else controller.abort(new Error('held back'))
  }

  /** The time counts from here: a process that stood still just before has waited for nothing yet. */
  onRequestSent(): void {
    if (this.#state === 'started') this.#context.started.begin(this)
  }

  onResponseStart(_controller: unknown, httpStatus: number, headers: Headers): void {
    // 102 and 103 say that an answer will come, not what it is.
    if (httpStatus < 200) return
    // Bytes of the request have not left yet: what came in is believed no more than the answer to another one.
    if ((this.#line?.socket?.writableLength ?? 0) > 0) this.#connection = 'warm'
    this.#httpStatus = httpStatus
    this.#headers = headers
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const { clock, onRepeated } = this.#context
    const { scrub, sent } = this.#own
    const answeredAtMs = clock.nowMs()
    const encoding = this.#headers['content-encoding']
    const { body, text, repeatsCredentials } = readAnswer(Buffer.concat(this.#chunks), encoding, scrub, sent)
    if (repeatsCredentials) onRepeated()
    this.#settle({
      kind: 'answered',
      sentAtMs: this.#sentAtMs,
      answeredAtMs,
      gatewayAtMs: parseHttpDate(this.#headers.date),
      httpStatus: this.#httpStatus as number,
      retryAfterMs: parseRetryAfter(this.#headers['retry-after'], answeredAtMs),
      body,
      text,
      connection: this.#connection,
    })
    // What repeats no id may be said again, and on this connection it would meet the next request.
    if (body.kind !== 'answer') this.#line?.socket?.destroy()
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#state === 'started') this.#settleLost(lossWords(error))
    else if (this.#state === 'waiting') {
      const closed = error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError
      this.#settleUnsent(closed ? 'abandoned' : 'connect', closed ? 'the gateway client is closed' : error.message)
    }
  }

  #askFence(): { readonly why: UnsentWhy; readonly detail: string } | null {
    try {
      const why = this.#fence()
      return why === null ? null : { why, detail: HELD_BACK[why] }
    } catch (error) {
      return { why: 'fence', detail: `held back before the first byte: ${(error as Error).message}` }
    }
  }

  #start(controller: Dispatcher.DispatchController): void {
    const { clock, started } = this.#context
    this.#state = 'started'
    this.#controller = controller
    if (this.#line !== null) this.#connection = this.#line.carried++ === 0 ? 'fresh' : 'warm'
    this.#sentAtMs = clock.nowMs()
    started.begin(this)
  }

  onSilence(): void {
    this.#settleLost(`no complete answer within ${this.#context.timeoutMs / 1000} s`)
    this.#controller?.abort(new Error('deadline'))
  }

  onNoConnection(): void {
    const { address, connectLimitMs } = this.#context
    this.#settleUnsent('connect', noConnectionWithin(address, connectLimitMs))
  }

  #settleUnsent(why: UnsentWhy, detail: string): void {
    this.#settle({ kind: 'unsent', why, detail: this.#own.scrub.line(detail) })
  }

  #settleLost(detail: string): void {
    const { scrub } = this.#own
    this.#settle({ kind: 'lost', sentAtMs: this.#sentAtMs, httpStatus: this.#httpStatus, detail: scrub.line(detail) })
  }

  #settle(outcome: Outcome): void {
    this.#state = 'settled'
    this.leave()
    this.#resolve(outcome)
  }
}

function lossWords(error: Error & { code?: string }): string {
  if (error instanceof errors.HTTPParserError) return 'what came back is not HTTP'
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the connection was reset before a complete answer came'
    case 'UND_ERR_SOCKET':
      return 'the connection was closed before a complete answer came'
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'the answer ended before its announced length'
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return 'the answer is longer than 64 KiB'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the header of the answer is too long'
    default:
      return `no complete answer: ${error.message}`
  }
}
