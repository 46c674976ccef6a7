// The deliverer over a real ledger: who is told what, in which order, and that nobody waits for a dead one.

import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type EventBody, eventBody } from '../../src/domain/event.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Log } from '../../src/ports/log.ts'
import type { WebhookAnswer } from '../../src/ports/webhooks.ts'
import { type Delivering, deliverEvents } from '../../src/processors/deliver-events.ts'
import { createPublishing } from '../../src/processors/publish-outcomes.ts'
import { readEvents } from '../../src/processors/read-events.ts'
import { createWebhooks } from '../../src/processors/send-webhooks.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { CLERK, messageOf, NOW, refund, submit, work } from '../fixtures/ledgers.ts'
import { accountId, ledger, useSqliteLedger } from '../fixtures/use-ledger.ts'

useSqliteLedger()

const silent = () => {}
const QUEUE = 'tranche-outcome-shop'
const OK: WebhookAnswer = { httpStatus: 204, said: '', retryAfter: null }
const bodyOf = (fact: Parameters<typeof eventBody>[0]) => eventBody(fact, 'ledger', [])

interface Sent {
  readonly url: string
  readonly id: string
}

interface World {
  readonly clock: ManualClock
  readonly sent: Sent[]
  readonly published: EventBody[]
  readonly attempts: string[]
  readonly warnings: string[]
  /** Of what goes well again. */
  readonly news: string[]
  delivering: Delivering
}

let world: World
afterEach(async () => {
  const stopping = world.delivering.stop()
  await world.clock.advance(5_000)
  await stopping
})

interface Answers {
  send?(url: string, id: string): Promise<WebhookAnswer> | WebhookAnswer
  publish?(queue: string): Promise<void>
  standing?: string
}

function deliver(
  { send = () => OK, publish = async () => {}, standing }: Answers = {},
  hold = () => ledger.holdDelivery('webhooks'),
): World {
  const clock = new ManualClock(NOW + 60_000)
  const [sent, published]: [Sent[], EventBody[]] = [[], []]
  const attempts: string[] = []
  const warnings: string[] = []
  const news: string[] = []
  const keepIn = (texts: string[]) => (_: object, text: string) => void texts.push(text)
  const log: Log = { debug: silent, info: keepIn(news), warn: keepIn(warnings), error: silent }
  const queues = {
    async publish(queue: string, bodies: readonly EventBody[]) {
      await publish(queue)
      published.push(...bodies)
    },
    close: async () => {},
  }
  const closed = Promise.withResolvers<WebhookAnswer>()
  const sender = {
    async send({ url }: { url: string }, id: string) {
      sent.push({ url, id })
      return Promise.race([send(url, id), closed.promise])
    },
    close: async () => closed.resolve({ httpStatus: null, said: 'closed', retryAfter: null }),
  }
  const delivering = deliverEvents({
    ...{ ledger, clock, log },
    hold,
    openPublishing: () =>
      createPublishing({
        ...{ ledger, queues, bodyOf, hasStanding: standing !== undefined },
        standingQueueOf: () => standing ?? null,
      }),
    openWebhooks: () =>
      createWebhooks({
        ...{ ledger, clock, log, sender, bodyOf, random: () => 0.5 },
        onAttempt: (endpoint, result) => void attempts.push(`${endpoint} ${result}`),
      }),
  })
  world = { clock, sent, published, attempts, warnings, news, delivering }
  return world
}

const endpoint = (id: string, types: readonly string[] | null = ['row.settled'], merchant: string | null = null) =>
  ledger.addEndpoint(
    { id, url: `https://${id}.example/`, secret: 'whsec_AAAA', types, merchant, allowsPrivate: false },
    CLERK,
    NOW,
  )

async function settle(...references: readonly string[]): Promise<BatchId> {
  const { batchId } = (await Promise.all(
    references.map((reference) => ledger.recordMessage(messageOf(accountId, refund(reference), { replyTo: QUEUE }))),
  ).then(([first]) => first)) as { batchId: BatchId }
  for (const reference of references) await work(ledger, batchId, reference, 'APPROVED')
  return batchId
}

/** Lets it look so often. */
async function looks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await world.clock.advance(500)
    await turn()
  }
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `R${i}`)

