// One refund, as a script sends it. Throws where the gateway did not approve it.

import type { Pool } from 'undici'

export async function refund(pool: Pool, amount: string, orderId: string): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/transaction/api',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'cache-control': 'no-cache' },
    body: new URLSearchParams({
      req_username: 'bench',
      req_password: 'bench-password',
      transaction_type: 'REFUND',
      amount,
      request_ref_po_id: orderId,
    }).toString(),
  })
  const answer = (await body.json()) as { TRANS_STATUS_NAME: string }
  if (statusCode !== 200 || answer.TRANS_STATUS_NAME !== 'APPROVED') throw new Error(`order ${orderId} is not approved`)
}
