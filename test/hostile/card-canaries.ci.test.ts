// Cards are created, changed, sold with and deleted through kills, Ctrl-C, doubts and a changed file, and all that tells of
// them is read. Afterwards nothing that is kept or was shown holds a number, a code or our password: see search.ts.

import { mkdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FaultKind } from '../../src/sandbox/fault-kinds.ts'
import { booksOf, compareBooks, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Ended, type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'
import { PASSWORD } from './canaries.ts'
import { type MarkedCard, markedCard, markedSales, markedVaultFile, SOUGHT } from './marked-cards.ts'
import { openSearch, type Place, placesOf } from './search.ts'

const CREATIONS = 500
const UPDATES = 200
const SALES = 500
const DELETIONS = 100

/** Commands that only read run beside each other. */
const AT_ONCE = 4

const cards = (first: number, count: number) => Array.from({ length: count }, (_, i) => markedCard(first + i))

/** An office whose inputs lie elsewhere, and all that it has written and shown. */
interface Scene extends AsyncDisposable {
  readonly office: Office
  /** Every place that was ever looked through. */
  readonly looked: ReadonlySet<string>
  start(...args: readonly string[]): Running
  tranche(...args: readonly string[]): Promise<Ended>
  /** Where an output goes. */
  made(name: string): string
  /** Writes an input. */
  put(name: string, text: string): Promise<string>
  /** What is found now. */
  leaks(): Promise<string[]>
}

async function openScene(): Promise<Scene> {
  const office = await openOffice({ apart: true, password: PASSWORD, latencyMs: 5 })
  const redis: RedisServer = await openRedisServer(office.path('r.sock'))
  const inputs = await mkdtemp(join(tmpdir(), 'tc-'))
  mkdirSync(office.path('made'))
  const env = {
    TRANCHE_GATEWAY_PASSWORD: PASSWORD,
    TRANCHE_REDIS_URL: redis.path,
    TRANCHE_LOG_LEVEL: 'trace',
    TRANCHE_IN_FLIGHT: '4',
    TRANCHE_TIMEOUT_MS: '2500',
  }
  const search = openSearch(SOUGHT)
  const shown = new Map<string, string>()
  const given: string[] = []
  const looked = new Set<string>()
  const start = (...args: readonly string[]) => {
    const running = office.startWith(env, ...args)
    const name = `${shown.size / 2}: ${args.slice(0, 2).join(' ')}`
    for (const stream of ['stdout', 'stderr'] as const) shown.set(`${stream} of ${name}`, '')
    void running.ended.then((ended) => {
      for (const stream of ['stdout', 'stderr'] as const) shown.set(`${stream} of ${name}`, ended[stream])
    })
    return running
  }
  return {
    office,
    looked,
    start,
    tranche: (...args) => start(...args).ended,
    made: (name) => office.path(`made/${name}`),
    put: async (name, text) => {
      const path = join(inputs, name)
      given.push(path)
      await writeFile(path, text)
      return path
    },
    async leaks() {
      await redis.save()
      const places: Place[] = await placesOf({
        folders: [office.dir, inputs],
        except: given,
        redisPath: redis.path,
        shown,
      })
      for (const { name, bytes } of places) if (bytes.length > 0) looked.add(name)
      return search(places)
    },
    async [Symbol.asyncDispose]() {
      await office.close()
      await redis[Symbol.asyncDispose]()
      await rm(inputs, { recursive: true, force: true })
    },
  }
}

test(`${CREATIONS} creations, ${UPDATES} updates, ${SALES} sales and ${DELETIONS} deletions of cards leave no card data anywhere`, {
  timeout: 400_000,
}, async () => {
  await using scene = await openScene()
  await workWithoutCards(scene)
  expect(await scene.leaks()).toEqual([]) // so that a hit from here on is a leak, and no chance
  const ids = await createCards(scene)
  await sell(scene)
  await changeCards(scene, ids)
  await deleteCards(scene, ids)
  await refuseBadFiles(scene)
  const doubted = recordedIn(scene.office).filter(({ state }) => state === 'IN_DOUBT')
  expect(doubted.length).toBeGreaterThan(4)
  await readEverything(scene, ['c-0', 's-0', 'u-0', ...doubted.slice(0, 3).map(({ reference }) => reference)])
  expect(await scene.leaks()).toEqual([])
  expect(placesMissedBy(scene)).toEqual([])
  expect(compareBooks(booksOf(scene.office))).toEqual([])
})

/** All that is done to cards later, done to refunds: with a worker, so that Redis has something to keep. */
async function workWithoutCards({ office, tranche, put, made }: Scene): Promise<void> {
  const rows = refunds(40)
  office.sandbox.prepare(preparationFor(rows))
  office.sandbox.addFault({ kind: 'reset-after', match: { any: true }, times: 1 })
  const submitted = await tranche('submit', await put('refunds.csv', toCsv(rows)), '--json')
  const worked = await tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(5)
  await tranche('results', submitted.last.batch, '--out', made('refunds.out.csv'))
  await tranche('log', '--json')
  await tranche('history', 'R-1', '--json')
}

async function createCards(scene: Scene): Promise<string[]> {
  const { office, tranche, start, put, made } = scene
  const whole = markedVaultFile(cards(0, CREATIONS), 'c')
  const input = await put('cards.csv', whole)
  const out = made('cards.out.csv')
  const command = ['vault', 'create', input, '--out', out, '--exceptions', made('cards.look.csv')]
  const killed = start(...command)
  await until('some are stored', () => settled(scene, 'c-') >= 60, killed)
  expect(readFileSync(`/proc/${killed.pid}/coredump_filter`, 'utf8').trim()).toBe('00000000')
  await kill(scene, killed)

  await goOn(scene)
  strike(office, 'reset-after', 'hang-before', 'wrong-echo', 'cut-body')
  const interrupted = start(...command)
  await until('more are stored', () => settled(scene, 'c-') >= 180, interrupted)
  interrupted.kill('SIGINT')
  expect((await interrupted.ended).code).toBe(130)

  await goOn(scene)
  const misled = start(...command)
  await until('still more are stored', () => settled(scene, 'c-') >= 200, misled)
  await writeFile(input, whole.replaceAll('Byron', 'Bryon')) // the same length, into the same file
  const stopped = await misled.ended
  expect(stopped.code, stopped.stderr).toBe(6)
  expect(stopped.stderr).toContain('The file changed while its rows were being sent')
  await writeFile(input, whole)

  const ended = await tranche(...command)
  expect(ended.code, ended.stderr).toBe(5)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  return readCsv(out).flatMap(({ result_vault_id: id = '' }) => (id === '' ? [] : [id]))
}

async function sell(scene: Scene): Promise<void> {
  const { office, tranche, start, put, made } = scene
  const input = await put('sales.csv', markedSales(cards(CREATIONS + UPDATES, SALES), 's'))
  const out = made('sales.out.csv')
  const command = ['run', input, '--out', out, '--exceptions', made('sales.look.csv'), '--json']
  await goOn(scene)
  const killed = start(...command)
  await until('some are sold', () => settled(scene, 's-') >= 80, killed)
  await kill(scene, killed)
  await tranche('worker', '--until-idle') // it finds rows whose cards it does not have

  await goOn(scene)
  strike(office, 'html', 'reset-after', '503-after')
  const interrupted = start(...command)
  await until('more are sold', () => settled(scene, 's-') >= 200, interrupted)
  interrupted.kill('SIGINT')
  expect((await interrupted.ended).code).toBe(130)

  await goOn(scene)
  const ended = await tranche(...command)
  expect(ended.code, ended.stderr).toBe(5)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
}

async function changeCards(scene: Scene, ids: readonly string[]): Promise<void> {
  const { office, start, tranche, put, made } = scene
  const input = await put('updates.csv', markedVaultFile(cards(CREATIONS, UPDATES), 'u', ids))
  const out = made('updates.out.csv')
  await goOn(scene)
  const killed = start('vault', 'update', input, '--out', out)
  await until('some are changed', () => settled(scene, 'u-') >= 40, killed)
  await kill(scene, killed)
  await goOn(scene)
  strike(office, 'reset-before')
  const ended = await tranche('vault', 'update', input, '--out', out)
  expect(ended.code, ended.stderr).toBe(5)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
}

async function deleteCards({ office, tranche, put, made, ...scene }: Scene, ids: readonly string[]): Promise<void> {
  const gone = ids.slice(-DELETIONS).map((id, i) => `d-${i},${id}`)
  const input = await put('gone.csv', `reference,customer_vault_id\n${gone.join('\n')}\n`)
  const out = made('gone.out.csv')
  await goOn({ office, tranche, put, made, ...scene })
  const ended = await tranche('vault', 'delete', input, '--out', out)
  expect(ended.code, ended.stderr).toBe(0)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
}

/** Wrong numbers, codes and columns, with their rejects; files where they may not come; a roster with good and bad rows. */
async function refuseBadFiles(scene: Scene): Promise<void> {
  const { tranche, put, made } = scene
  const spoilt = (card: MarkedCard, i: number): MarkedCard => {
    if (i % 3 === 0) return { ...card, number: card.number.replace(/.$/, (last) => String((Number(last) + 1) % 10)) }
    return i % 3 === 1 ? { ...card, code: `${card.code}${card.code}` } : card
  }
  const bad = cards(1_300, 30).map(spoilt)
  const create = await put('bad-cards.csv', markedVaultFile(bad, 'bc'))
  const sales = await put('bad-sales.csv', markedSales(bad, 'bs'))
  const rows = refunds(30, 100).map((row, i) => ({ ...row, note: `paid with ${markedCard(1_330 + i).number}` }))
  const noted = await put('noted.csv', toCsv(rows))
  const refused = [
    await tranche('check', create, '--vault', 'create', '--rejects', made('checked.rejects.csv')),
    await tranche('check', sales, '--rejects', made('checked-sales.rejects.csv'), '--json'),
    await tranche('vault', 'create', create, '--out', made('b.csv'), '--rejects', made('cards.rejects.csv')),
    await tranche('run', sales, '--out', made('b.csv'), '--rejects', made('sales.rejects.csv')),
    await tranche(
      'run',
      noted,
      '--out',
      made('b.csv'),
      '--operation',
      'REFUND',
      '--rejects',
      made('noted.rejects.csv'),
    ),
    await tranche('submit', sales),
    await tranche('submit', create, '--vault', 'create', '--json'),
  ]
  expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 7))
  await goOn(scene)
  const given = ['--skip-invalid', '--out', made('some.out.csv'), '--rejects', made('some.rejects.csv')]
  const some = await tranche('run', sales, ...given)
  expect(some.code, some.stderr).toBe(3)
  const stored = await tranche('vault', 'create', create, '--skip-invalid', '--out', made('stored.out.csv'))
  expect(stored.code, stored.stderr).toBe(3)
}

