import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import { createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Outcome } from '../../src/domain/outcome.ts'
import { signalOf, verdictOn } from '../../src/domain/verdict.ts'
import { hidingPlaces, type KnownBody, PLAIN_BODIES } from '../fixtures/bodies.ts'
import { CERTIFICATE, KEY } from '../fixtures/certificate.ts'
import {
  approval,
  type FaultyGateway,
  httpAnswer,
  openFaultyGateway,
  type Script,
  type Visit,
} from '../fixtures/faulty-gateway.ts'
import { clientOf, GO, instructionOf, NEVER, refund } from './arrange.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), CERTIFICATE]))

const approve: Script = async (visit) => {
  const request = await visit.request()
  visit.execute()
  visit.write(httpAnswer(200, approval(request)))
}

/** What must hold whatever happened: unsent means that not one byte came, and nothing is ever executed twice. */
function expectTruth(gateway: FaultyGateway, outcome: Outcome): void {
  if (outcome.kind === 'unsent') expect(gateway.bytesReceived).toBe(0)
  const fields = outcome.kind === 'answered' && outcome.body.kind === 'answer' ? outcome.body.fields : {}
  if (fields.TRANS_STATUS_NAME === 'APPROVED') expect(gateway.executed).toBe(1)
  expect(gateway.requests.length).toBeLessThanOrEqual(1)
  expect(gateway.executed).toBeLessThanOrEqual(1)
}

async function until(looks: () => boolean): Promise<void> {
  while (!looks()) await new Promise((resolve) => setImmediate(resolve))
}

/** Of the event loop: more than pass between the end of a deadline and what comes of it. */
async function someTurns(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
}

/** Sends one refund to a gateway that plays the script. */
async function sendTo(script: Script, timeoutMs = 60_000) {
  await using gateway = await openFaultyGateway([script])
  await using client = clientOf(gateway.url, { timeoutMs })
  const outcome = await client.send(refund(), GO, NEVER)
  expectTruth(gateway, outcome)
  return { outcome, requests: gateway.requests.length, executed: gateway.executed, connections: gateway.connections }
}

