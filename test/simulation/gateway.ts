// The gateway and the network to it. It keeps its own truth of what left, arrived and was executed, and misbehaves by chance.

import type { CardDetails } from '../../src/domain/card.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import { type Instruction, isVaultOperation, type TransactionType } from '../../src/domain/instruction.ts'
import { formatAmount } from '../../src/domain/money.ts'
import type { Answer, Connection, Outcome } from '../../src/domain/outcome.ts'
import { readAnswer } from '../../src/gateway/answered.ts'
import { createScrub } from '../../src/gateway/scrub.ts'
import type { Fence, Gateway } from '../../src/ports/gateway.ts'
import { hidingPlaces, type KnownBody, PLAIN_BODIES } from '../fixtures/bodies.ts'
import { detailsOf } from './cards.ts'
import type { Life, World } from './world.ts'

/** What can go wrong with one request, the first column when no byte has left yet. */
export const TROUBLES = [
  'refused',
  'no-connection',
  'reset-before',
  'reset-after',
  'hangs-before',
  'hangs-after',
  'late-execution',
  'late-answer',
  'told-to-wait',
  'refused-as-wrong',
  'forbidden',
  'error-before',
  'error-after',
  'cut-short',
  'wrong-echo',
  'no-echo',
  'stale-answer',
  'other-amount',
  'unknown-status',
  'no-transaction-id',
  'approved-with-500',
  'executed-with-refusal',
] as const
export type Trouble = (typeof TROUBLES)[number]

/** How the gateway of one run behaves. */
export interface Weather {
  readonly connection: Connection
  readonly timeoutMs: number
  /** Codes that this gateway's operator has put in writing; it then sends them for what it did not execute, only. */
  readonly notExecutedStatus: readonly number[]
  readonly latencyMs: number
  readonly declines: number
  /** How many rows are told to wait whenever they come, however the others fare. */
  readonly singledOut: number
  readonly troubles: ReadonlyMap<Trouble, number>
  /** How often something on the way sends a request twice: what was executed the first time is declined as a duplicate, and that is told. */
  readonly repeats: number
}

/** The longest an abandoned request goes on at the gateway; far below the rest of a doubt. */
const LATE_MS = 8_000
const CONNECT_LIMIT_MS = 5_000
/** How old an answer may be that a kept-alive connection delivers to the wrong request. */
const STALE_MS = 5_000

/** One request whose first byte left. */
export interface Start {
  readonly atMs: number
  /** By the wall clock. */
  readonly wallMs: number
  readonly life: string
  readonly accountId: AccountId
  readonly rowId: number
  readonly reference: string
}

/** One request as the gateway did it, or refused the money. */
export interface Execution {
  readonly atMs: number
  readonly accountId: AccountId
  /** The row that held the reference when the request left. */
  readonly rowId: number
  readonly attempt: number
  readonly reference: string
  readonly instruction: Instruction
  readonly status: 'APPROVED' | 'DECLINED'
  readonly transactionId: string
  readonly otherAmount: boolean
}

export interface HeldRow {
  readonly id: number
  readonly state: string
  readonly attempt: number
  readonly sendBy: number
}

/** What the gateway's truth is held against the moment a byte leaves. */
export interface Holder {
  /** Who holds the reference; undefined: nobody knows. */
  held(accountId: AccountId, reference: string): HeldRow | undefined
  /** Whether the ledger knows for how much the order was sold, or authorized. Absent: nobody can say. */
  knows?(accountId: AccountId, order: string): boolean
}

interface Request {
  readonly accountId: AccountId
  readonly instruction: Instruction
  readonly trouble: Trouble | null
  readonly rowId: number
  readonly attempt: number
}

/** The gateway's side: one for all processes and accounts. */
export class GatewayTruth {
  readonly starts: Start[] = []
  readonly executions: Execution[] = []
  readonly weather: Weather
  /** Over everything else, for a while: nobody is there, or everybody is turned away. */
  spell: 'none' | 'down' | '401' | '403' | '404' | '429' = 'none'
  calm: boolean = false
  readonly #world: World
  readonly #holder: Holder
  readonly #strict: boolean
  readonly #inFlightMax: number | null
  #open: { readonly life: Life; readonly untilMs: number }[] = []
  readonly #connecting = new Set<Life>()
  readonly #acts: { readonly point: 'claimed' | 'sent'; readonly act: (life: Life) => void }[] = []
  readonly #singledOut = new Map<string, boolean>()
  readonly #repeats = new Set<string>()
  #answers: { readonly answer: Answer; readonly accountId: AccountId; readonly atMs: number }[] = []