async function readEverything({ tranche, made }: Scene, references: readonly string[]): Promise<void> {
  const batches: readonly { batch: string }[] = (await tranche('status', '--json')).last.batches
  const commands = [
    ...batches.flatMap(({ batch }, i) => [
      ['status', batch, '--json'],
      ['results', batch, '--out', made(`again-${i}.csv`), '--exceptions', made(`again-${i}.look.csv`)],
    ]),
    ['results', batches[0]?.batch ?? '', '--out', made('again.xlsx')],
    ...references.map((reference) => ['history', reference, '--json']),
    ...[
      ['in-doubt', 'list'],
      ['in-doubt', 'list', '--json'],
      ['in-doubt', 'list', '--out', made('worklist.csv')],
    ],
    ...[['log'], ['log', '--json'], ['doctor'], ['status'], ['backup', made('backup.db')]],
  ]
  const left = commands.values()
  const several = Array.from({ length: AT_ONCE }, async () => {
    for (const args of left) {
      const ended = await tranche(...args)
      expect(ended.code, `${args}: ${ended.stderr}`).not.toBe(1)
    }
  })
  await Promise.all(several)
}

/** What lies there while it works, and in the moment after it died. */
async function kill(scene: Scene, running: Running): Promise<void> {
  expect(await scene.leaks()).toEqual([])
  running.kill('SIGKILL')
  await running.ended
  expect(await scene.leaks()).toEqual([])
}

