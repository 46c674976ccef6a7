// The client and the vault's endpoints over a socket.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CardDetails } from '../../src/domain/card.ts'
import { clientOf, GO, instructionOf, NEVER } from './arrange.ts'

const CARD: CardDetails = { number: '378282246310005', code: '9173', expiry: { month: '12', year: '2030' } }
const MASK = { bin: '378282', lastFour: '0005', expiry: CARD.expiry }
const CREATE = instructionOf('VAULT_CREATE', { money: null, card: MASK, details: { first_name: 'Ada' } })

let server: Server
let url: string
let seen: { path: string; type: string; body: string }[]
let answer: (body: string) => string

beforeEach(async () => {
  seen = []
  answer = () => '{}'
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      seen.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body })
      response.end(answer(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop/`
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

test('each operation goes to its own path below the base address, as JSON; a sale by card as a form', async () => {
  await using client = clientOf(url)
  await client.send(CREATE, GO, NEVER, CARD)
  await client.send(instructionOf('VAULT_UPDATE', { money: null, card: MASK, vaultId: '9' }), GO, NEVER, CARD)
  await client.send(instructionOf('VAULT_DELETE', { money: null, vaultId: '9' }), GO, NEVER)
  await client.send(instructionOf('CAPTURE', { card: MASK, xtlOrderId: 'x1' }), GO, NEVER, CARD)
  const root = '/shop/api/integration/customer/card-tokenization'
  expect(seen.map(({ path, type }) => [path, type])).toEqual([
    [root, 'application/json'],
    [`${root}/update`, 'application/json'],
    [`${root}/delete`, 'application/json'],
    ['/shop/api/transaction/api', 'application/x-www-form-urlencoded; charset=utf-8'],
  ])
  expect(seen[3]?.body).toContain('pmt_numb=378282246310005&pmt_key=9173&pmt_expiry=12%2F2030')
})

test('nothing of the card that was sent is kept of an answer that repeats the request', async () => {
  answer = () => 'you sent 37828224631000512309173, and 9173 is wrong'
  await using client = clientOf(url)
  const outcome = JSON.stringify(await client.send(CREATE, GO, NEVER, CARD))
  expect(outcome).toContain('answered')
  expect(outcome).not.toMatch(/378282246310005|9173/)
})

test('a row whose card is not at hand is not sent', async () => {
  await using client = clientOf(url)
  expect(await client.send(CREATE, GO, NEVER)).toMatchObject({ kind: 'unsent' })
  expect(await client.send(instructionOf('CAPTURE', { card: MASK, xtlOrderId: 'x1' }), GO, NEVER)).toMatchObject({
    kind: 'unsent',
  })
  expect(seen).toEqual([])
})
