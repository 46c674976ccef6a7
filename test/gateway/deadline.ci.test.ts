// A client that stood still beyond the deadlines of its requests, while the gateway answered all of them.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startChild } from '../fixtures/children.ts'
import { approval, httpAnswer, openFaultyGateway, type Visit } from '../fixtures/faulty-gateway.ts'

const COUNT = 40
const TIMEOUT_MS = 400
/** Near the most that is read of an answer, which takes several turns of the event loop. */
const LARGE = 'x'.repeat(60_000)

type Tls = 'TLSv1.2' | 'TLSv1.3' | undefined
type Answer = (visit: Visit, body: string) => void

const padded = (body: string) => `{"x":"${LARGE}",${body.trim().slice(1)}`
const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`

const ANSWERS: Readonly<Record<string, Answer>> = {
  'with their length': (visit, body) => visit.write(httpAnswer(200, body)),
  'with their length, large': (visit, body) => visit.write(httpAnswer(200, padded(body))),
  'the body behind the head': (visit, body) => {
    const whole = httpAnswer(200, body)
    visit.write(whole.slice(0, -body.length))
    visit.write(body)
  },
  'ended by closing': (visit, body) => visit.end(`HTTP/1.1 200 OK\r\n\r\n${body}`),
  'ended by closing, large': (visit, body) => visit.end(`HTTP/1.1 200 OK\r\n\r\n${padded(body)}`),
  'in a thousand chunks': (visit, body) => {
    visit.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    for (const part of padded(body).match(/.{1,60}/gs) ?? []) visit.write(chunk(part))
    visit.write('0\r\n\r\n')
  },
}

/**
 * How 40 requests of a client end that stands still from the time that all have arrived until all deadlines are over. On a
 * busy machine a deadline can be over before it stands still: then again, with a longer one.
 */
async function endsOf(answer: Answer, tls: Tls, timeoutMs = TIMEOUT_MS): Promise<string[]> {
  const arrived: (() => void)[] = []
  await using gateway = await openFaultyGateway(
    [async (visit) => void arrived.push(answer.bind(null, visit, approval(await visit.request())))],
    tls === undefined ? {} : { tls },
  )
  const child = startChild('child-sender.ts', gateway.url, String(timeoutMs), String(COUNT))
  try {
    while (arrived.length < COUNT && !child.over) await sleep(1)
    await child.freeze()
    const frozenMs = Date.now()
    const beganMs = Number((await child.said(/^began/))?.replace('began ', ''))
    if (frozenMs - beganMs > timeoutMs) return await endsOf(answer, tls, 4 * timeoutMs)
    for (const give of arrived) give()
    await sleep(2 * timeoutMs)
    child.wake()
    await child.said(/^over$/)
    return child.lines.slice(1, -1)
  } finally {
    await child.kill()
  }
}

describe.each([undefined, 'TLSv1.2', 'TLSv1.3'] as const)(
  'a client that stood still beyond its deadline (%s)',
  (tls) => {
    test.each(Object.entries(ANSWERS))('reads the answers that came meanwhile: %s', async (_title, answer) => {
      expect(await endsOf(answer, tls)).toEqual(Array.from({ length: COUNT }, () => 'answered: answer'))
    })
  },
)