  /**
   * `strict`: only one process sends, so that whatever leaves must stand as SENDING in the ledger. `inFlightMax`: so many requests may be
   * open at a time, of all processes; null: nobody counts them.
   */
  constructor(world: World, holder: Holder, weather: Weather, strict: boolean, inFlightMax: number | null = null) {
    this.#inFlightMax = inFlightMax
    this.#world = world
    this.#holder = holder
    this.weather = weather
    this.#strict = strict
  }

  /** Does something to the next process whose request gets that far. */
  at(point: 'claimed' | 'sent', act: (life: Life) => void): void {
    this.#acts.push({ point, act })
  }

  #reach(point: 'claimed' | 'sent', life: Life): void {
    const next = this.#acts.findIndex((armed) => armed.point === point)
    if (next >= 0 && !this.calm) this.#acts.splice(next, 1)[0]?.act(life)
  }

  /** Whether the last request of that process waits for its connection. */
  isConnecting(life: Life): boolean {
    return this.#connecting.has(life)
  }

  executedOf(accountId: number, reference: string): Execution[] {
    return this.executions.filter((entry) => entry.accountId === accountId && entry.reference === reference)
  }

  /** The port as one process opens it for one account. `moment`: when a request that is ready may leave. */
  open(life: Life, accountId: AccountId, moment: () => Promise<void>): Gateway {
    const open = new Set<{ abandon(): void; readonly outcome: Promise<Outcome> }>()
    let isClosing = false
    return {
      send: (instruction, fence, abandon, card = null) => {
        this.#lookAtCard(instruction, card)
        const attempt = this.#send(life, accountId, instruction, fence, moment)
        open.add(attempt)
        void attempt.outcome.then(() => open.delete(attempt))
        if (isClosing || abandon.aborted) attempt.abandon()
        else {
          const given = () => attempt.abandon()
          abandon.addEventListener('abort', given)
          void attempt.outcome.then(() => abandon.removeEventListener('abort', given))
        }
        return attempt.outcome
      },
      reach: async () => ({ kind: 'reached', tls: null }),
      async close() {
        isClosing = true
        for (const attempt of open) attempt.abandon()
        await Promise.all(Array.from(open, ({ outcome }) => outcome))
      },
    }
  }

  /** What is sent is the card of the row, and nothing where the row has none. */
  #lookAtCard(instruction: Instruction, card: CardDetails | null): void {
    if (JSON.stringify(card) === JSON.stringify(detailsOf(instruction))) return
    this.#world.fail(`${instruction.reference} is sent with a card that is not its own`)
  }

  get #latencyMs(): number {
    return this.calm ? Math.min(20, this.weather.latencyMs) : this.weather.latencyMs
  }

  #troubleNow(): Trouble | null {
    const { random } = this.#world
    if (this.calm) return null
    for (const [trouble, chance] of this.weather.troubles) if (random.chance(chance)) return trouble
    return null
  }

  #send(life: Life, accountId: AccountId, instruction: Instruction, fence: Fence, moment: () => Promise<void>) {
    const world = this.#world
    const { random } = world
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
    let state: 'waiting' | 'started' | 'settled' = 'waiting'
    const open = { life, untilMs: 0 }
    this.#connecting.add(life)
    this.#reach('claimed', life)
    const settle = (with_: Outcome) => {
      if (state === 'settled') return
      state = 'settled'
      this.#connecting.delete(life)
      this.#open = this.#open.filter((one) => one !== open)
      life.say(() => `${instruction.reference}: ${wordsOf(with_)}`)
      resolve(with_)
    }
    const unsent = (why: Extract<Outcome, { kind: 'unsent' }>['why'], detail: string) => {
      if (state === 'waiting') settle({ kind: 'unsent', why, detail })
    }
    const trouble = this.#troubleNow()
    const connectMs = trouble === 'no-connection' ? CONNECT_LIMIT_MS * 2 : random.between(0.2, 1) * this.#latencyMs
    world.after(CONNECT_LIMIT_MS, () => unsent('connect', 'no connection'), life, true)
    // On the standing connection a moment of the rate is waited for; what is then a moment late is the machine.
    const stand = () => {
      if (state !== 'waiting') return
      if (trouble === 'refused' || this.spell === 'down') return unsent('connect', 'connection refused')
      const lateMs = random.chance(0.1) ? random.between(0, 60) : random.next() * 2
      void moment().then(() => void world.after(lateMs, leave, life))
    }
    world.after(connectMs, stand, life)
    const leave = () => {
      if (state !== 'waiting') return
      const refusal = fence()
      if (refusal !== null) return unsent(refusal, 'held back before the first byte')
      state = 'started'
      this.#connecting.delete(life)
      this.#opens(open)
      const sentAtMs = life.clock.nowMs()
      const lost = (detail: string) =>
        void (state === 'started' && settle({ kind: 'lost', sentAtMs, httpStatus: null, detail }))
      const held = this.#onFirstByte(life, accountId, instruction)
      this.#reach('sent', life)
      // As undici's handler does it: what has arrived already is read before the deadline counts.
      world.after(
        this.weather.timeoutMs,
        () => void world.after(0, () => lost('no complete answer in time'), life),
        life,
        true,
      )
      const request = { accountId, instruction, trouble, rowId: held?.id ?? 0, attempt: held?.attempt ?? 0 }
      this.#travel(life, request, lost, (answered) =>
        settle({ ...answered, kind: 'answered', sentAtMs, answeredAtMs: life.clock.nowMs() }),
      )
    }
    return { outcome, abandon: () => unsent('abandoned', 'given up before it was sent') }
  }

  /** Of a process that is dead or late nobody knows, and others are given its places once its answer can come no more. */
  #opens(open: { readonly life: Life; untilMs: number }): void {
    const { nowMs } = this.#world
    open.untilMs = nowMs + this.weather.timeoutMs
    this.#open = [...this.#open.filter(({ life, untilMs }) => life.isAlive && untilMs > nowMs), open]
    if (this.#inFlightMax !== null && this.#open.length > this.#inFlightMax)
      this.#world.fail(`${this.#open.length} requests are open, and ${this.#inFlightMax} may be`)
  }

  /** No byte without a durable claim, and none later than the claim allows. */
  #onFirstByte(life: Life, accountId: AccountId, { reference }: Instruction): HeldRow | undefined {
    const held = this.#holder.held(accountId, reference)
    const { nowMs: atMs, wallMs } = this.#world
    this.starts.push({ atMs, wallMs, life: life.name, accountId, rowId: held?.id ?? 0, reference })
    life.say(() => `${reference}: the first byte leaves; the ledger has it as ${held?.state}, attempt ${held?.attempt}`)
    if (!this.#strict) return held
    if (held?.state !== 'SENDING')
      this.#world.fail(`a byte left for ${reference}, which the ledger has as ${held?.state}`)
    else if (wallMs > held.sendBy)
      this.#world.fail(`a byte left for ${reference} ${wallMs - held.sendBy} ms after the send-by of its claim`)
    return held
  }

  /** From the first byte on. What happens at the gateway happens whether its client lives or not. */
  #travel(life: Life, request: Request, lost: (detail: string) => void, answered: (with_: Answered) => void): void {
    const world = this.#world
    const { random } = world
    const { trouble } = request
    const onewayMs = () => random.between(0.2, 1) * this.#latencyMs
    if (trouble === 'reset-before') return void world.after(onewayMs(), () => lost('reset'), life)
    if (trouble === 'hangs-before') return
    const answer = (with_: Answered, afterMs: number): void => {
      if (trouble === 'hangs-after') return
      const cut = trouble === 'reset-after' ? 'reset' : trouble === 'cut-short' ? 'cut short' : null
      world.after(afterMs, () => (cut === null ? answered(with_) : lost(cut)), life)
    }
    const workMs =
      trouble === 'late-execution' ? random.between(this.weather.timeoutMs, LATE_MS) : random.between(0, 2) * onewayMs()
    world.after(onewayMs() + workMs, () => {
      const refusal = this.#refusalOf(trouble, request.instruction)
      if (refusal !== null) return answer(refusal, onewayMs())
      const executed = this.#repeated(request, this.#execute(request))
      const backMs = trouble === 'late-answer' ? this.weather.timeoutMs * random.between(0.8, 1.5) : onewayMs()
      answer(this.#answerOf(request, executed), backMs)
    })
  }

  /** What the gateway says without executing anything; null: it executes. */
  #refusalOf(trouble: Trouble | null, instruction: Instruction): Answered | null {
    const { random } = this.#world
    const plain = (httpStatus: number, retryAfterMs: number | null = null): Answered => ({
      ...this.#bare(random.pick(PLAIN_BODIES), instruction),
      httpStatus,
      retryAfterMs,
    })
    if (this.spell === '429' || trouble === 'told-to-wait' || this.#isSingledOut(instruction))
      return plain(429, random.chance(0.6) ? random.whole(1, 3) * 1000 : null)
    if (this.spell === '401' || this.spell === '404') return plain(Number(this.spell))
    if (this.spell === '403' || trouble === 'forbidden') return plain(403)
    if (trouble === 'refused-as-wrong') return plain(random.pick([400, 411, 413, 414, 415, 422, 431]))
    if (trouble === 'error-before') return plain(random.pick([500, 502, 503, 504, 408, 409, 302]))
    return null
  }

  #isSingledOut({ reference }: Instruction): boolean {
    const { random } = this.#world
    const singled = this.#singledOut.get(reference) ?? random.chance(this.weather.singledOut)
    this.#singledOut.set(reference, singled)
    return singled && !this.calm
  }

  #execute(request: Request): Execution {
    const world = this.#world
    const { accountId, instruction, rowId, attempt, trouble } = request
    const executed: Execution = {
      atMs: world.nowMs,
      accountId,
      rowId,
      attempt,
      reference: instruction.reference,
      instruction,
      status: world.random.chance(this.weather.declines) ? 'DECLINED' : 'APPROVED',
      transactionId: String(700_000 + this.executions.length),
      otherAmount: trouble === 'other-amount' && instruction.money !== null,
    }
    this.executions.push(executed)
    const which = () =>
      `${executed.reference} of row ${rowId}, attempt ${attempt}: ${executed.status} as ${executed.transactionId}`
    world.say('gateway', () => `executes ${which()}`)
    const approved = this.executedOf(accountId, instruction.reference).filter(({ status }) => status === 'APPROVED')
    if (approved.length > 1 + (this.sendAgains.get(`${accountId}/${instruction.reference}`) ?? 0))
      world.fail(
        `${instruction.reference} was executed ${approved.length} times, and nobody ordered it to be sent again`,
      )
    return executed
  }

  /** What the client is told of: the second of two, where there were two. */
  #repeated({ instruction }: Request, first: Execution): Execution {
    const { repeats } = this.weather
    if (this.calm || first.status === 'DECLINED' || isVaultOperation(instruction.operation)) return first
    if (repeats === 0 || !this.#world.random.chance(repeats)) return first
    const second: Execution = { ...first, status: 'DECLINED', transactionId: String(700_000 + this.executions.length) }
    this.executions.push(second)
    this.#repeats.add(second.transactionId)
    this.#world.say('gateway', () => `${second.reference} came twice: DECLINED as ${second.transactionId}`)
    return second
  }

  /** That it was done before, or that the order has too little left by now. Where it has enough, only a duplicate is declined. */
  #secondAdvice(
    accountId: AccountId,
    { operation, orderId, money }: Instruction,
    done: string,
    second: Execution,
  ): string {
    const isSaidByBalance = Number(second.transactionId) % 2 === 0
    if (!isSaidByBalance || money === null || (operation !== 'REFUND' && operation !== 'CAUTH')) return done
    const rest = this.#restOf(accountId, operation, plainOrderOf(orderId))
    if (rest === null || rest >= money.amountMinor) return done
    const text = (amountMinor: bigint) => formatAmount({ ...money, amountMinor })
    return `Order balance: ${text(rest < 0n ? 0n : rest)}, requested: ${text(money.amountMinor)}`
  }

  /**
   * What is left of an order to be refunded, or to be captured. null: more than one part of it was moved, so that whoever does not know how
   * much it was sold for cannot tell why it is short.
   */
  #restOf(accountId: AccountId, operation: 'REFUND' | 'CAUTH', order: string): bigint | null {
    const approved = this.executions.filter((one) => one.accountId === accountId && one.status === 'APPROVED')
    const sumOf = (some: readonly Execution[]) =>
      some.reduce((sum, { instruction }) => sum + (instruction.money?.amountMinor ?? 0n), 0n)
    const ofOrder = (...operations: string[]) =>
      approved.filter(
        ({ instruction }) => operations.includes(instruction.operation) && plainOrderOf(instruction.orderId) === order,
      )
    const answered = (...operations: string[]) =>
      approved.filter(
        ({ instruction, transactionId }) =>
          operations.includes(instruction.operation) && orderIdOf(transactionId) === order,
      )
    const sources = operation === 'CAUTH' ? answered('AUTH') : [...answered('CAPTURE', 'CAUTH'), ...ofOrder('CAUTH')]
    const moved = ofOrder(operation)
    if (moved.length > 1 && this.#holder.knows?.(accountId, order) !== true) return null
    return sources.length === 0 ? 0n : sumOf(sources) - sumOf(moved)
  }

  /** Instructions of which a person said that they were to be sent again although they had been executed. */
  readonly misjudged = new Set<string>()
  /** How often a person ordered an instruction to be sent again. */
  readonly sendAgains = new Map<string, number>()

  #answerOf({ accountId, instruction, trouble }: Request, executed: Execution): Answered {
    const { random } = this.#world
    const { connection, notExecutedStatus } = this.weather
    if (isVaultOperation(instruction.operation)) return this.#vaultAnswerOf(instruction, trouble, executed)
    const advice = this.#repeats.has(executed.transactionId)
      ? this.#secondAdvice(accountId, instruction, random.pick(DONE_BEFORE), executed)
      : 'not today'
    const answer = trueAnswer(instruction, executed, advice)
    const stale = connection === 'warm' && trouble === 'stale-answer' ? this.#staleAnswer(answer, accountId) : null
    this.#answers.push({ answer, accountId, atMs: this.#world.nowMs })
    const told = (
      with_: Answer,
      httpStatus = executed.status === 'DECLINED' && random.chance(0.3) ? 402 : 200,
    ): Answered => ({
      ...this.#bare({ bytes: Buffer.from(JSON.stringify(with_)) }, instruction),
      httpStatus,
    })
    switch (trouble) {
      case 'error-after': {
        const codes = [500, 502, 503, 504].filter((code) => !notExecutedStatus.includes(code))
        return { ...this.#bare({ bytes: Buffer.from('error') }, instruction), httpStatus: random.pick(codes) }
      }
      case 'wrong-echo':
        return told({ ...answer, TRANS_ORDER_ID: '999999', TRANS_RECORD_ID: '999998', XTL_ORDER_ID: 'ANOTHER' })
      case 'no-echo': {
        const { TRANS_ORDER_ID: _order, TRANS_RECORD_ID: _record, XTL_ORDER_ID: _xtl, ...rest } = answer
        return told(rest)
      }
      case 'no-transaction-id': {
        const { TRANS_REQUEST_ID: _id, ...rest } = answer
        return told(random.chance(0.5) ? rest : { ...rest, TRANS_REQUEST_ID: '0' })
      }
      case 'stale-answer':
        return told(stale ?? answer)
      case 'unknown-status':
        return told({ ...answer, TRANS_STATUS_NAME: 'PENDING' })
      case 'approved-with-500':
        return told(answer, 500)
      case 'executed-with-refusal': {
        const place = random.pick(hidingPlaces(JSON.stringify(answer)))
        return { ...this.#bare(place, instruction), httpStatus: random.pick([...REFUSALS, ...notExecutedStatus]) }
      }
      default:
        return told(answer)
    }
  }

  #vaultAnswerOf(instruction: Instruction, trouble: Trouble | null, executed: Execution): Answered {
    const { random } = this.#world
    const { notExecutedStatus } = this.weather
    const { data, ...answer } = trueVaultAnswer(instruction, executed)
    const told = (with_: object, httpStatus = 200): Answered => ({
      ...this.#bare({ bytes: Buffer.from(JSON.stringify(with_)) }, instruction),
      httpStatus,
    })
    const whole = data === undefined ? answer : { ...answer, data }
    switch (trouble) {
      case 'error-after':
        return told({ message: 'error' }, 502)
      case 'wrong-echo':
        return told(
          data === undefined
            ? answer
            : { ...answer, data: { ...data, cc_last_4_digit: '0000', customer_vault_id: 99 } },
        )
      case 'no-echo':
        return told(data === undefined ? answer : { ...answer, data: { customer_vault_id: data.customer_vault_id } })
      case 'no-transaction-id':
        return told(answer)
      case 'unknown-status':
        return told({ ...whole, status: 'Pending' })
      case 'approved-with-500':
        return told(whole, 500)
      case 'executed-with-refusal': {
        const places = hidingPlaces(JSON.stringify(whole)).filter(({ title }) => HIDES_ANY.includes(title))
        const place = data === undefined ? { bytes: Buffer.from(JSON.stringify(whole)) } : random.pick(places)
        return { ...this.#bare(place, instruction), httpStatus: random.pick([...REFUSALS, ...notExecutedStatus]) }
      }
      default:
        return told(whole)
    }
  }

  /** What a kept-alive connection may still hold for another request: at its most treacherous, of the same order. */
  #staleAnswer(own: Answer, accountId: AccountId): Answer | null {
    const since = this.#world.nowMs - STALE_MS
    const recent = this.#answers.filter((kept) => kept.accountId === accountId && kept.atMs > since)
    const alike = recent.filter(({ answer }) => answer.TRANS_ORDER_ID === own.TRANS_ORDER_ID)
    return (alike.at(-1) ?? recent.at(-1))?.answer ?? null
  }

  /** Read as the program reads it. */
  #bare({ bytes, headers = {} }: Omit<KnownBody, 'title'>, { operation }: Instruction): Answered {
    const { body, text } = readAnswer(bytes, headers['content-encoding'], SCRUB, { ...NOTHING_SENT, operation })
    return { httpStatus: 200, retryAfterMs: null, body, text, connection: this.weather.connection }
  }
}