describe('an answer', () => {
  test('comes back with its digits, its times and its text on one line', async () => {
    const beforeMs = Date.now()
    const { outcome } = await sendTo(approve)
    expect(outcome).toMatchObject({
      kind: 'answered',
      httpStatus: 200,
      retryAfterMs: null,
      connection: 'fresh',
      body: {
        kind: 'answer',
        fields: { TRANS_STATUS_NAME: 'APPROVED', TRANS_REQUEST_ID: '12345678901234567890', TRANS_VALUE: '12.3000' },
      },
    })
    if (outcome.kind !== 'answered') return
    expect(outcome.sentAtMs).toBeGreaterThanOrEqual(beforeMs)
    expect(outcome.answeredAtMs).toBeGreaterThanOrEqual(outcome.sentAtMs)
    expect(outcome.text).toMatch(/^\{"REQUEST_ACTION":"REFUND","TRANS_STATUS_NAME":"APPROVED", "TRANS_VALUE"/)
  })

  test('without content-length is whole where the connection closes behind it', async () => {
    const { outcome } = await sendTo(async (visit) => {
      const request = await visit.request()
      visit.execute()
      visit.end(`HTTP/1.1 200 OK\r\n\r\n${approval(request)}`)
    })
    expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_STATUS_NAME: 'APPROVED' } } })
  })

  test('without content-length that is cut short is no answer, though HTTP sees nothing wrong', async () => {
    const { outcome } = await sendTo(async (visit) => {
      const request = await visit.request()
      visit.execute()
      visit.end(`HTTP/1.1 200 OK\r\n\r\n${approval(request).slice(0, 60)}`)
    })
    expect(outcome).toMatchObject({ kind: 'answered', httpStatus: 200, body: { kind: 'unclear' } })
    expect(
      verdictOn(outcome, {
        instruction: refund(),
        everInDoubt: false,
        notExecutedStatus: [],
        deleteAnswer: 'status' as const,
      }).kind,
    ).toBe('in-doubt')
  })

  test('in chunks is put together', async () => {
    const { outcome } = await sendTo(async (visit) => {
      const text = approval(await visit.request())
      visit.execute()
      const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`
      visit.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk(text.slice(0, 50))}`)
      setImmediate(() => visit.write(`${chunk(text.slice(50))}0\r\n\r\n`))
    })
    expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_STATUS_NAME: 'APPROVED' } } })
  })

  test.each(['fresh', 'warm'] as const)(
    'that is there before the request proves nothing, and no byte of the request leaves (%s)',
    async (connections) => {
      for (const status of [400, 401, 429]) {
        const spoke = Promise.withResolvers<void>()
        const speak: Script = (visit) => {
          visit.write(httpAnswer(status, ''))
          spoke.resolve()
        }
        await using gateway = await openFaultyGateway([speak])
        await using client = clientOf(gateway.url, {
          connections,
          ...(connections === 'fresh' ? { departure: () => spoke.promise } : {}),
        })
        const outcome = await client.send(refund(), GO, NEVER)
        expect(outcome).toMatchObject({
          kind: 'unsent',
          why: 'connect',
          detail: 'the gateway answered before it was asked',
        })
        expectTruth(gateway, outcome)
        expect(
          signalOf(
            verdictOn(outcome, {
              instruction: refund(),
              everInDoubt: false,
              notExecutedStatus: [],
              deleteAnswer: 'status' as const,
            }),
          ),
        ).toBe('failure')
      }
    },
  )

  test('that comes while the request is still leaving proves nothing: its row is in doubt', async () => {
    const speak: Script = ({ socket }) => void socket.once('data', () => socket.pause().write(httpAnswer(400, '')))
    await using gateway = await openFaultyGateway([speak])
    await using client = clientOf(gateway.url)
    const details = { cust_email: 'x'.repeat(16 * 1024 * 1024) } // more than the buffers of a connection hold
    const instruction = instructionOf('CAPTURE', { vaultId: '4711', details })
    const outcome = await client.send(instruction, GO, NEVER)
    const verdict = verdictOn(outcome, {
      instruction,
      everInDoubt: false,
      notExecutedStatus: [],
      deleteAnswer: 'status' as const,
    })
    expect([outcome.kind, verdict.kind]).toEqual(['answered', 'in-doubt'])
  })

  test('shortly before the deadline counts', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { outcome } = await sendTo(async (visit) => {
      const request = await visit.request()
      visit.execute()
      vi.advanceTimersByTime(1_999)
      await someTurns()
      visit.write(httpAnswer(200, approval(request)))
    }, 2_000)
    expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_STATUS_NAME: 'APPROVED' } } })
  })

  test.each(['content-length', 'end of connection'])(
    'that lies in the socket while the event loop is blocked past the deadline is read (%s)',
    async (framing) => {
      const timeoutMs = 500 // far more than the request takes to arrive
      const { outcome } = await sendTo(async (visit) => {
        const text = approval(await visit.request())
        visit.execute()
        if (framing === 'content-length') visit.write(httpAnswer(200, text))
        else visit.end(`HTTP/1.1 200 OK\r\n\r\n${text}`)
        const untilMs = performance.now() + 1.1 * timeoutMs
        while (performance.now() < untilMs);
      }, timeoutMs)
      expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_STATUS_NAME: 'APPROVED' } } })
    },
  )

  test('has its whole time although the process stood still while it handed the request over', async () => {
    const timeoutMs = 500 // far more than the answer takes
    const standStill = () => {
      unsubscribe('undici:client:sendHeaders', standStill)
      const untilMs = performance.now() + 1.1 * timeoutMs
      while (performance.now() < untilMs);
    }
    subscribe('undici:client:sendHeaders', standStill)
    const { outcome } = await sendTo(async (visit) => {
      const request = await visit.request()
      visit.execute()
      await someTurns() // a deadline that began before the stand-still is over in the first of them
      visit.write(httpAnswer(200, approval(request)))
    }, timeoutMs)
    expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_STATUS_NAME: 'APPROVED' } } })
  })

  test.each([
    ['120', 120_000],
    ['999999999', 3_600_000],
    ['soon', null],
  ])('of 429 carries Retry-After: %s', async (header, retryAfterMs) => {
    const { outcome } = await sendTo(async (visit) => {
      await visit.request()
      visit.write(httpAnswer(429, 'slow down', { 'retry-after': header, date: 'Fri, 20 Nov 2026 08:00:00 GMT' }))
    })
    expect(outcome).toMatchObject({
      kind: 'answered',
      gatewayAtMs: Date.UTC(2026, 10, 20, 8),
      httpStatus: 429,
      retryAfterMs,
      body: { kind: 'none' },
      text: 'slow down',
    })
  })

  test('keeps no card number, no username and no more than 2,000 characters in its text', async () => {
    const { outcome } = await sendTo(async (visit) => {
      const request = await visit.request()
      const echo = `${request.get('req_username')} 4111111111111111\r\n\u0007`
      const advice = `card 4111 1111 1111 1111 of ${request.get('req_username')}`
      const answer = {
        TRANS_STATUS_NAME: 'DECLINED',
        REQUEST_ACTION: 'REFUND',
        TRANS_ORDER_ID: 777,
        API_ADVICE: advice,
      }
      visit.write(httpAnswer(200, JSON.stringify({ ...answer, echo: echo + 'x'.repeat(3_000) })))
    })
    expect(outcome).toMatchObject({
      kind: 'answered',
      body: { fields: { API_ADVICE: 'card 4111110000001111 of ***' } },
    })
    const kept = JSON.stringify(outcome)
    for (const leak of ['merchant-one', '4111111111111111', '4111 1111']) expect(kept).not.toContain(leak)
    if (outcome.kind !== 'answered') return
    expect(outcome.text).toHaveLength(2_000)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(outcome.text).not.toMatch(/[\u0000-\u001f]/)
  })

  test('that repeats the request is told once, and only its fields are kept', async () => {
    await using gateway = await openFaultyGateway([
      async (visit) => {
        const request = await visit.request()
        visit.write(
          httpAnswer(200, approval(request).replace('{', `{"echo":"${encodeURIComponent(String(request))}",`)),
        )
      },
    ])
    let told = 0
    const onRepeated = () => {
      told += 1
    }
    await using client = clientOf(gateway.url, { onRepeated })
    for (let nth = 1; nth <= 3; nth++) {
      const outcome = await client.send(refund(), GO, NEVER)
      expect(outcome).toMatchObject({ body: { fields: { TRANS_STATUS_NAME: 'APPROVED', TRANS_ORDER_ID: '777' } } })
      expect(outcome).toMatchObject({
        text: expect.stringMatching(/^the answer repeated our credentials; withheld, but for/),
      })
      for (const leak of ['merchant-one', 'sesame']) expect(JSON.stringify(outcome)).not.toContain(leak)
      expect(told).toBe(1)
    }
  })
})

