// The worst texts of each kind in each field of each request that is JSON: how long one request holds up all others of its server.
// In this process; what is slow is measured three times.

import { readFileSync } from 'node:fs'
import { openServed } from '../../test/fixtures/served.ts'
import type { Bench, Case, Line } from '../parts/case.ts'
import { UNITS } from './worst-texts.ts'

/** A little less than a body may have. */
const BODY_BYTES = 260_000
const GOAL_MS = 50

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly $ref?: string
}

interface Field {
  readonly path: string
  readonly method: 'POST' | 'PUT'
  readonly name: string
  /** The body with this text in that field. */
  readonly body: (text: string) => object
}

type Described = {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
}

/** Of the published description, so that a new field is measured as well. */
function fields(): Field[] {
  const { paths } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Described
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      namesIn(requestBody?.content['application/json']?.schema).map(({ name, body }) => ({
        ...{ name, body, path: path.replaceAll(/\{\w+\}/g, '1'), method: method.toUpperCase() as Field['method'] },
      })),
    ),
  )
}

function namesIn(schema: Schema | undefined): Pick<Field, 'name' | 'body'>[] {
  const own = Object.entries(schema?.properties ?? {}).map(([name, { type }]) => ({
    name,
    body: (text: string) => ({ [name]: type === 'array' ? [text] : text }),
  }))
  // As many as fit, of names that nobody knows and in one of them.
  const others = [
    { name: 'another name', body: (text: string) => ({ [text]: 1 }) },
    {
      name: 'many names',
      body: (text: string) =>
        Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`${text.slice(0, 300)}${i}`, text.slice(0, 500)])),
    },
  ]
  return own.length === 0 ? [] : [...own, ...others]
}

/** The longest that is still read. */
function largest(make: (length: number) => string): string {
  let [least, most] = [1, BODY_BYTES]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (Buffer.byteLength(make(middle)) <= BODY_BYTES) least = middle
    else most = middle - 1
  }
  return make(least)
}

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}

export const requests: Case = {
  name: 'requests',
  async run(bench: Bench): Promise<readonly Line[]> {
    const served = await openServed({ requestsPerMinute: 1_000_000 })
    let count = 0
    let worst = { ms: 0, what: '' }
    try {
      for (const { path, method, name, body } of fields()) {
        const { key } = await served.key() // a key may send so much in a minute
        for (const [kind, unit] of Object.entries(UNITS)) {
          const payload = largest((length) => JSON.stringify(body(unit.repeat(length))))
          let ms = Number.POSITIVE_INFINITY
          // Compiling and collecting are nobody's text: what is slow is slow again.
          for (let time = 0; time < 3 && ms > worst.ms; time++) {
            const headers = { 'idempotency-key': `k${count}-${time}` }
            ms = Math.min(ms, await processorMs(() => served.ask(method, path, { key, body: payload, headers })))
          }
          count += 1
          if (ms > worst.ms) worst = { ms, what: `${method} ${path}, ${name}: ${kind}` }
        }
      }
    } finally {
      await served.close()
    }
    bench.tell(`of ${count} requests: ${worst.what}`)
    return [{ what: `the worst of ${count}: ${worst.what}`, unit: 'ms', ours: [worst.ms], goal: { atMost: GOAL_MS } }]
  },
}