describe('the deliverer', () => {
  test('tells endpoints and queues of each row once, in the order of the record', async () => {
    await endpoint('ep_a')
    await endpoint('ep_b', null)
    await settle(...names(8))
    const { sent, published, attempts } = deliver()
    await looks(6)
    const rows = (await readEvents(ledger, { after: null, types: ['row.settled'], limit: 100 }, NOW)).map(
      ({ id }) => id,
    )
    expect(new Set(sent.filter(({ url }) => url.includes('ep_a')).map(({ id }) => id))).toEqual(new Set(rows))
    expect(published.map(({ id }) => id)).toEqual(rows)
    expect(attempts.filter((one) => one === 'ep_a delivered')).toHaveLength(8)
    const others = sent.filter(({ url }) => url.includes('ep_b'))
    expect(others.length).toBeGreaterThan(0)
    expect(others.some(({ id }) => rows.includes(id))).toBe(false)
  })

  test('lets a dead endpoint take four places and hold up nobody', async () => {
    for (const id of ['ep_a', 'ep_dead']) await endpoint(id)
    await settle(...names(40))
    const { sent } = deliver({ send: (url) => (url.includes('dead') ? new Promise(() => {}) : OK) })
    await looks(20)
    const to = (id: string) => sent.filter(({ url }) => url.includes(id)).length
    expect(to('ep_a')).toBe(40)
    expect(to('ep_dead')).toBe(4)
    expect(await ledger.webhookFigures()).toMatchObject([{ pending: 0 }, { pending: 40 }])
  })

  test('asks an endpoint that fails with one at a time, and with four again once it takes one', async () => {
    await endpoint('ep_a')
    await settle(...names(12))
    let status = 503
    let open = 0
    const seen: number[] = []
    const { clock } = deliver({
      async send() {
        open += 1
        seen.push(open)
        await turn()
        open -= 1
        return { ...OK, httpStatus: status }
      },
    })
    await looks(8)
    expect(seen).toEqual([1, 2, 3, 4, ...Array.from({ length: 8 }, () => 1)])
    status = 204
    await clock.advance(600_000)
    await looks(10)
    expect(seen.slice(12)).toEqual(expect.arrayContaining([2, 3, 4]))
    expect(await ledger.deliveries({ state: 'delivered' }, 100)).toHaveLength(12)
  })

  test('keeps what queues cannot take until they can, and endpoints do not wait for that', async () => {
    await endpoint('ep_a')
    await settle('A')
    const away = new Set(['Redis'])
    const { sent, published, warnings } = deliver({
      publish: async () => {
        if (away.size > 0) throw new Error('away')
      },
    })
    await looks(4)
    expect([sent.length, published.length]).toEqual([1, 0])
    expect(warnings).toEqual(['outcomes for queues: they wait, and nothing of them is lost'])
    away.clear()
    await looks(4)
    expect(published.map(({ type }) => type)).toEqual(['row.settled'])
  })

  test('a queue that does not answer holds up no endpoint', async () => {
    await endpoint('ep_a')
    await settle('A')
    let release = silent
    const { sent } = deliver({
      publish: () =>
        new Promise((resolve) => {
          release = resolve
        }),
    })
    await looks(2)
    await work(ledger, await submit(ledger, accountId, [refund('B')]), 'B', 'APPROVED')
    await looks(4)
    expect(sent).toHaveLength(2)
    release()
  })

  test('tells the standing queue of a merchant of every row, and whoever asked as well', async () => {
    const batchId = await submit(ledger, accountId, [refund('file')])
    await work(ledger, batchId, 'file', 'DECLINED')
    await settle('message')
    const queues: string[] = []
    deliver({ standing: 'tranche-outcome-all', publish: async (queue) => void queues.push(queue) })
    await looks(4)
    expect(world.published.map(({ data }) => data.reference)).toEqual(['file', 'message', 'message'])
    expect(new Set(queues)).toEqual(new Set(['tranche-outcome-all', QUEUE]))
  })

  test('sends an endpoint of one merchant nothing of another', async () => {
    await endpoint('ep_a', ['row.settled'], 'other')
    await settle('A')
    const { sent } = deliver()
    await looks(4)
    expect(sent).toEqual([])
  })

  test('tells what happened last before it stops', async () => {
    await endpoint('ep_a')
    const { delivering, sent, published } = deliver()
    await looks(2)
    await settle('A')
    await delivering.stop()
    expect([sent.length, published.length]).toEqual([1, 1])
  })
})

describe('reading events', () => {
  test('pages by the id of the last, with and without types, and refuses an id that is not there', async () => {
    await settle(...names(5))
    deliver()
    const all = await readEvents(ledger, { after: null, types: null, limit: 1_000 }, NOW)
    const paged: (typeof all)[number][] = []
    for (let after: string | null = null; ; ) {
      const page = await readEvents(ledger, { after, types: null, limit: 2 }, NOW)
      paged.push(...page)
      if (page.length < 2) break
      after = page.at(-1)!.id
    }
    expect(paged).toEqual(all)
    await expect(readEvents(ledger, { after: 'm1-000000000000', types: null, limit: 1 }, NOW)).rejects.toThrow(
      'has no event m1-000000000000',
    )
  })
})

test('where another process delivers, the deliverer asks for its turn now and then, and takes it when it is free', async () => {
  await endpoint('ep_a')
  await settle('A')
  let tries = 0
  const free = new Set<string>()
  const { sent, clock } = deliver({}, async () => {
    tries += 1
    return free.size === 0 ? null : ledger.holdDelivery('webhooks')
  })
  await looks(8)
  expect([tries, sent.length]).toEqual([1, 0])
  free.add('now')
  await clock.advance(5_000)
  await looks(2)
  expect([tries, sent.length]).toEqual([2, 1])
})

test('where its turn cannot even be asked for, the deliverer says so once, and once when it can', async () => {
  await endpoint('ep_a')
  await settle('A')
  const away = new Set(['the ledger'])
  const { sent, warnings, news, clock } = deliver({}, async () => {
    if (away.size > 0) throw new Error('away')
    return ledger.holdDelivery('webhooks')
  })
  for (let tries = 0; tries < 3; tries++) {
    await looks(4)
    await clock.advance(5_000)
  }
  expect([warnings, news]).toEqual([['events: they wait, and nothing of them is lost'], []])
  away.clear()
  await clock.advance(5_000)
  await looks(2)
  expect([sent.length, news]).toEqual([1, ['events: they go out again']])
})
