// The PostgreSQL server of a run, as its workers reach it: slowly, now and then not at all, with answers that get lost. What it does is a
// real server's doing, on one connection and in one transaction, of which each transaction of a worker is a part: that makes it quick to
// put back to an earlier state, and to none at the end. Its time and its identity are the simulation's.

import { setImmediate as drained } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { LostConnection, NotCommitted, UnsureCommit } from '../../../src/ledger/postgres/errors.ts'
import { makeServerLedger } from '../../../src/ledger/postgres/open.ts'
import {
  type Asked,
  AT_ONCE,
  LEAVES_KEYS,
  openSession,
  type Session,
  type Settings,
} from '../../../src/ledger/postgres/session.ts'
import type { Script, Step } from '../../../src/ledger/texts/script.ts'
import { BEGINNING_MS, type Life, type World } from '../world.ts'

/** How the way to the server, and the server itself, misbehave in one run. */
export interface ServerHabits {
  /** The longest that a statement takes to get there, and its answer to come back. */
  readonly latencyMs: number
  /** How often the connection breaks before a transaction. */
  readonly breaks: number
  /** How often the answer to a COMMIT is lost: of one that was done, of one that was not, of one that is done later. */
  readonly losesDone: number
  readonly losesUndone: number
  readonly late: number
  /** How often a COMMIT stands here, and the server says that its standby may not have it. */
  readonly unsure: number
  /** By how much its clock is off. */
  readonly clockOffMs: number
}

const STEADY: Omit<ServerHabits, 'latencyMs' | 'clockOffMs'> = {
  ...{ breaks: 0, losesDone: 0, losesUndone: 0, late: 0, unsure: 0 },
}

/** The longest that a transaction is committed after its client has given it up. */
const LATE_MS = 6_000
/** The watchdog of a client. */
const ANSWER_WITHIN_MS = 10_000
const LOCK_WITHIN_MS = 2_000
/** The server ends the transaction of a client that has fallen silent. */
const SILENT_MS = 10_000

/** Of one worker: one transaction at a time is under way at the server, which is what locks would make of them, at their strictest. */
interface Turn {
  readonly life: Life
  /** It changes nothing: the server does not know of it. */
  readonly isReading: boolean
  /** Its transaction is not there any more. */
  readonly onLost: () => void
}

export class SimulatedServer {
  readonly #session: Session
  readonly schema: string
  readonly ledgerId: string
  #world!: World
  #habits!: ServerHabits
  #asking = 0
  /** Whoever waits until nothing is being asked. */
  #answered: () => void = () => {}
  /** One question at a time. */
  #lastAnswer: Promise<unknown> = Promise.resolve()
  #turn: Turn | null = null
  #waiting: Array<{ readonly turn: Turn; readonly begin: () => void }> = []
  #generation = 0
  #downUntilMs = 0
  #startedMs = 0
  #timeline = 1
  #locks = new Map<string, Life>()
  /** The end of a transaction, which nothing depends on before the next statement by which something changes. */
  #first = ''
  /** Whose temporary tables there are. */
  #drafting: (() => void) | null = null
  #copy: { readonly sequences: readonly string[] } | null = null
  #plant: (text: string) => string = (text) => text

  private constructor(session: Session, schema: string, ledgerId: string) {
    this.#session = session
    this.schema = schema
    this.ledgerId = ledgerId
  }

  /** In a database of which nobody else uses that schema. */
  static async open(url: string, schema = 'hosts'): Promise<SimulatedServer> {
    const session = await openSession({ url, schema, answerWithinMs: 60_000 })
    const { ledgerId } = await makeServerLedger({ url, schema }, 'none')
    const simulated = `${schema}_simulated`
    await session.exec(`${timeAndIdentity(schema, simulated)}; ${QUICK}`)
    await session.exec(`SET search_path TO ${simulated}, ${schema}, pg_catalog`)
    return new SimulatedServer(session, schema, ledgerId)
  }

