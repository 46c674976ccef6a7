// One connection to the server, and what runs on it: transactions, and in them scripts, step by step.

import type { Duplex } from 'node:stream'
import { Client, type CustomTypesConfig, DatabaseError, type QueryConfig, types } from 'pg'
import { TLS } from '../../domain/tls.ts'
import { POSTGRES, type Spelled, spell } from '../texts/dialect.ts'
import type { Found, Script, Step, Value } from '../texts/script.ts'
import { isLost, LostConnection, NotCommitted, UnreadValue, UnsureCommit } from './errors.ts'
import { Together } from './together.ts'

export interface Address {
  readonly url: string
  /** null, or absent: none. `ca`: PEM; null: the authorities of Node. */
  readonly tls?: { readonly ca: string | null } | null
  /** false: a pooler gives each transaction another connection, on which nothing is prepared. Absent: true. */
  readonly prepares?: boolean
  /** A statement that is not answered for so long has lost its connection. Absent: 10 s. */
  readonly answerWithinMs?: number
  /** Where the tables are. It is named in every transaction: a pooler gives each one another connection. */
  readonly schema: string
}

/** One statement of the engine's own, prepared, with `$1` and lists as values. */
export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Of the server, by their names there. */
export type Settings = Readonly<Record<string, string>>

export interface Begun {
  /** What the last statement of its opening found. */
  readonly opened: readonly object[]
  /** What each of those behind it found. */
  readonly found: readonly (readonly object[])[]
}

export interface ReadOptions {
  readonly settings?: Settings
  /** Called with the first step, which takes the snapshot. */
  readonly begin?: <T>(first: () => Promise<T>) => Promise<T>
}

export const AT_ONCE: NonNullable<ReadOptions['begin']> = (first) => first()

