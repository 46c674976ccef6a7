// What one attempt to send told us, before anyone judges it. Made by `gateway/`, judged by `verdict.ts`.

/** The gateway's answer: its fields by name, each as the digits or text received, absent and null left out. */
export type Answer = Readonly<Record<string, string>>

/** Why not one byte left. `fence` and `pace` are our own refusals at the last instant; `connect` is the network's. */
export type UnsentWhy = 'fence' | 'pace' | 'connect' | 'abandoned'

export type Connection = 'fresh' | 'warm'

/** One attempt, as seen from the socket. Times are epoch milliseconds. */
export type Outcome =
  /** The request was never started: certainly not executed. */
  | { readonly kind: 'unsent'; readonly why: UnsentWhy; readonly detail: string }
  /** A complete HTTP answer arrived. `answer` is null where the body is not the JSON object promised. */
  | {
      readonly kind: 'answered'
      readonly sentAtMs: number
      readonly answeredAtMs: number
      readonly httpStatus: number
      readonly retryAfterMs: number | null
      readonly answer: Answer | null
      /** The body, one line, cut to 2,000 characters, card numbers masked. */
      readonly text: string
      readonly connection: Connection
    }
  /** The request was started and no complete answer came: it may have been executed. */
  | { readonly kind: 'lost'; readonly sentAtMs: number; readonly httpStatus: number | null; readonly detail: string }