describe('a code that says "not executed"', () => {
  const CODES = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 429, 431, 503]
  const judging = {
    instruction: refund(),
    everInDoubt: false,
    notExecutedStatus: [503],
    deleteAnswer: 'status' as const,
  }

  /** Every code with the body, one request each, over one client. */
  async function verdictsOn(bodyOf: (request: URLSearchParams) => KnownBody): Promise<string[]> {
    let code = 0
    await using gateway = await openFaultyGateway([
      async (visit) => {
        const { bytes, headers = {} } = bodyOf(await visit.request())
        visit.socket.write(httpAnswer(code, '', { ...headers, 'content-length': String(bytes.length) }))
        visit.socket.end(bytes)
      },
    ])
    await using client = clientOf(gateway.url)
    const verdicts: string[] = []
    for (code of CODES) {
      const outcome = await client.send(refund(), GO, NEVER)
      expect(outcome).toMatchObject({ kind: 'answered', httpStatus: code })
      verdicts.push(verdictOn(outcome, judging).kind)
    }
    return verdicts
  }

  const titles = hidingPlaces('{}').map(({ title }) => title)
  test.each(titles)('is not believed where the answer of an executed request may hide: %s', async (title) => {
    const bodyOf = (request: URLSearchParams) =>
      hidingPlaces(approval(request)).find((place) => place.title === title) as KnownBody
    expect(new Set(await verdictsOn(bodyOf))).toEqual(new Set(['in-doubt']))
  })

  test.each(PLAIN_BODIES)('is believed beside what is plainly no answer: $title', async (body) => {
    expect(await verdictsOn(() => body)).toEqual([
      ...['failed', 'stop-account', 'forbidden', 'stop-account', 'stop-account'],
      ...['failed', 'failed', 'failed', 'failed', 'failed', 'unsent', 'failed', 'unsent'],
    ])
  })
})