const SCRUB = createScrub({ username: '', secrets: [] })
/** Every value here is in its form. */
const NOTHING_SENT = { orderId: null, xtlOrderId: null, money: null }

/** Codes that say "not executed". */
const REFUSALS = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 429, 431]

type Answered = Omit<Extract<Outcome, { kind: 'answered' }>, 'kind' | 'sentAtMs' | 'answeredAtMs'>

const ACTIONS: Readonly<Record<TransactionType, string>> = {
  CAPTURE: 'CAPTURE',
  AUTH: 'AUTH',
  CAUTH: 'CAPTURE',
  REFUND: 'REFUND',
  CANCEL: 'CANCEL',
}

function plainOrderOf(orderId: string | null): string {
  return (orderId ?? '').replace(/^0+/, '')
}

/** Of a sale, an authorization or a capture of one: each gets an order of its own. */
export function orderIdOf(transactionId: string): string {
  return `5${transactionId}`
}

/** What the second of two equal requests is told. */
const DONE_BEFORE = ['Duplicate transaction', 'This request has already been processed', 'Order already refunded']

function trueAnswer(
  { operation, money, orderId, xtlOrderId }: Instruction,
  executed: Execution,
  advice: string,
): Answer {
  const byOrder = operation === 'REFUND' || operation === 'CANCEL'
  const amount =
    money === null
      ? null
      : formatAmount(executed.otherAmount ? { ...money, amountMinor: money.amountMinor + 1n } : money)
  return {
    REQUEST_ACTION: ACTIONS[operation as TransactionType],
    TRANS_STATUS_NAME: executed.status,
    TRANS_REQUEST_ID: executed.transactionId,
    TRANS_ORDER_ID: byOrder ? (orderId ?? '').replace(/^0+/, '') : orderIdOf(executed.transactionId),
    ...(amount === null || money === null ? {} : { TRANS_VALUE: `${amount}00`, TRANS_CUR: money.currency }),
    ...(xtlOrderId === null ? {} : { XTL_ORDER_ID: xtlOrderId }),
    ...(executed.status === 'DECLINED' ? { API_ADVICE: advice } : {}),
  }
}

