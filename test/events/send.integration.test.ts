// One attempt at a webhook, over real sockets.

import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { createSender, type SenderOptions } from '../../src/events/send.ts'
import { newSecret } from '../../src/events/signature.ts'
import type { WebhookSender } from '../../src/ports/webhooks.ts'
import { openReceiver, type Receiver } from '../fixtures/receivers.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function sender(over: Partial<SenderOptions> = {}): WebhookSender {
  const opened = createSender({ scrub: (text) => text.replaceAll('s3cret', '***'), ...over })
  closing.push(opened.close)
  return opened
}

async function receiver(...[answer]: Parameters<typeof openReceiver>): Promise<Receiver> {
  const opened = await openReceiver(answer)
  closing.push(opened.close)
  return opened
}

const to = (url: string, secrets = [newSecret()], allowsPrivate = true) => ({ url, secrets, allowsPrivate })

test('a body is signed with every secret, and with the time of the attempt', async () => {
  const hooks = await receiver()
  const secrets = [newSecret(), newSecret()]
  const body = '{"type":"ping","é":"\u2028"}'
  const answer = await sender().send(to(hooks.url, secrets), 'e1-0123456789ab', body, Date.now())
  expect(answer).toEqual({ httpStatus: 204, said: '', retryAfter: null })
  const [received] = hooks.received
  expect(received).toMatchObject({ id: 'e1-0123456789ab', body })
  for (const secret of secrets) {
    const headers = received?.headers as Record<string, string>
    expect(new Webhook(secret).verify(received?.body as string, headers)).toEqual(JSON.parse(body))
    const flip = (text: string, at: number) =>
      `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`
    for (const name of ['webhook-id', 'webhook-timestamp']) {
      const flipped = { ...headers, [name]: flip(headers[name] as string, 9) }
      expect(() => new Webhook(secret).verify(received?.body as string, flipped)).toThrow(/signature/)
    }
    const [first = '', second = ''] = (headers['webhook-signature'] as string).split(' ')
    const forged = { ...headers, 'webhook-signature': [flip(first, 20), flip(second, 20)].join(' ') }
    expect(() => new Webhook(secret).verify(received?.body as string, forged)).toThrow(/signature/)
    for (const at of Buffer.from(body).keys()) {
      const other = Buffer.from(body)
      other.writeUInt8((other[at] as number) ^ 1, at)
      expect(() => new Webhook(secret).verify(other, headers)).toThrow(/signature/)
    }
    // What was signed long ago is a repetition.
    const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) }
    expect(() => new Webhook(secret).verify(received?.body as string, old)).toThrow(/old/)
  }
  expect(() => new Webhook(newSecret()).verify(body, received?.headers as Record<string, string>)).toThrow(/signature/)
})

test('a redirection is not followed, and what an answer says is kept short, masked and scrubbed', async () => {
  const other = await receiver()
  const moved = await receiver(() => ({
    status: 307,
    headers: { location: other.url, 'retry-after': '7' },
    body: `card 4111111111111111 password s3cret\u001b[31m${'x'.repeat(5_000)}`,
  }))
  const { httpStatus, said, retryAfter } = await sender().send(to(moved.url), 'e1', '{}', Date.now())
  expect([httpStatus, retryAfter, other.received]).toEqual([307, '7', []])
  expect(said.length).toBeLessThanOrEqual(1_024)
  expect(said).not.toMatch(/4111111111111111|s3cret/)
  expect(said).not.toContain('\u001b')
})

test('silence ends after the time that an attempt may take, whether before the answer or within it', async () => {
  const silent = await receiver(() => null)
  const answer = await sender({ withinMs: 200 }).send(to(silent.url), 'e1', '{}', Date.now())
  expect(answer).toMatchObject({ httpStatus: null, said: expect.stringMatching(/timeout|aborted/i) })
  const closed = await openReceiver()
  await closed.close()
  expect(await sender().send(to(closed.url), 'e1', '{}', Date.now())).toMatchObject({ httpStatus: null })
})

/** Counts every connection to this machine. */
async function listener(): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server: Server = createServer((socket: Socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '::', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

test('nothing is connected to by whatever writing, nor by a name that resolves to another address the next time', async () => {
  const { port, connections } = await listener()
  let asked = 0
  const alternating = ((_: string, __: object, answer: (error: null, found: object[]) => void) => {
    asked += 1
    const address = asked % 2 === 0 ? '93.184.216.34' : '127.0.0.1'
    answer(
      null,
      asked % 4 === 1
        ? [{ address, family: 4 }]
        : [
            { address: '::1', family: 6 },
            { address, family: 4 },
          ],
    )
  }) as never
  const guarded = sender({ resolve: alternating, withinMs: 2_000 })
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '0.0.0.0'])
    expect((await guarded.send(to(`https://${host}:${port}/`, [], false), 'e1', '{}', 0)).httpStatus).toBeNull()
  for (let i = 0; i < 12; i++)
    expect(await guarded.send(to(`https://rebind.example:${port}/`, [], false), 'e1', '{}', 0)).toMatchObject({
      said: expect.stringContaining('private or reserved'),
    })
  expect(asked).toBeGreaterThanOrEqual(12)
  expect((await guarded.send(to(`http://127.0.0.1:${port}/`, [], false), 'e1', '{}', 0)).said).toMatch(/not-https/)
  expect(connections()).toBe(0)
  await guarded.send(to(`http://127.0.0.1:${port}/`), 'e1', '{}', 0)
  expect(connections()).toBe(1)
})