test('a signal that could abandon attempts is listened to once, however many they are', async () => {
  await using gateway = await openFaultyGateway([approve])
  await using client = clientOf(gateway.url)
  const { signal } = new AbortController()
  await client.send(refund(), GO, signal)
  await client.send(refund(), () => 'fence', signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
})

describe('the request', () => {
  test('goes to the transaction endpoint under the path of the base address, once, as a form', async () => {
    let head = ''
    await using gateway = await openFaultyGateway([
      (visit) => {
        visit.socket.once('data', (chunk) => {
          head = chunk.toString('latin1')
        })
        return approve(visit)
      },
    ])
    await using client = clientOf(`${gateway.url}/live/`)
    await client.send(refund('000123'), GO, NEVER)
    expect(head).toMatch(/^POST \/live\/api\/transaction\/api HTTP\/1\.1\r\n/)
    expect(head).toMatch(/content-type: application\/x-www-form-urlencoded; charset=utf-8\r\n/)
    expect(head).toMatch(/cache-control: no-cache\r\n/)
    expect(head).toMatch(/user-agent: tranche\r\n/)
    expect(gateway.requests.map((request) => Object.fromEntries(request))).toEqual([
      {
        req_username: 'merchant-one',
        req_password: 'sesame & "open"',
        transaction_type: 'REFUND',
        amount: '12.30',
        request_ref_po_id: '000123',
      },
    ])
  })

  test.each([
    [null, 'application/x-www-form-urlencoded'],
    ['iso-8859-1,*, utf-8', 'application/x-www-form-urlencoded; charset=iso-8859-1,*, utf-8'],
  ])('declares the charset that the merchant is said to want: %s; the text is UTF-8', async (charset, type) => {
    let said = ''
    await using gateway = await openFaultyGateway([
      (visit) => {
        visit.socket.on('data', (chunk) => {
          said += chunk.toString('latin1')
        })
        return approve(visit)
      },
    ])
    await using client = clientOf(gateway.url, { charset })
    const details = { cust_lname: 'Müller' }
    await client.send(instructionOf('CAPTURE', { vaultId: '9', details }), GO, NEVER)
    expect(said).toContain(`content-type: ${type}\r\n`)
    expect(said).toContain('cust_lname=M%C3%BCller')
  })

  test('of a refund says request_action=CCCREDIT to gateways of the earlier variant', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url, { refundParameter: 'request_action' })
    await client.send(refund(), GO, NEVER)
    expect(gateway.requests[0]?.get('request_action')).toBe('CCCREDIT')
    expect(gateway.requests[0]?.has('transaction_type')).toBe(false)
  })

  test.each([307, 308, 301, 421, 503])('is not sent again on HTTP %i', async (status) => {
    const { outcome, requests, connections } = await sendTo(async (visit) => {
      await visit.request()
      visit.write(httpAnswer(status, '', { location: '/elsewhere', 'retry-after': '0' }))
    })
    expect(outcome).toMatchObject({ kind: 'answered', httpStatus: status })
    expect({ requests, connections }).toEqual({ requests: 1, connections: 1 })
  })
})