/** Of the places in which the answer to a transaction can hide, those that do not name its fields by themselves. */
const HIDES_ANY = [
  ...['gzip, and says so', 'gzip, and says nothing', 'deflate', 'brotli', 'UTF-16', 'with a NUL in front'],
  ...['full-width letters', 'cut in the middle', 'in an array', 'in an object', 'in a string of an object'],
  ...['in a string of a string', 'in base64', 'gzip in base64', 'lower-case names', 'two objects', 'in a script'],
]

function trueVaultAnswer(
  { operation, vaultId, card, details }: Instruction,
  { status, transactionId }: Execution,
): { readonly status: string; readonly data?: Readonly<Record<string, unknown>>; readonly errorMessage?: string } {
  if (status === 'DECLINED') return { status: 'Failed', errorMessage: 'not today' }
  if (operation === 'VAULT_DELETE' || card === null) return { status: 'Success' }
  const { bin, lastFour, expiry } = card
  const data = {
    ...{ customer_vault_id: vaultId === null ? Number(transactionId) : Number(vaultId), ...details },
    ...{ cc_bin: bin, cc_last_4_digit: lastFour, customer_id: 31 },
    ...{ cc_expiry_mm: expiry.month, cc_expiry_yy: expiry.year.slice(-2) },
  }
  return { status: 'Success', data }
}

function wordsOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'unsent':
      return `unsent (${outcome.why})`
    case 'lost':
      return `lost (${outcome.detail})`
    case 'answered':
      return `answered ${outcome.httpStatus} ${outcome.text}`
  }
}
