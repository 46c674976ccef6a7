// Every place where something may be kept or shown, looked through for what must not be there.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { query } from '../fixtures/books.ts'
import type { Office } from '../fixtures/cli.ts'
import { canariesIn, escapesIn } from './canaries.ts'

/** One line for each canary and each escape: where it stands, and what it is. `shown`: screens, logs and results. */
export async function leaksIn(
  office: Office,
  shown: readonly string[],
  redisPath: string,
  ...folders: readonly string[]
): Promise<string[]> {
  const leaks: string[] = []
  const look = (where: string, text: string, found: readonly string[]) =>
    leaks.push(...found.map((what) => `${where}: ${what}: ${text.slice(0, 300)}`))
  for (const [where, text] of Object.entries(await kept(office, redisPath)))
    look(where, text, [...canariesIn(text), ...(where.startsWith('redis') ? [] : escapesIn(text))])
  for (const [i, text] of shown.entries()) look(`screen or log ${i}`, text, [...canariesIn(text), ...escapesIn(text)])
  for (const path of [office.dataDir, ...folders].flatMap(filesIn))
    look(`the bytes of ${path}`, '', canariesIn(readFileSync(path, 'utf8')))
  return leaks
}

async function kept(office: Office, redisPath: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name } of query<{ name: string }>(office, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    for (const [i, row] of query<Record<string, unknown>>(office, `SELECT * FROM "${name}"`).entries())
      for (const [column, value] of Object.entries(row)) found[`${name}.${column} ${i}`] = String(value)
  }
  const redis = new Redis({ path: redisPath })
  for (const key of await redis.keys('*')) {
    // What is taken out of a stream stays in its dump until the whole page goes.
    const isStream = (await redis.type(key)) === 'stream'
    const held = isStream ? JSON.stringify(await redis.xrange(key, '-', '+')) : ((await redis.dump(key)) ?? '')
    found[`redis ${key}`] = held + key
  }
  redis.disconnect()
  return found
}

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
}
