// A receiver of webhooks: verifies each body, answers at once, and deals with each event once.
// Run with: WEBHOOK_SECRET=whsec_… PORT=8080 node examples/receiver.mjs
// Libraries that verify Standard Webhooks do the same as `isTrue`: https://www.standardwebhooks.com

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64')
const MOST_BYTES = 64 * 1024
const OLDEST_SECONDS = 300
/** Events come at least once. A real service keeps the ids where it keeps what it does about them, in the same transaction. */
const dealtWith = new Set()

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end()
  const body = request.method === 'POST' ? await read(request) : null
  if (body === null) return answer(400)
  if (!isTrue(request.headers, body)) return answer(401)
  const event = JSON.parse(body)
  if (!dealtWith.has(event.id)) react(event)
  dealtWith.add(event.id)
  answer(204)
})

/** Only then is it from who has the secret, and of now. */
function isTrue({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' }, body) {
  if (Math.abs(Date.now() / 1000 - Number(at)) > OLDEST_SECONDS) return false
  const own = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest()
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === own.length && timingSafeEqual(given, own)
  })
}

function react({ type, data }) {
  const of = data.reference ?? data.batch ?? data.merchant ?? ''
  // Of a refused request `looks_like` names the recorded row, which may be paid: its order is not refused by it.
  if (data.final === false) console.log(`${type}: ${of}: ${data.advice}`)
  else console.log(`${type}: ${of} ${data.state ?? ''}`.trim())
}

async function read(request) {
  const parts = []
  let bytes = 0
  for await (const part of request) {
    parts.push(part)
    bytes += part.length
    if (bytes > MOST_BYTES) return null
  }
  return Buffer.concat(parts).toString('utf8')
}

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
