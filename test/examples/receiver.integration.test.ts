// The receiver of webhooks in examples/: what it says of an event that is of no row and no batch.

import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const KEY = Buffer.from('a key of the test')

test('the example of a receiver names the merchant of an event that is of no batch', async () => {
  const env = { ...process.env, WEBHOOK_SECRET: `whsec_${KEY.toString('base64')}`, PORT: '0' }
  const child = spawn(process.execPath, ['examples/receiver.mjs'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const line = async () => String((await once(child.stdout, 'data'))[0])
    const port = Number((await line()).trim().split(' ').at(-1))
    const data = { merchant: 'shop', final: false, advice: 'do not send again' }
    const body = JSON.stringify({ id: 'e1', type: 'account.stopped', data })
    const at = String(Math.floor(Date.now() / 1000))
    const headers = {
      'webhook-id': 'e1',
      'webhook-timestamp': at,
      'webhook-signature': `v1,${createHmac('sha256', KEY).update(`e1.${at}.${body}`).digest('base64')}`,
    }
    const said = line()
    expect((await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status).toBe(204)
    expect(await said).toBe('account.stopped: shop: do not send again\n')
  } finally {
    child.kill()
  }
})