describe('a request that was started and not answered is lost', () => {
  const DEADLINE = 'no complete answer within 0.15 s'
  const CLOSED = 'the connection was closed before a complete answer came'
  const RESET = 'the connection was reset before a complete answer came'

  const cases: readonly (readonly [title: string, detail: string, httpStatus: number | null, script: Script])[] = [
    ['begun to read, closed', CLOSED, null, (visit) => void visit.socket.once('data', () => visit.end())],
    [
      'read, executed, closed',
      CLOSED,
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.end()
      },
    ],
    [
      'read, executed, reset',
      RESET,
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.reset()
      },
    ],
    [
      'never answered',
      DEADLINE,
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
      },
    ],
    [
      '102, then silence',
      DEADLINE,
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.write('HTTP/1.1 102 Processing\r\n\r\n')
      },
    ],
    [
      'a header that never ends',
      DEADLINE,
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.write('HTTP/1.1 200 OK\r\nx-drip: ')
        const drip = setInterval(() => visit.write('x'), 10)
        visit.socket.once('close', () => clearInterval(drip))
      },
    ],
    [
      'a body that stalls',
      DEADLINE,
      200,
      async (visit) => {
        const text = approval(await visit.request())
        visit.execute()
        visit.write(httpAnswer(200, text).slice(0, -20))
      },
    ],
    [
      'a body cut short of its length',
      'the answer ended before its announced length',
      200,
      async (visit) => {
        const text = approval(await visit.request())
        visit.execute()
        visit.end(httpAnswer(200, text, { connection: 'close' }).slice(0, -20))
      },
    ],
    [
      'garbage',
      'what came back is not HTTP',
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.end('\u0001\u0002 not even close\r\n\r\n')
      },
    ],
    [
      'a body beyond 64 KiB',
      'the answer is longer than 64 KiB',
      200,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.write(httpAnswer(200, `{"TRANS_STATUS_NAME":"APPROVED","x":"${'x'.repeat(64 * 1024)}"}`))
      },
    ],
    [
      'a header beyond all bounds',
      'the header of the answer is too long',
      null,
      async (visit) => {
        await visit.request()
        visit.execute()
        visit.write(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(64 * 1024)}\r\n\r\n`)
      },
    ],
  ]

  test.each(cases)('%s', async (_title, detail, httpStatus, script) => {
    const { outcome } = await sendTo(script, detail === DEADLINE ? 150 : 60_000)
    expect(outcome).toEqual({ kind: 'lost', sentAtMs: expect.any(Number), httpStatus, detail })
  })

  test('at the deadline its connection is closed', async () => {
    await using gateway = await openFaultyGateway([async (visit) => void (await visit.request())])
    await using client = clientOf(gateway.url, { timeoutMs: 20 })
    expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'lost' })
    await gateway.drained(1)
  })

  test('whatever bytes come back after a request was read, it is never unsent and never approved', async () => {
    let bytes = Buffer.alloc(0)
    await using gateway = await openFaultyGateway([
      async (visit) => {
        await visit.request()
        visit.socket.end(bytes)
      },
    ])
    await using client = clientOf(gateway.url)
    const head = fc.constantFrom(
      '',
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 ',
      'HTTP/1.1 101 S\r\n\r\n',
    )
    const tail = fc.constantFrom('', '\r\n\r\n', '{"TRANS_STATUS_NAME":"APPROVED"', 'content-length: 9\r\n\r\n')
    await fc.assert(
      fc.asyncProperty(head, tail, fc.uint8Array({ maxLength: 200 }), async (before, after, noise) => {
        bytes = Buffer.concat([Buffer.from(before), noise, Buffer.from(after)])
        const outcome = await client.send(refund(), GO, NEVER)
        expect(outcome.kind).not.toBe('unsent')
        const verdict = verdictOn(outcome, {
          instruction: refund(),
          everInDoubt: false,
          notExecutedStatus: [],
          deleteAnswer: 'status' as const,
        })
        expect(verdict.kind).not.toBe('approved')
      }),
      { numRuns: 200 },
    )
  })

  test('a reset at accept is lost or unsent, and nothing was executed either way', async () => {
    const { outcome, executed } = await sendTo((visit) => visit.reset())
    expect(['lost', 'unsent']).toContain(outcome.kind)
    expect(executed).toBe(0)
  })
})

describe('the fence', () => {
  test.each([
    ['fence', 'its time to send had passed'],
    ['pace', 'the rate of this second is used up'],
  ] as const)('that says %s leaves no byte', async (why, words) => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    let asked = 0
    const outcome = await client.send(
      refund(),
      () => {
        asked++
        return why
      },
      NEVER,
    )
    expect(outcome).toEqual({ kind: 'unsent', why, detail: `held back before the first byte: ${words}` })
    await gateway.drained(1)
    expect({ asked, bytes: gateway.bytesReceived, connections: gateway.connections }).toEqual({
      asked: 1,
      bytes: 0,
      connections: 1,
    })
  })

  test('that throws leaves no byte', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    const fence = () => {
      throw new Error('the ledger is gone')
    }
    expect(await client.send(refund(), fence, NEVER)).toEqual({
      kind: 'unsent',
      why: 'fence',
      detail: 'held back before the first byte: the ledger is gone',
    })
    await gateway.drained(1)
    expect(gateway.bytesReceived).toBe(0)
  })

  test('during which the attempt is abandoned leaves no byte, even if it lets go', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    const abandon = new AbortController()
    const fence = () => {
      abandon.abort()
      return null
    }
    expect(await client.send(refund(), fence, abandon.signal)).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    await gateway.drained(1)
    expect(gateway.bytesReceived).toBe(0)
  })

  test('is asked once per attempt, after the connection stands', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    const seen: number[] = []
    const askedBy = (i: number) => () => {
      seen.push(i)
      return null
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.send(refund(String(i)), askedBy(i), NEVER)))
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(gateway.requests).toHaveLength(20)
  })
})

describe('the time at which the rate lets a request leave', () => {
  test('is awaited on the connection that stands already, and before the fence is asked', async () => {
    const order: string[] = []
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url, {
      departure: async () => {
        await until(() => gateway.connections === 1)
        order.push(`departure, ${gateway.bytesReceived} bytes`)
      },
    })
    const fence = () => {
      order.push('fence')
      return null
    }
    expect(await client.send(refund(), fence, NEVER)).toMatchObject({ kind: 'answered', httpStatus: 200 })
    expect(order).toEqual(['departure, 0 bytes', 'fence'])
  })

  test('is awaited before every request on a kept connection as well', async () => {
    let moments = 0
    await using gateway = await openFaultyGateway([
      async (visit) => {
        for (let i = 0; i < 3; i++) await approve(visit)
      },
    ])
    const departure = async () => void moments++
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1, departure })
    for (const nth of [1, 2, 3]) {
      expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered' })
      expect(moments).toBe(nth)
    }
    expect(gateway.connections).toBe(1)
  })

  test('comes too late for a connection that the gateway has closed meanwhile: unsent', async () => {
    const asked = Promise.withResolvers<void>()
    await using gateway = await openFaultyGateway([async (visit) => asked.promise.then(() => visit.reset())])
    const departure = async () => {
      asked.resolve()
      await gateway.drained(1)
      for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
    }
    await using client = clientOf(gateway.url, { departure })
    expect(await client.send(refund(), GO, NEVER)).toEqual({
      kind: 'unsent',
      why: 'connect',
      detail: 'the gateway closed the connection before the request was sent',
    })
    expect(gateway.bytesReceived).toBe(0)
  })

  test.each(['fresh', 'warm'] as const)('is not awaited by an attempt that is given up (%s)', async (connections) => {
    const asked = Promise.withResolvers<void>()
    const late = Promise.withResolvers<void>()
    const departure = () => {
      asked.resolve()
      return late.promise
    }
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url, { connections, departure })
    const giveUp = new AbortController()
    const sending = client.send(refund(), GO, giveUp.signal)
    await asked.promise
    giveUp.abort()
    expect(await sending).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    late.resolve()
    await client.close()
    expect(gateway.bytesReceived).toBe(0)
  })
})

test('a signal abandons its own attempts alone, and all of them', async () => {
  const asked = Promise.withResolvers<void>()
  const late = Promise.withResolvers<void>()
  let moments = 0
  const departure = () => {
    moments += 1
    if (moments === 3) asked.resolve()
    return late.promise
  }
  await using gateway = await openFaultyGateway([approve])
  await using client = clientOf(gateway.url, { departure })
  const giveUp = new AbortController()
  const [first, second, third] = [giveUp.signal, NEVER, giveUp.signal].map((signal) =>
    client.send(refund(), GO, signal),
  )
  await asked.promise
  giveUp.abort()
  for (const abandoned of [first, third]) expect(await abandoned).toMatchObject({ kind: 'unsent', why: 'abandoned' })
  late.resolve()
  expect(await second).toMatchObject({ kind: 'answered', httpStatus: 200 })
  expect(gateway.requests).toHaveLength(1)
})

describe('what was never started is unsent', () => {
  /** A port on which nobody listens. */
  async function closedPort(): Promise<number> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    return port
  }

  const neverAsked = () => {
    throw new Error('the fence was asked without a connection')
  }

  test('refused', async () => {
    const port = await closedPort()
    await using client = clientOf(`http://127.0.0.1:${port}`)
    const detail = `connection refused by 127.0.0.1:${port}`
    expect(await client.send(refund(), neverAsked, NEVER)).toEqual({ kind: 'unsent', why: 'connect', detail })
    expect(await client.reach()).toEqual({ kind: 'not-reached', why: detail })
  })

  test('refused, in words that hold the password', async () => {
    const port = await closedPort()
    await using client = clientOf(`http://127.0.0.1:${port}`, { password: 'refused' })
    expect(await client.reach()).toEqual({ kind: 'not-reached', why: `connection refused by 127.0.0.1:${port}` })
  })

  test('without a connection within the limit, whatever it waits for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const port = await closedPort()
    await using client = clientOf(`http://127.0.0.1:${port}`, {
      connections: 'warm',
      departure: () => new Promise(() => {}),
    })
    const sent = client.send(refund(), neverAsked, NEVER)
    vi.advanceTimersByTime(5_000)
    expect(await sent).toEqual({
      kind: 'unsent',
      why: 'connect',
      detail: `no connection to 127.0.0.1:${port} within 5 s`,
    })
  })

  test('but not where the connection stood in time and the process stood still until the limit was over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(`http://127.0.0.1:${gateway.port}`)
    const sent = client.send(refund(), GO, NEVER)
    await new Promise((resolve) => process.nextTick(resolve)) // it is being opened, and nothing has been read yet
    vi.advanceTimersByTime(5_000)
    expect(await sent).toMatchObject({ kind: 'answered', httpStatus: 200 })
  })

  test('a name that does not resolve', async () => {
    await using client = clientOf('http://gateway.invalid')
    const outcome = await client.send(refund(), neverAsked, NEVER)
    expect(outcome).toMatchObject({ kind: 'unsent', why: 'connect' })
    if (outcome.kind === 'unsent')
      expect(outcome.detail).toMatch(/the name gateway\.invalid (does not resolve|cannot be)/)
  })

  test('a server that does not speak TLS', async () => {
    await using gateway = await openFaultyGateway([(visit) => visit.end('HTTP/1.1 400 Bad Request\r\n\r\n')])
    await using client = clientOf(`https://127.0.0.1:${gateway.port}`)
    const outcome = await client.send(refund(), neverAsked, NEVER)
    expect(outcome).toMatchObject({ kind: 'unsent', why: 'connect' })
    if (outcome.kind === 'unsent') expect(outcome.detail).toMatch(/^TLS failed with 127\.0\.0\.1:\d+: wrong version/)
    expect(await client.reach()).toMatchObject({ why: expect.stringMatching(/^TLS failed/) })
  })

  test('abandoned before it began', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    const outcome = await client.send(refund(), neverAsked, AbortSignal.abort())
    expect(outcome).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    expect(gateway.connections).toBe(0)
  })

  test('abandoned while connecting: it ends at once, and closing ends the connection', async () => {
    const arrived = Promise.withResolvers<void>()
    await using gateway = await openFaultyGateway([
      (visit) => {
        visit.socket.resume()
        arrived.resolve()
      },
    ])
    const client = clientOf(`https://127.0.0.1:${gateway.port}`)
    const abandon = new AbortController()
    const sent = client.send(refund(), neverAsked, abandon.signal)
    await arrived.promise
    abandon.abort()
    expect(await sent).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    await client.close()
    await gateway.drained(1)
  })

  test('abandoned while connecting: the connection that comes too late carries no byte', async () => {
    const arrived = Promise.withResolvers<Visit>()
    await using gateway = await openFaultyGateway([(visit) => arrived.resolve(visit)])
    await using client = clientOf(`https://localhost:${gateway.port}`)
    const abandon = new AbortController()
    let asked = 0
    const fence = () => {
      asked++
      return null
    }
    const sent = client.send(refund(), fence, abandon.signal)
    const { socket } = await arrived.promise
    abandon.abort()
    expect(await sent).toMatchObject({ kind: 'unsent', why: 'abandoned' })

    const late = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE }).on('error', () => {})
    let bytes = 0
    late.on('data', (chunk) => {
      bytes += chunk.length
    })
    await gateway.drained(1)
    expect({ asked, bytes }).toEqual({ asked: 0, bytes: 0 })
  })

  test('closing gives up what has not started and awaits what has', async () => {
    let answer = () => {}
    const started = Promise.withResolvers<void>()
    await using gateway = await openFaultyGateway([
      async (visit) => {
        const request = await visit.request()
        visit.execute()
        answer = () => visit.write(httpAnswer(200, approval(request)))
        started.resolve()
      },
    ])
    const client = clientOf(gateway.url, { inFlightMax: 1 })
    const first = client.send(refund(), GO, NEVER)
    await started.promise
    const second = client.send(refund(), neverAsked, NEVER)
    const closed = client.close()
    const third = client.send(refund(), neverAsked, NEVER)
    expect(await second).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    expect(await third).toMatchObject({ kind: 'unsent', why: 'abandoned' })
    answer()
    expect(await first).toMatchObject({ kind: 'answered', httpStatus: 200 })
    await closed
    expect(gateway.requests).toHaveLength(1)
  })

  test('an instruction that lacks what its operation needs', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    expect(await client.send(instructionOf('REFUND'), neverAsked, NEVER)).toEqual({
      kind: 'unsent',
      why: 'connect',
      detail: 'bug: REFUND needs request_ref_po_id',
    })
    expect(gateway.connections).toBe(0)
  })
})