export interface Session {
  /** `opening`: further statements for its beginning. Resolves to what the last of them found. */
  begin(isolation: 'READ COMMITTED' | 'REPEATABLE READ', opening?: string): Promise<readonly object[]>
  /** All of it in one message. Where one of these statements fails, none behind it is begun. `settings` are the transaction's own. */
  beginWith(settings: Settings, opening: readonly Asked[], first: readonly Asked[]): Promise<Begun>
  /** To its end, awaiting each step. */
  run<T>(script: Script<T>): Promise<T>
  /** The same in a transaction of its own, which sees one snapshot, taken by its first step, that `begin` runs. Its end is not awaited. */
  read<T>(script: Script<T>, how?: ReadOptions): Promise<T>
  ask<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** As it stands, without a result: for statements of the engine itself. */
  exec(text: string): Promise<readonly object[]>
  /**
   * Throws `UnsureCommit` where the server says that another server may not have it yet. `last`: statements that go before it in the same
   * message; where one of them fails, it throws `NotCommitted`.
   */
  commit(last?: readonly Asked[]): Promise<void>
  /** What it runs meanwhile may take as long as it takes. */
  patiently<T>(run: () => Promise<T>): Promise<T>
  /** Never throws: where it cannot be rolled back, the connection is over, and the server rolls it back. */
  rollback(): Promise<void>
  readonly isOver: boolean
  /** For what speaks to the server in other ways than by statements, within `asked`. */
  readonly client: Client
  /** Throws `LostConnection` where the answer does not come. */
  asked<T>(question: Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * The server lets go of the locks of a machine that is gone: by itself it would notice after two hours. And of none that waits: for a
 * person, perhaps, who is asked about a file.
 */
const KEEPALIVE = `SET idle_session_timeout TO 0; SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3;
  SET tcp_user_timeout TO 25000`

/** Who takes too long is judged here, and by the transactors. */
const NO_TIMEOUTS: Settings = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' }

/** For what is asked again and again: by itself, the server may make a plan each time, and a worse one. */
export const GENERIC_PLAN: Settings = { plan_cache_mode: 'force_generic_plan' }

/**
 * Of a transaction that deletes the claims of what it settles and notes their transaction ids by statements of its own: the triggers leave
 * both to it. Row by row it takes several times as long.
 */
export const KEEPS_KEYS: Settings = { 'tranche.keeps_keys': 'on' }
export const LEAVES_KEYS: Settings = { 'tranche.keeps_keys': 'off' }

/** For one transaction, in one statement: each statement of a message costs both sides something. */
export function settingText(settings: Settings): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const each = Object.entries(settings).map(([name, value]) => `set_config(${quoted(name)}, ${quoted(value)}, true)`)
  return `SELECT ${each.join(', ')}`
}

/** How long a server may take to let a connection in. */
const CONNECT_WITHIN_MS = 10_000
const ANSWER_WITHIN_MS = 10_000

export async function openSession({
  url,
  schema,
  tls = null,
  prepares = true,
  answerWithinMs = ANSWER_WITHIN_MS,
}: Address): Promise<Session> {
  const client = new Client({
    connectionString: url,
    ...(tls !== null && { ssl: { ...TLS, ...(tls.ca !== null && { ca: tls.ca }) } }),
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    application_name: 'tranche',
  })
  let isOver = false
  let patience = 0
  let warnings: string[] = []
  /** Of the last transaction that only read. */
  let ending: Promise<unknown> = Promise.resolve()
  client.on('notice', ({ code = '', message = '' }) => {
    if (/^(01|57)/.test(code)) warnings.push(message)
  })
  client.on('error', () => {
    isOver = true // whoever uses it is told by the statement that is under way, or by the next one
  })
  client.on('end', () => {
    isOver = true
  })

  /** Any error but the server's is the connection's. A connection that does not answer in time is cut. */
  async function asked<T>(question: Promise<T>): Promise<T> {
    const giveUp = patience > 0 ? undefined : setTimeout(() => cut(client, answerWithinMs), answerWithinMs)
    try {
      return await question
    } catch (error) {
      throw error instanceof DatabaseError || error instanceof UnreadValue ? error : new LostConnection(error)
    } finally {
      clearTimeout(giveUp)
    }
  }

  await asked(client.connect())
  await asked(client.query(KEEPALIVE))
  const own: Settings = { search_path: quoteName(schema), ...NO_TIMEOUTS, ...LEAVES_KEYS }

  function queryOfStep(step: Step): QueryConfig {
    const { text, names, name } = spelled(step.text)
    const values = names.map((one) => toParameter(step.values[one] ?? null))
    return {
      ...{ text, values, types: READERS[step.found] },
      ...(prepares && { name }),
      ...(step.found === 'lists' && { rowMode: 'array' }),
    }
  }

  async function answer(step: Step): Promise<unknown[]> {
    return (await asked(client.query(queryOfStep(step)))).rows
  }

  /** Carries it out with the beginning of a transaction, in one message. */
  async function answerFirst(step: Step, settings: Settings): Promise<unknown[]> {
    const begin = ['BEGIN ISOLATION LEVEL REPEATABLE READ', settingText({ ...own, ...settings })]
    const all = [...begin.map((text) => queryOf({ text, values: [] })), queryOfStep(step)]
    const { results } = client.query(new Together(all))
    return (await asked(results)).at(-1)!.rows
  }

  async function rollback(): Promise<void> {
    try {
      await asked(client.query('ROLLBACK'))
    } catch {
      isOver = true
      await client.end().catch(() => {})
    }
  }

  async function exec(text: string): Promise<readonly object[]> {
    const found: unknown = await asked(client.query({ text, types: READERS.rows }))
    const last = Array.isArray(found) ? found.at(-1) : found
    return (last as { rows: object[] }).rows
  }

  function queryOf({ text, values }: Asked): QueryConfig {
    return { text, ...(prepares && { name: nameOf(text) }), values: values.map(toParameters), types: READERS.rows }
  }

  return {
    client,
    asked,
    exec,
    ask: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await asked(client.query<Row>(queryOf({ text, values })))).rows,
    begin: (isolation, opening = '') =>
      exec([`BEGIN ISOLATION LEVEL ${isolation}`, settingText(own), ...(opening === '' ? [] : [opening])].join('; ')),
    async beginWith(settings, opening, first) {
      const begin = ['BEGIN ISOLATION LEVEL READ COMMITTED', settingText({ ...own, ...settings })]
      const before = [...begin.map((text) => ({ text, values: [] })), ...opening]
      const { results } = client.query(new Together([...before, ...first].map(queryOf)))
      const found = (await asked(results)).map(({ rows }) => rows as object[])
      return { opened: found[before.length - 1] as object[], found: found.slice(before.length) }
    },
    async run(script) {
      let step = script.next()
      while (step.done !== true) step = script.next(await answer(step.value))
      return step.value
    },
    async read(script, { settings = {}, begin = AT_ONCE } = {}) {
      let step = script.next()
      if (step.done === true) return step.value
      const first = step.value
      try {
        step = script.next(await begin(() => answerFirst(first, settings)))
        while (step.done !== true) step = script.next(await answer(step.value))
      } catch (error) {
        await rollback()
        throw error
      }
      ending = client.query('COMMIT').catch(() => {}) // its next user is told
      return step.value
    },
    async commit(last = []) {
      warnings = []
      const all = client.query(new Together([...last, { text: 'COMMIT', values: [] }].map(queryOf)))
      const results = await asked(all.results).catch((error: unknown) => {
        // A pooler that lost its server says so itself, whatever the server has done and not told yet.
        const isRefused = error instanceof DatabaseError && !isLost(error) && all.answered < last.length
        throw isRefused ? new NotCommitted(error) : error
      })
      if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back')
      if (warnings.length > 0) throw new UnsureCommit(warnings.join('; '))
    },
    async patiently(run) {
      patience += 1
      return run().finally(() => {
        patience -= 1
      })
    },
    rollback,
    get isOver() {
      return isOver
    },
    async close() {
      isOver = true
      const giveUp = setTimeout(() => cut(client, answerWithinMs), answerWithinMs)
      await ending
      await client.end().catch(() => {}) // it may be gone already
      clearTimeout(giveUp)
    },
  }
}