  /** As if there had never been anything. */
  async begin(world: World, habits: ServerHabits, plant: (text: string) => string = (text) => text): Promise<void> {
    this.#world = world
    this.#habits = habits
    this.#plant = plant
    this.#turn = null
    this.#waiting = []
    this.#generation += 1
    this.#downUntilMs = 0
    this.#startedMs = -3_600_000
    this.#timeline = 1
    this.#locks = new Map()
    this.#copy = null
    this.#drafting = null
    this.#first = ''
    await this.#session.exec(`${firstNumbers(this.schema)}; BEGIN`)
  }

  async end(): Promise<void> {
    await this.#session.exec('ROLLBACK')
  }

  async close(): Promise<void> {
    await this.#session.close()
  }

  /** Resolves when nobody can do anything more without another event. */
  quiet = async (): Promise<void> => {
    await drained()
    while (this.#asking > 0) {
      await new Promise<void>((resolve) => {
        this.#answered = resolve
      })
      await drained()
    }
  }

  /** Straight from the tables, for the books. */
  all<Row extends object>(text: string): Promise<readonly Row[]> {
    return this.#exec(`${this.#moment()}; ${text}`) as Promise<readonly Row[]>
  }

  // ───────────────────────────────────────────────────────────── What befalls it

  /** The time that it tells. */
  get wallMs(): number {
    return Math.floor(BEGINNING_MS + this.#habits.clockOffMs + this.#world.nowMs)
  }

  get isDown(): boolean {
    return this.#world.nowMs < this.#downUntilMs
  }

  /** From now on every way to it is steady. */
  calm(): void {
    this.#habits = { ...this.#habits, ...STEADY, latencyMs: Math.min(2, this.#habits.latencyMs) }
  }

  /** Whatever was not committed is gone, and so is every connection. */
  crash(downForMs: number): void {
    this.#world.say('server', () => `crashes, and is back in ${Math.round(downForMs)} ms`)
    this.#generation += 1
    this.#downUntilMs = this.#world.nowMs + downForMs
    this.#startedMs = this.#downUntilMs
    this.#locks.clear()
    for (const { turn } of this.#waiting.splice(0)) turn.onLost()
    if (this.#turn !== null) {
      this.#turn.onLost()
      void this.#end(UNDONE, this.#turn)
      this.#turn = null
    }
    if (this.#drafting !== null) void this.#dropDraft()
  }

  /** For a state that is put back later. */
  async keepCopy(): Promise<boolean> {
    if (this.#turn !== null || this.#copy !== null || this.isDown) return false
    this.#world.say('server', () => 'a copy of it is made')
    const [{ numbers }] = (await this.all<{ numbers: string[] }>(numbersOf(this.schema))) as unknown as [
      { numbers: string[] },
    ]
    this.#copy = { sequences: numbers }
    await this.#exec('SAVEPOINT copy')
    return true
  }

  /** By a person who knows no better, or by what promotes a standby that lagged behind: then it has another timeline. */
  async putBack(downForMs: number, isPromoted: boolean): Promise<boolean> {
    if (this.#copy === null) return false
    this.crash(downForMs)
    if (isPromoted) this.#timeline += 1
    this.#world.say('server', () => `is put back to its copy${isPromoted ? ', on another timeline' : ''}`)
    const { sequences } = this.#copy
    await this.#exec(`ROLLBACK TO SAVEPOINT copy; ${sequences.join('; ')}`)
    return true
  }

  // ───────────────────────────────────────────────────────────── Connections

  /** As one process opens them. */
  connectFor(life: Life): () => Promise<Session> {
    const world = this.#world
    return async () => {
      await this.#travel(life)
      if (world !== this.#world) throw new Error('bug of the simulation: a process of an earlier run asks')
      return this.#sessionOf(life)
    }
  }

  #sessionOf(life: Life): Session {
    const inner = this.#session
    const generation = this.#generation
    let isOver = false
    /** Of a transaction that is under way; `beside`: it sees what another one of its process does, and changes nothing. */
    let under: Turn | 'beside' | null = null
    const lost = () => {
      isOver = true
      under = null
    }
    const over = () => isOver || generation !== this.#generation
    const asserted = () => {
      if (over()) throw new LostConnection(new Error('Connection terminated'))
    }
    const end = async (text: typeof DONE | typeof UNDONE, turn: Turn) => {
      await this.#end(text, turn)
      this.#free(turn)
      under = null
    }
    life.atEnd(() => {
      if (under !== null && under !== 'beside') this.#abandon(under)
      if (this.#drafting === lost) void this.#dropDraft()
    })

    /** Whatever is asked outside a transaction, or in one that only reads, leaves nothing to be undone. */
    async function use<T>(server: SimulatedServer, run: () => Promise<T>): Promise<T> {
      asserted()
      if (under !== null) return server.#ask(run)
      const turn: Turn = { life, isReading: true, onLost: lost }
      await server.#take(turn, null)
      try {
        return await server.#ask(run)
      } finally {
        server.#free(turn)
      }
    }
    const isWriting = () => under !== null && under !== 'beside' && !under.isReading
    /** A transaction that writes was told at its beginning. */
    const tellTime = async (text: string) => {
      if (!isWriting() && TELLS_TIME.test(text)) await inner.exec(this.#withFirst(this.#moment()))
    }

    const ask = (text: string, values: readonly unknown[]) =>
      use(this, async () => {
        await tellTime(text)
        return inner.ask(this.#plant(text), values)
      })
    const askAll = async (asked: readonly Asked[]) => {
      const found: (readonly object[])[] = []
      for (const { text, values } of asked) found.push(await ask(text, values))
      return found
    }
    const begin = async (isolation: Parameters<Session['begin']>[0], opening: string, settings: Settings = {}) => {
      await this.#travel(life)
      asserted()
      const isReading = isolation === 'REPEATABLE READ'
      if (isReading && this.#turn?.life === life) {
        under = 'beside'
        return []
      }
      const turn: Turn = { life, isReading, onLost: lost }
      await this.#take(turn, isReading ? null : LOCK_WITHIN_MS)
      under = turn
      this.#world.after(SILENT_MS, () => {
        if (under === turn) this.#abandon(turn)
      })
      if (isReading) return []
      const text = this.#plant(opening).replaceAll(/(SET LOCAL|SELECT set_config\()[^;]*;/g, '')
      const keys = Object.entries({ ...LEAVES_KEYS, ...settings }).filter(([name]) => name in LEAVES_KEYS)
      const set = keys.map(([name, value]) => `SET ${name} TO ${value}`).join('; ')
      return this.#exec(`SAVEPOINT transaction; ${set}; ${this.#moment()}; ${text}`)
    }

    const session: Session = {
      client: inner.client,
      read: async (script, { begin: taken = AT_ONCE } = {}) => {
        await taken(() => begin('REPEATABLE READ', 'SELECT 1'))
        try {
          const found = await session.run(script)
          await session.commit()
          return found
        } catch (error) {
          await session.rollback()
          throw error
        }
      },
      asked: (question) => this.#counted(() => inner.asked(question)),
      exec: async (text) => {
        const lock = /pg_try_advisory_lock\(([^,]+)/.exec(text)?.[1]
        if (lock === undefined) return use(this, () => this.#session.exec(this.#withFirst(text)))
        await this.#travel(life)
        return [{ taken: this.#takeLock(lock, life) }]
      },
      ask: ask as Session['ask'],
      run: <T>(script: Script<T>) =>
        use(this, async () => {
          let step = script.next()
          while (step.done !== true) {
            const planted = { ...step.value, text: this.#plant(step.value.text) }
            if (planted.text.includes('draft_row') && this.#drafting !== lost) {
              this.#drafting?.()
              this.#drafting = lost
              await inner.exec(this.#withFirst(DROP_DRAFT)) // they would be of connections of their own
            }
            await tellTime(planted.text)
            step = script.next(await inner.run(answerTo(planted)))
          }
          return step.value
        }),
      begin: (isolation, opening = '') => begin(isolation, opening),
      beginWith: async (settings, opening, first) => {
        await begin('READ COMMITTED', 'SELECT 1', settings)
        const opened = await askAll(opening)
        return { opened: opened.at(-1) as readonly object[], found: await askAll(first) }
      },
      commit: async (last = []) => {
        asserted()
        await askAll(last).catch((error: unknown) => {
          throw error instanceof DatabaseError ? new NotCommitted(error) : error
        })
        const turn = under
        if (turn === null || turn === 'beside') {
          under = null
          return
        }
        const fate = this.#fate(life)
        if (fate !== 'done') life.say(() => `commit: ${fate}`)
        const { random } = this.#world
        switch (fate) {
          case 'done':
          case 'unsure':
            await end(DONE, turn)
            await this.#travel(life)
            if (fate === 'unsure') throw new UnsureCommit('canceling wait for synchronous replication')
            return
          case 'lost, done':
          case 'lost, undone':
            await end(fate === 'lost, done' ? DONE : UNDONE, turn)
            lost()
            await life.pause(random.between(0, ANSWER_WITHIN_MS))
            throw new LostConnection(new Error('the answer to COMMIT is lost'))
          case 'late': {
            under = null
            const lateMs = random.between(100, LATE_MS)
            this.#world.after(lateMs, () => {
              if (this.#turn !== turn) return
              void this.#end(DONE, turn)
              this.#free(turn)
            })
            isOver = true
            await life.pause(random.between(0, lateMs))
            throw new LostConnection(new Error('the answer to COMMIT is late'))
          }
        }
      },
      patiently: (run) => run(),
      rollback: async () => {
        if (under !== null && under !== 'beside') await end(UNDONE, under)
        under = null
        if (over()) isOver = true
      },
      get isOver() {
        return over()
      },
      close: async () => {
        if (under !== null && under !== 'beside' && !over()) await end(UNDONE, under)
        isOver = true
        for (const [lock, holder] of this.#locks) if (holder === life) this.#locks.delete(lock)
        if (this.#drafting === lost) await this.#dropDraft()
      },
    }
    return session
  }

  #fate(life: Life): 'done' | 'unsure' | 'lost, done' | 'lost, undone' | 'late' {
    const { random } = this.#world
    if (!/^worker/.test(life.name)) return 'done'
    const { unsure, losesDone, losesUndone, late } = this.#habits
    if (random.chance(unsure)) return 'unsure'
    if (random.chance(losesDone)) return 'lost, done'
    if (random.chance(losesUndone)) return 'lost, undone'
    return random.chance(late) ? 'late' : 'done'
  }

  /** An event of that process: it dies before it, or comes late to it. */
  async #travel(life: Life): Promise<void> {
    const { random } = this.#world
    const breaks = /^worker/.test(life.name) && random.chance(this.#habits.breaks)
    await life.pause(breaks ? random.between(0, ANSWER_WITHIN_MS) : random.between(0.1, 1) * this.#habits.latencyMs)
    if (breaks || this.isDown) throw new LostConnection(new Error('the server cannot be reached'))
  }

  #takeLock(lock: string, life: Life): boolean {
    const holder = this.#locks.get(lock)
    if (holder?.isAlive) return false
    this.#locks.set(lock, life)
    return true
  }

  // ───────────────────────────────────────────────────────────── Turns

  #take(turn: Turn, withinMs: number | null): Promise<void> {
    if (this.#turn === null) {
      this.#turn = turn
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
      }
      const waiting = {
        turn: {
          ...turn,
          onLost: () => {
            turn.onLost()
            reject(new LostConnection(new Error('the server has crashed')))
          },
        },
        begin: () => {
          this.#turn = turn
          resolve()
        },
      }
      this.#waiting.push(waiting)
      turn.life.atEnd(leave)
      if (withinMs === null) return
      this.#world.after(withinMs, () => {
        if (!this.#waiting.includes(waiting)) return
        leave()
        const error = new DatabaseError('canceling statement due to lock timeout', 0, 'error')
        error.code = '55P03'
        reject(error)
      })
    })
  }

  #free(turn: Turn): void {
    if (this.#turn !== turn) return
    this.#turn = null
    this.#waiting.shift()?.begin()
  }

  /** Its connection is gone: nothing of its transaction stays. */
  #abandon(turn: Turn): void {
    if (this.#turn !== turn) return
    turn.onLost()
    void this.#end(UNDONE, turn)
    this.#free(turn)
  }

  /** Nobody sees whether a transaction is part of the whole already, or only when the next one begins. */
  async #end(text: typeof DONE | typeof UNDONE, { isReading }: Turn): Promise<void> {
    if (isReading) return
    if (text === DONE) this.#first = `${DONE}; `
    else await this.#exec(text)
  }

  #withFirst(text: string): string {
    const first = this.#first
    this.#first = ''
    return `${first}${text}`
  }

  #exec(text: string): Promise<readonly object[]> {
    return this.#ask(() => this.#session.exec(this.#withFirst(text)))
  }

  #dropDraft(): Promise<unknown> {
    this.#drafting = null
    return this.#exec(DROP_DRAFT).catch(() => {})
  }

  /** What the real server is asked takes no time in the simulation: nothing else happens meanwhile. */
  #ask<T>(question: () => Promise<T>): Promise<T> {
    return this.#counted(() => {
      const answered = this.#lastAnswer.then(question)
      this.#lastAnswer = answered.catch(() => {})
      return answered
    })
  }

  async #counted<T>(question: () => Promise<T>): Promise<T> {
    this.#asking += 1
    try {
      return await question()
    } finally {
      this.#asking -= 1
      if (this.#asking === 0) this.#answered()
    }
  }

  #moment(): string {
    const at = (ms: number) => Math.floor(BEGINNING_MS + this.#habits.clockOffMs + ms)
    return `SET simulated.now TO ${at(this.#world.nowMs)}; SET simulated.started TO ${at(this.#startedMs)}; SET simulated.timeline TO ${this.#timeline}`
  }
}

/** Texts, before they are spelled for this server, that ask for what is the simulation's own. */
const TELLS_TIME = /clock_timestamp|clock_ms|pg_postmaster_start_time|pg_walfile_name/

function* answerTo(step: Step): Script<unknown[]> {
  return (yield step) as unknown[]
}

/** Most statements run a few times for each seed, and the tables are small. */
const QUICK = 'SET jit TO off; SET plan_cache_mode TO force_generic_plan'
const DONE = 'RELEASE SAVEPOINT transaction'
const UNDONE = 'ROLLBACK TO SAVEPOINT transaction; RELEASE SAVEPOINT transaction'
const DROP_DRAFT = 'DISCARD TEMP'

/** These stand before those of the server, because their schema is named before its own. */
const timeAndIdentity = (schema: string, simulated: string) => `
  CREATE SCHEMA ${simulated};
  CREATE FUNCTION ${simulated}.at(setting TEXT) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT to_timestamp(coalesce(nullif(current_setting(setting, true), '')::numeric, 0) / 1000) $$;
  CREATE FUNCTION ${simulated}.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT ${simulated}.at('simulated.now') $$;
  CREATE FUNCTION ${simulated}.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT ${simulated}.at('simulated.started') $$;
  CREATE FUNCTION ${simulated}.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT lpad(coalesce(nullif(current_setting('simulated.timeline', true), ''), '1'), 8, '0') $$;
  CREATE FUNCTION ${simulated}.pg_control_system(OUT system_identifier BIGINT) LANGUAGE sql STABLE AS $$ SELECT 7::bigint $$;
  UPDATE ${schema}.meta SET value = '7' WHERE key = 'system_id';
  UPDATE ${schema}.meta SET value = '00000001' WHERE key = 'timeline';
  DO $$ DECLARE one RECORD; BEGIN
    FOR one IN SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = '${schema}' AND column_default = 'clock_timestamp()' LOOP
      EXECUTE format('ALTER TABLE ${schema}.%I ALTER COLUMN %I SET DEFAULT ${simulated}.clock_timestamp()', one.table_name, one.column_name);
    END LOOP; END $$`

const sequencesOf = (
  schema: string,
) => `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'S' AND n.nspname = '${schema}'`
const firstNumbers = (schema: string) => `DO $$ DECLARE one TEXT; BEGIN
  FOR one IN ${sequencesOf(schema)} LOOP PERFORM setval(format('${schema}.%I', one)::regclass, 1, false); END LOOP; END $$`
const numbersOf = (
  schema: string,
) => `SELECT array_agg(format('SELECT setval(''${schema}.%I'', %s)', sequencename, coalesce(last_value, 1))) AS numbers
  FROM pg_sequences WHERE schemaname = '${schema}'`