describe('connections', () => {
  test('fresh ones are closed behind every answer', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    for (let i = 0; i < 3; i++) await client.send(refund(), GO, NEVER)
    expect(gateway.connections).toBe(3)
    await gateway.drained(3)
  })

  const approveAll: Script = async (visit) => {
    for (;;) visit.write(httpAnswer(200, approval(await visit.request())))
  }

  test('warm ones are kept, and say whether they carried a request before', async () => {
    await using gateway = await openFaultyGateway([approveAll])
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
    for (const connection of ['fresh', 'warm', 'warm']) {
      expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered', connection })
    }
    expect(gateway.connections).toBe(1)
  })

  test.each([429, 400, 403, 401, 503])(
    'a warm one is given up behind HTTP %i, so that the same said again meets no other request',
    async (code) => {
      const refusal = httpAnswer(code, 'no')
      await using gateway = await openFaultyGateway([
        async (visit) => {
          await visit.request()
          visit.write(refusal)
          await visit.request()
          visit.write(refusal)
        },
        approveAll,
      ])
      await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
      expect(await client.send(refund('1'), GO, NEVER)).toMatchObject({ httpStatus: code, connection: 'fresh' })
      expect(await client.send(refund('2'), GO, NEVER)).toMatchObject({ httpStatus: 200, connection: 'fresh' })
      expect(gateway.requests.map((request) => request.get('request_ref_po_id'))).toEqual(['1', '2'])
    },
  )

  test('a code over a connection that carried another request leaves the row in doubt', async () => {
    await using gateway = await openFaultyGateway([
      async (visit) => {
        visit.write(httpAnswer(200, approval(await visit.request())))
        await visit.request()
        visit.write(httpAnswer(429, 'slow down'))
      },
    ])
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
    await client.send(refund('1'), GO, NEVER)
    const outcome = await client.send(refund('2'), GO, NEVER)
    expect(
      verdictOn(outcome, {
        instruction: refund('2'),
        everInDoubt: false,
        notExecutedStatus: [],
        deleteAnswer: 'status' as const,
      }),
    ).toMatchObject({
      kind: 'in-doubt',
      reason: 'a code over a connection that carried another request (HTTP 429: slow down); it may have been executed',
    })
  })

  test('a stale second answer on an idle connection is not taken for the next one', async () => {
    await using gateway = await openFaultyGateway([
      async (visit) => {
        const answer = httpAnswer(200, approval(await visit.request()))
        visit.write(answer + answer)
      },
      approveAll,
    ])
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
    await client.send(refund('1'), GO, NEVER)
    const outcome = await client.send(refund('2'), GO, NEVER)
    expect(outcome).toMatchObject({ kind: 'answered', body: { fields: { TRANS_ORDER_ID: '2' } } })
    expect(gateway.requests.map((request) => request.get('request_ref_po_id'))).toEqual(['1', '2'])
  })

  test('a stale answer that meets an open request on a kept connection leaves it in doubt', async () => {
    await using gateway = await openFaultyGateway([
      async (visit) => {
        const stale = httpAnswer(200, approval(await visit.request()))
        visit.write(stale)
        await visit.request()
        visit.write(stale)
      },
    ])
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
    await client.send(refund('1'), GO, NEVER)
    const outcome = await client.send(refund('2'), GO, NEVER)
    const verdict = verdictOn(outcome, {
      instruction: refund('2'),
      everInDoubt: false,
      notExecutedStatus: [],
      deleteAnswer: 'status' as const,
    })
    expect(verdict).toMatchObject({
      kind: 'in-doubt',
      reason: 'the answer belongs to another request: TRANS_ORDER_ID/TRANS_RECORD_ID is 1/1, 2 was sent',
    })
  })

  test('a kept connection that the gateway closed is replaced, and nothing is sent twice', async () => {
    await using gateway = await openFaultyGateway([
      async (visit) => {
        visit.end(httpAnswer(200, approval(await visit.request())))
      },
      approveAll,
    ])
    await using client = clientOf(gateway.url, { connections: 'warm', inFlightMax: 1 })
    await client.send(refund('1'), GO, NEVER)
    await gateway.drained(1)
    expect(await client.send(refund('2'), GO, NEVER)).toMatchObject({
      kind: 'answered',
      body: { fields: { TRANS_ORDER_ID: '2' } },
    })
    expect(gateway.requests).toHaveLength(2)
  })
})

