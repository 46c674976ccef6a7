// Cards into the vault beside sales by vault id, by real processes and a sandbox in this one: how fully the limits are used,
// what memory a file takes, and how long card numbers can be found in the memory of the process that sends them.
//
//   npx node bench/cards.ts [pace] [file] [memory]      default all three

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { passesLuhn } from '../src/domain/card-number.ts'
import { openSandbox, type Sandbox } from '../src/sandbox/server.ts'

const PROGRAM = new URL('../bin/tranche.js', import.meta.url).pathname
// ───────────────────────────────────────────────────────────── The three

/** 10,000 of each under a rate, and under a limit of open requests. */
async function pace(): Promise<void> {
  const limits = [
    ['rate 200/s', 0, { TRANCHE_RATE: '200' }],
    ['8 open, 20 ms', 20, { TRANCHE_IN_FLIGHT: '8' }],
  ] as const
  for (const [name, latencyMs, env] of limits) {
    for (const kind of KINDS) {
      await using trial = await openTrial(kind, 10_000, latencyMs, env)
      await trial.run()
      const sent = trial
        .read<{ at: number }>('SELECT sent_at AS at FROM instruction ORDER BY sent_at')
        .map(({ at }) => at)
      const span = ((sent.at(-1) as number) - (sent[0] as number)) / 1000
      const mean = ((sent.length - 1) / span).toFixed(1)
      console.log(
        `${name.padEnd(14)} ${trial.sandbox.log().length} ${kind}: ${mean} a second, at most ${fullest(sent)} in one`,
      )
    }
  }
}

/** The most resident memory that the process ever had. */
async function file(): Promise<void> {
  for (const kind of KINDS) {
    const peaks: number[] = []
    for (const rows of [1_000, 100_000]) {
      await using trial = await openTrial(kind, rows, 0, { TRANCHE_IN_FLIGHT: '64' })
      const peakKb = await trial.run()
      peaks.push(peakKb)
      console.log(`${String(rows).padStart(7)} ${kind}: ${(peakKb / 1024).toFixed(0)} MiB resident at most`)
    }
    const [small = 1, large = 0] = peaks
    console.log(`        ${kind}: ratio ${(large / small).toFixed(2)}`)
  }
}

/** By snapshots of the heap, which collect garbage first, and by reading the pages of the process as they are. */
async function memory(): Promise<void> {
  const ROWS = 3_000
  await using trial = await openTrial('cards', ROWS, 50, { TRANCHE_IN_FLIGHT: '8' })
  const child = trial.start(['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${trial.dir}`])
  await until(() => trial.settled() >= 300)
  await trial.freeze(child, async () => tell('as it is', statesIn(trial), pagesOf(child.pid as number)))
  const before = statesIn(trial) // what was settled by then is not needed any more
  child.kill('SIGUSR2')
  await until(() => snapshotIn(trial.dir) !== null)
  await sleep(3_000) // it is written in pieces
  const path = snapshotIn(trial.dir) as string
  tell('reachable', before, [readFileSync(path)])
  await sleep(5_000)
  await trial.freeze(child, async () => tell('8 s later', statesIn(trial), pagesOf(child.pid as number)))
  child.kill('SIGKILL')
}

interface RowState {
  readonly rowNo: number
  readonly state: string
  readonly at: number | null
}

type States = ReadonlyMap<number, RowState>

function statesIn(trial: Trial): States {
  const rows = trial.read<RowState>('SELECT row_no AS rowNo, state, completed_at AS at FROM instruction')
  return new Map(rows.map((row) => [row.rowNo, row]))
}

/** Numbers of rows that are settled, by how many seconds ago they were. */
function tell(what: string, states: States, pages: Iterable<Buffer>): void {
  const found = new Set<number>()
  for (const page of pages) for (const rowNo of numbersIn(page, states.size)) found.add(rowNo)
  const settled = [...found].filter((rowNo) => states.get(rowNo)?.state === 'APPROVED')
  const ages = settled.map((rowNo) => (Date.now() - (states.get(rowNo)?.at ?? 0)) / 1000)
  const inHand = [...found].filter((rowNo) => states.get(rowNo)?.state === 'SENDING').length
  const ahead = found.size - settled.length - inHand
  const done = [...states.values()].filter(({ state }) => state === 'APPROVED').length
  console.log(
    `${what.padEnd(10)} of ${done} settled cards ${settled.length} are found (${oldest(ages)}); ${inHand} being sent; ${ahead} read ahead`,
  )
}

function oldest(ages: readonly number[]): string {
  return ages.length === 0 ? 'none' : `settled ${Math.max(...ages).toFixed(1)} s ago at most`
}

// ───────────────────────────────────────────────────────────── Numbers

const BEGINNING = '411111'

function numberOf(rowNo: number): string {
  const start = `${BEGINNING}${String(100_000_000 + rowNo)}`
  return [...'0123456789'].map((last) => start + last).find(passesLuhn) as string
}

const FORMS = [Buffer.from(`${BEGINNING}1`, 'latin1'), Buffer.from(`${BEGINNING}1`, 'utf16le')]

/** Rows whose number stands in the bytes, in either form in which V8 holds text. */
function* numbersIn(bytes: Buffer, rows: number): Generator<number> {
  for (const [form, step] of [
    [FORMS[0] as Buffer, 1],
    [FORMS[1] as Buffer, 2],
  ] as const) {
    for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, at + step)) {
      const text = bytes.subarray(at, at + 16 * step).toString(step === 1 ? 'latin1' : 'utf16le')
      const rowNo = Number(text.slice(6, 15)) - 100_000_000
      if (rowNo >= 1 && rowNo <= rows && text === numberOf(rowNo)) yield rowNo
    }
  }
}