/** On the spot: what is under way on it rejects. */
function cut(client: Client, afterMs: number): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Duplex } }
  connection.stream.destroy(new Error(`no answer within ${afterMs / 1_000} s`))
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

// ───────────────────────────────────────────────────────────── Texts

interface Named extends Spelled {
  /** Under which the server keeps it, prepared. */
  readonly name: string
}

const SPELLED = new Map<string, Named>()
const NAMES = new Map<string, string>()

function nameOf(text: string): string {
  const known = NAMES.get(text)
  if (known !== undefined) return known
  const name = `t${NAMES.size + 1}`
  NAMES.set(text, name)
  return name
}

function spelled(text: string): Named {
  const known = SPELLED.get(text)
  if (known !== undefined) return known
  const made = { ...spell(text, POSTGRES), name: nameOf(text) }
  SPELLED.set(text, made)
  return made
}

// ───────────────────────────────────────────────────────────── Values

/** Its texts cannot hold U+0000. */
export function toParameter(value: Value): Value {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

function toParameters(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toParameters)
  return typeof value === 'string' ? toParameter(value) : value
}

/** Whole numbers, which `pg` leaves as text. What a `number` does not hold must be asked for as `exact`. */
function toSafe(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new UnreadValue(`bug: ${text} is read as a number`)
  return number
}

function toExact(text: string): bigint {
  if (!/^-?\d+$/.test(text)) throw new UnreadValue(`bug: ${text} is read as a whole number`)
  return BigInt(text)
}

const WHOLE: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC])

function readersWith(whole: (text: string) => unknown): CustomTypesConfig {
  return { getTypeParser: (oid, format) => (WHOLE.has(oid) ? whole : types.getTypeParser(oid, format as 'text')) }
}

const READERS: Readonly<Record<Found, CustomTypesConfig>> = {
  rows: readersWith(toSafe),
  exact: readersWith(toExact),
  lists: readersWith(toSafe),
}
