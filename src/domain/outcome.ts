// What one attempt to send told us, before anyone judges it. Made by `gateway/`, judged by `verdict.ts`.

/**
 * The gateway's answer: the contract's fields by name, absent and null left out. Each is in its form and exactly as received;
 * or it is not, and stands in brackets, so that it equals nothing that was sent and nothing that is known.
 */
export type Answer = Readonly<Record<string, string>>

/** Stands for a field's value of which nothing may be kept. Like every value that is not in its field's form, in brackets. */
export const WITHHELD = '[withheld]'

/** What the body of an answer is. */
export type Body =
  /** The one JSON object promised, with a status. */
  | { readonly kind: 'answer'; readonly status: string; readonly fields: Answer }
  /** Plainly no transaction's answer: the HTTP code says all there is. `message` is its ERROR_MESSAGE. */
  | { readonly kind: 'none'; readonly message: string | null }
  /** Neither: it may be the answer to a request that was executed. */
  | { readonly kind: 'unclear' }

/** Why not one byte left. `fence` and `pace` are our own refusals at the last instant; `connect` is the network's. */
export type UnsentWhy = 'fence' | 'pace' | 'connect' | 'abandoned'

/** `warm`: it may answer something else: the connection carried a request before, or this one had not left whole. */
export type Connection = 'fresh' | 'warm'

/** One attempt, as seen from the socket. Times are epoch milliseconds. */
export type Outcome =
  /** The request was never started: certainly not executed. */
  | { readonly kind: 'unsent'; readonly why: UnsentWhy; readonly detail: string }
  /** A complete HTTP answer arrived. */
  | {
      readonly kind: 'answered'
      readonly sentAtMs: number
      readonly answeredAtMs: number
      /** What time the gateway said it was; null: it did not say. */
      readonly gatewayAtMs?: number | null
      readonly httpStatus: number
      readonly retryAfterMs: number | null
      readonly body: Body
      /** The body, one line, cut to some 2,000 characters, card data masked; or why it is withheld. */
      readonly text: string
      readonly connection: Connection
    }
  /** The request was started and no complete answer came: it may have been executed. */
  | { readonly kind: 'lost'; readonly sentAtMs: number; readonly httpStatus: number | null; readonly detail: string }