/** Every writable page, as `/proc` shows it. */
function* pagesOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const match = /^([\da-f]+)-([\da-f]+) rw/.exec(line)
      if (match === null) continue
      const [from, to] = [Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16)]
      for (let at = from; at < to; at += PIECE) {
        const piece = Buffer.alloc(Math.min(PIECE, to - at) + 32)
        try {
          yield piece.subarray(0, readSync(memory, piece, 0, Math.min(piece.length, to - at), at))
        } catch {} // a page that cannot be read
      }
    }
  } finally {
    closeSync(memory)
  }
}

const PIECE = 16 * 1024 * 1024

function snapshotIn(dir: string): string | null {
  const name = readdirSync(dir).find((found) => found.endsWith('.heapsnapshot'))
  return name === undefined ? null : join(dir, name)
}

// ───────────────────────────────────────────────────────────── A trial

const KINDS = ['cards', 'sales'] as const
type Kind = (typeof KINDS)[number]

const COMMANDS: Readonly<Record<Kind, readonly string[]>> = {
  cards: ['vault', 'create'],
  sales: ['run', '--operation', 'CAPTURE'],
}

const FILES: Readonly<Record<Kind, (rows: number) => string>> = {
  cards: (rows) =>
    linesOf(
      'reference,first_name,last_name,card_number,card_exp_mm,card_exp_yy,card_cvv',
      rows,
      (no) => `C-${no},Ada,Byron ${no},${numberOf(no)},12,30,737`,
    ),
  sales: (rows) =>
    linesOf('reference,amount,request_currency,customer_vault_id', rows, (no) => `S-${no},10.00,EUR,${no}`),
}

function linesOf(header: string, rows: number, lineOf: (no: number) => string): string {
  return `${[header, ...Array.from({ length: rows }, (_, i) => lineOf(i + 1))].join('\n')}\n`
}

interface Trial extends AsyncDisposable {
  readonly dir: string
  readonly sandbox: Sandbox
  start(nodeOptions?: readonly string[]): ChildProcess
  /** To its end; resolves to the most resident memory, in KiB. */
  run(): Promise<number>
  freeze(child: ChildProcess, look: () => Promise<void>): Promise<void>
  read<Row>(sql: string): readonly Row[]
  settled(): number
}

async function openTrial(kind: Kind, rows: number, latencyMs: number, settings: NodeJS.ProcessEnv): Promise<Trial> {
  const dir = mkdtempSync(join(tmpdir(), 'cards-'))
  const credentials = { username: 'bench', password: 'bench' }
  const sandbox = await openSandbox({ ...credentials, clock: () => Date.now(), latencyMs })
  const env = {
    ...process.env,
    TRANCHE_GATEWAY_URL: sandbox.url,
    TRANCHE_GATEWAY_USERNAME: credentials.username,
    TRANCHE_GATEWAY_PASSWORD: credentials.password,
    TRANCHE_DATA_DIR: join(dir, 'd'),
    TRANCHE_WITNESS_DIR: join(dir, 'w'),
    ...settings,
  }
  const input = join(dir, 'in.csv')
  writeFileSync(input, FILES[kind](rows))
  if (kind === 'sales') sandbox.prepare({ vault: Array.from({ length: rows }, (_, i) => ({ vaultId: String(i + 1) })) })
  spawnSync(process.execPath, [PROGRAM, 'init'], { env })
  const ledger = join(dir, 'd', 'ledger.db')
  const read = <Row>(sql: string) => {
    const db = new DatabaseSync(ledger, { readOnly: true })
    try {
      return db.prepare(sql).all() as Row[]
    } finally {
      db.close()
    }
  }
  const start = (nodeOptions: readonly string[] = []) =>
    spawn(process.execPath, [...nodeOptions, PROGRAM, ...COMMANDS[kind], input, '--out', join(dir, 'out.csv')], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return {
    ...{ dir, sandbox, start, read },
    async run() {
      const child = start()
      let peakKb = 0
      const looking = setInterval(() => {
        peakKb = Math.max(peakKb, peakOf(child.pid as number))
      }, 200)
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
      clearInterval(looking)
      if (code !== 0) throw new Error(`it ended with ${code}`)
      return peakKb
    },
    async freeze(child, look) {
      child.kill('SIGSTOP')
      await sleep(100)
      await look()
      child.kill('SIGCONT')
    },
    settled: () =>
      existsSync(ledger)
        ? (read<{ n: number }>("SELECT count(*) AS n FROM instruction WHERE state = 'APPROVED'")[0]?.n ?? 0)
        : 0,
    async [Symbol.asyncDispose]() {
      await sandbox.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0 // it has ended
  }
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(50)
}

/** The most moments in any second that begins at one of them. */
function fullest(sortedMs: readonly number[]): number {
  let most = 0
  for (let from = 0, to = 0; from < sortedMs.length; from++) {
    while (to < sortedMs.length && (sortedMs[to] as number) < (sortedMs[from] as number) + 1_000) to++
    most = Math.max(most, to - from)
  }
  return most
}

const PARTS = { pace, file, memory }

const asked = process.argv.slice(2).filter((word) => Object.hasOwn(PARTS, word)) as (keyof typeof PARTS)[]
for (const part of asked.length === 0 ? (Object.keys(PARTS) as (keyof typeof PARTS)[]) : asked) await PARTS[part]()
