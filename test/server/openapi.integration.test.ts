// The description of the API: it is the one that is published, it only grows, linters take it, and a client made of it works.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { generateApi } from 'swagger-typescript-api'
import { expect, test } from 'vitest'
import { listen } from '../../src/server/server.ts'
import { ROUTES } from '../../src/server/table.ts'
import { refund, submit } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

const PATH = 'docs/openapi.json'
const committed = () => readFileSync(PATH, 'utf8')

test('docs/openapi.json is what the server says now (npm run openapi)', async () => {
  const { said } = await served.ask('GET', '/openapi.json')
  expect(said).toEqual(JSON.parse(committed()))
})

test('is made once, is not sent again to a caller that has it, and describes no page of the console', async () => {
  const first = await served.ask('GET', '/openapi.json')
  const etag = String(first.headers.etag)
  const again = await served.ask('GET', '/openapi.json', { headers: { 'if-none-match': etag } })
  expect([first.statusCode, again.statusCode, again.body]).toEqual([200, 304, ''])
  expect((await served.ask('GET', '/openapi.json', { headers: { 'if-none-match': '"other"' } })).body).toBe(first.body)
  const known = Object.values(ROUTES).map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'))
  expect(new Set(Object.keys(first.said.paths))).toEqual(new Set(known))
})

/** Whether no text of it is read past its length. */
function isBounded({ type, maxLength, format, pattern, ...others }: Schema): boolean {
  return (
    type !== 'string' || maxLength !== undefined || 'enum' in others || 'const' in others || isClosed(format, pattern)
  )
}

/** A pattern that ends, or the form of a date. */
function isClosed(format: string | undefined, pattern = '+'): boolean {
  return format === 'date-time' || (/^\^.*\$$/.test(pattern) && !/[+*]|\{\d+,\}/.test(pattern))
}

interface Schema {
  readonly type?: string
  readonly maxLength?: number
  readonly format?: string
  readonly pattern?: string
}

function unboundedIn(part: unknown, at: string): string[] {
  if (typeof part !== 'object' || part === null) return []
  const own = isBounded(part as Schema) ? [] : [at]
  return [...own, ...Object.entries(part).flatMap(([name, inner]) => unboundedIn(inner, `${at}/${name}`))]
}

test('every text that a caller may write has a length, so that nothing of it is read past that', () => {
  const { paths } = JSON.parse(committed()) as { paths: Record<string, Record<string, Record<string, unknown>>> }
  const asked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, parameters }]) =>
      unboundedIn({ requestBody, parameters }, `${method} ${path}`),
    ),
  )
  expect(asked).toEqual([])
})

test('has every route, with the scope that it asks for', () => {
  const { paths } = JSON.parse(committed())
  const told = Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security }]) => [
      ...[operationId, method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ':$1')],
      security[0]?.key[0] ?? null,
    ]),
  )
  const known = Object.entries(ROUTES).map(([name, { method, path, scope }]) => [name, method, path, scope])
  expect(told.toSorted()).toEqual(known.toSorted())
})

interface Operation {
  readonly operationId: string
  readonly security: readonly { readonly key: readonly string[] }[]
}

test('has no fault that a linter finds', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: committed(), absoluteRef: PATH, config })
  expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
})

/** What a client of the earlier description may rely on and does not find any more. */
function missingIn(after: unknown, before: unknown, at = ''): string[] {
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return []
  if (typeof after !== 'object' || after === null) return [at]
  return Object.entries(before).flatMap(([name, member]) => {
    const now = (after as Record<string, unknown>)[name]
    if (now === undefined) return STRICTER.includes(name) || GIVEN_UP.has(`${at}/${name}`) ? [] : [`${at}/${name}`]
    if (name === 'required' && Array.isArray(member)) return requiredIn(now, member, at)
    return missingIn(now, member, `${at}/${name}`)
  })
}

/** Without these more is taken than before. */
const STRICTER = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'description', 'required']

/**
 * On purpose. `allow_lookalike`: written as a constant, it waved every look-alike through. The default of `merchant`: where there are
 * several, an instruction that names none is for none of them.
 */
const GIVEN_UP: ReadonlySet<string> = new Set([
  '/paths//v1/instructions/post/requestBody/content/application/json/schema/properties/merchant/default',
  '/paths//v1/instructions/post/requestBody/content/application/json/schema/properties/allow_lookalike',
])

/** A request may not ask for more than it did; a reply may not promise less. */
function requiredIn(now: unknown, before: readonly unknown[], at: string): string[] {
  const names = Array.isArray(now) ? now : []
  if (at.includes('/responses/') || at.startsWith('/components/'))
    return before.filter((name) => !names.includes(name)).map((name) => `${at}/required/${name}`)
  return names.filter((name) => !before.includes(name)).map((name) => `${at}/required/${name}`)
}

test.each(['HEAD', 'HEAD~1'])('has all that it had at %s', (revision) => {
  const before = shownAt(revision)
  if (before !== null) expect(missingIn(JSON.parse(committed()), JSON.parse(before))).toEqual([])
})

/** null: there is no such revision, or it had none. */
function shownAt(revision: string): string | null {
  try {
    return execFileSync('git', ['show', `${revision}:${PATH}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
  } catch {
    return null
  }
}

test('what is taken away or asked for in addition would be found', () => {
  const before = JSON.parse(committed())
  const without = structuredClone(before)
  delete without.paths['/v1/batches/{batch}']
  delete without.components.schemas.Batch.properties.rows
  without.paths['/v1/batches/{batch}/pause'].post.requestBody.content['application/json'].schema.required.push('who')
  expect(missingIn(without, before)).toEqual([
    '/components/schemas/Batch/properties/rows',
    '/paths/~1v1~1batches~1{batch}'.replaceAll('~1', '/'),
    expect.stringMatching(/pause.*required\/who$/),
  ])
  expect(missingIn(before, before)).toEqual([])
})

test('a client that a public generator makes of it works through the life of a batch', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tg-'))
  const { files } = await generateApi({ input: join(process.cwd(), PATH), output: false, silent: true })
  const path = join(folder, 'api.ts')
  writeFileSync(path, files[0]?.fileContent ?? '')
  const { Api } = await import(/* @vite-ignore */ path)
  const listening = await listen(served.server, { host: '127.0.0.1', port: 0 })
  const { key } = await served.key()
  const { v1 } = new Api({ baseUrl: listening.url, baseApiParams: { headers: { authorization: `Bearer ${key}` } } })
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])

  const under = (name: string) => ({ headers: { 'Idempotency-Key': name } })
  expect((await v1.listBatches({ limit: 1 })).data).toMatchObject({ data: [{ batch }], next_cursor: null })
  expect((await v1.pauseBatch(batch, { reason: 'look' }, under('p'))).data.state).toBe('paused')
  expect((await v1.resumeBatch(batch, { reason: 'go' }, under('r'))).data.state).toBe('waiting')
  const first = (await v1.listRows(batch, { limit: 1 })).data
  expect(first.data).toMatchObject([{ reference: 'A', status: 'PENDING' }])
  const second = (await v1.listRows(batch, { limit: 1, cursor: first.next_cursor })).data
  expect(second).toMatchObject({ data: [{ reference: 'B' }] })
  expect((await v1.cancelBatch(batch, { reason: 'wrong month' }, under('c'))).data.counts).toEqual({ CANCELLED: 2 })
  const gone = await v1.getBatch('261120-aaaaa').catch((answer: { error: unknown }) => answer.error)
  expect(gone).toMatchObject({ code: 'not_found', status: 404 })
  rmSync(folder, { recursive: true })
})