describe('reach', () => {
  test('finds an open port without sending a byte', async () => {
    await using gateway = await openFaultyGateway([approve])
    await using client = clientOf(gateway.url)
    expect(await client.reach()).toMatchObject({ kind: 'reached' })
    await gateway.drained(1)
    expect(gateway.bytesReceived).toBe(0)
  })
})

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s', (tls) => {
  test('requests are answered, and later connections resume what earlier ones agreed', async () => {
    const resumed: boolean[] = []
    const script: Script = async (visit) => {
      const request = await visit.request()
      resumed.push((visit.socket as TLSSocket).isSessionReused())
      visit.write(httpAnswer(200, approval(request)))
    }
    await using gateway = await openFaultyGateway([script], { tls })
    await using client = clientOf(gateway.url)
    expect(await client.reach()).toMatchObject({ kind: 'reached' })
    expect(gateway.bytesReceived).toBe(0)
    for (let i = 0; i < 3; i++) {
      expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered', httpStatus: 200 })
    }
    expect(resumed.slice(1)).toEqual([true, true])
  })

  test('a certificate for another name is refused every time, however often it is offered', async () => {
    await using gateway = await openFaultyGateway([approve], { tls })
    await using client = clientOf(`https://127.0.0.1:${gateway.port}`)
    for (let i = 0; i < 3; i++) {
      const outcome = await client.send(refund(), GO, NEVER)
      expect(outcome).toMatchObject({ kind: 'unsent', why: 'connect' })
      if (outcome.kind === 'unsent') expect(outcome.detail).toMatch(/^TLS failed with 127\.0\.0\.1:\d+: .*127\.0\.0\.1/)
    }
    expect(gateway.bytesReceived).toBe(0)
  })
})
