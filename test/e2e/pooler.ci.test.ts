// The program behind a pooler that gives each transaction another connection.

import { describe, expect, onTestFinished, test } from 'vitest'
import { booksOf, compareBooks, readCsv } from '../fixtures/books.ts'
import { openOffice, until } from '../fixtures/cli.ts'
import { mixedFile, toCsv } from '../fixtures/files.ts'
import { MAY_SKIP_POOLER, openPooler } from '../fixtures/pooler.ts'
import { newServerLedger } from '../fixtures/postgres.ts'
import { openRedisServer } from '../fixtures/redis.ts'

describe.skipIf(MAY_SKIP_POOLER)('behind a pooler', () => {
  test('a pooler that is taken for the server is named by init, doctor and whatever needs the server', async () => {
    const { TRANCHE_LEDGER_URL: url, ...ledger } = await newServerLedger()
    const pooler = await openPooler(url as string)
    onTestFinished(() => pooler.remove())
    const office = await openOffice({ made: false, env: { ...ledger, TRANCHE_LEDGER_URL: pooler.url } })
    onTestFinished(() => office.close())
    const unnamed = await office.tranche('init')
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringMatching(/TRANCHE_LEDGER_URL leads to a pooler/)])
    expect((await office.trancheWith({ TRANCHE_POSTGRES_DIRECT_URL: url }, 'init')).code).toBe(0)
    expect((await office.tranche('doctor')).stdout).toMatch(/^FIX {2}ledger: TRANCHE_LEDGER_URL leads to a pooler/m)
    const wrong = { TRANCHE_POSTGRES_DIRECT_URL: pooler.url }
    const said = /TRANCHE_POSTGRES_DIRECT_URL leads to a pooler/
    expect((await office.trancheWith(wrong, 'doctor')).stdout).toMatch(said)
    const input = await office.put('in.csv', toCsv(mixedFile(3).rows))
    const submitted = await office.trancheWith(wrong, 'submit', input)
    expect([submitted.code, submitted.stderr]).toEqual([2, expect.stringMatching(said)])
  })

  test('two workers send each row once, also where the pooler is killed and started again in the midst of it', async () => {
    const { TRANCHE_LEDGER_URL: url, ...ledger } = await newServerLedger()
    const pooler = await openPooler(url as string)
    onTestFinished(() => pooler.remove())
    const redis = await openRedisServer(`/tmp/te-p-${process.pid}.sock`)
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const env = { ...ledger, TRANCHE_LEDGER_URL: pooler.url, TRANCHE_POSTGRES_DIRECT_URL: url }
    const office = await openOffice({ made: false, env: { ...env, TRANCHE_REDIS_URL: redis.path } })
    onTestFinished(() => office.close())
    expect((await office.tranche('init')).code).toBe(0)
    const file = mixedFile(300)
    office.sandbox.prepare(file.preparation)
    const [input, out] = [await office.put('mixed.csv', toCsv(file.rows)), office.path('mixed.results.csv')]
    const workers = [await office.worker(), await office.worker()]
    const { batch } = (await office.tranche('submit', input, '--yes', '--json')).last
    for (const part of [1 / 4, 1 / 2]) {
      await until('a part is sent', () => office.sandbox.received() > file.rows.length * part)
      await pooler.kill()
      await pooler.start()
    }
    await until(
      'all of it is settled',
      async () => (await office.tranche('status', batch, '--json')).last.state === 'done',
    )
    expect((await office.tranche('results', batch, '--out', out)).code).toBe(0)
    expect(readCsv(out).map((line) => line.result_status)).toEqual(file.statuses)
    const ledgerPath = office.path('books.db')
    expect((await office.tranche('backup', ledgerPath)).code).toBe(0)
    expect(compareBooks(booksOf({ ledgerPath, sandbox: office.sandbox }, { input, out }))).toEqual([])
    for (const worker of workers) worker.kill('SIGTERM')
    for (const worker of workers) expect((await worker.ended).code).toBe(0)
  })
})