/** Once each, with peace between them: troubles in a row would slow the work down, and ten doubts hold it. */
function strike({ sandbox }: Office, ...kinds: readonly FaultKind[]): void {
  for (const [i, kind] of kinds.entries())
    sandbox.addFault({ kind, match: { any: true }, times: 1, every: 20 + 23 * i })
}

/** Many doubts hold the account: a person has looked at them. */
async function goOn({ office, tranche }: Scene): Promise<void> {
  office.sandbox.clearFaults()
  await tranche('resume', '--merchant', 'default', '--reason', 'looked at it')
}

function settled({ office }: Scene, prefix: string): number {
  return recordedIn(office).filter(({ state, reference }) => state === 'APPROVED' && reference.startsWith(prefix))
    .length
}

/** Where the search must have been, or it proves nothing. */
function placesMissedBy({ looked }: Scene): string[] {
  const wanted = [
    ...['d/ledger.db', 'd/ledger.db-wal', 'd/ledger.db-shm', 'the cells of d/ledger.db', 'r.sock.rdb', 'redis keys'],
    ...[
      'cards.out.csv',
      'cards.out.summary.csv',
      'cards.look.csv',
      'sales.rejects.csv',
      'worklist.csv',
      'backup.db',
    ].map((name) => `made/${name}`),
    ...['the cells of made/backup.db', 'made/again.xlsx'],
  ]
  const kinds = [/^w\//, /^d\/.*lock/, /^redis .*:/, /^stderr of .*worker/, /^stdout of .*history/]
  return [
    ...wanted.filter((name) => !looked.has(name)),
    ...kinds.filter((kind) => ![...looked].some((name) => kind.test(name))).map(String),
  ]
}
