// The sandbox as a command: what it says, and what it knows after a restart where it keeps its state in a file.

import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'

let office: Office
afterEach(() => office.close())

async function urlOf(running: Running): Promise<string> {
  await until('the sandbox listens', () => running.said().some((line) => line.includes('"listening"')), running)
  return JSON.parse(running.said()[0] as string).url
}

async function post(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const json = JSON.stringify({ req_username: 'sandbox', req_password: 'sandbox', ...body })
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
  })
  return (await answer.json()) as Record<string, unknown>
}

test('a sandbox that keeps its state knows its cards after a restart', async () => {
  office = await openOffice()
  const state = office.path('rehearsal.state')
  const start = () => office.start('sandbox', '--port', '0', '--state', state, '--json')
  const end = async (running: Running) => {
    process.kill(running.pid, 'SIGTERM')
    const { code, last, stderr } = await running.ended
    expect(code, stderr).toBe(0)
    return last
  }

  const first = start()
  await post(await urlOf(first), '/_sandbox/prepare', {
    vault: [{ vaultId: '55' }],
    req_username: undefined,
    req_password: undefined,
  })
  expect(first.saidAside().join('\n')).toMatch(
    /5\.02 {2}declined[\s\S]*0502 {2}refused by the vault[\s\S]*0503 {2}executed/,
  )
  expect(await end(first)).toEqual({ event: 'result', executed: 0 })

  const second = start()
  const deleted = await post(await urlOf(second), '/api/integration/customer/card-tokenization/delete', {
    customer_vault_id: 55,
  })
  expect(deleted).toMatchObject({ status: 'Success', data: { customer_vault_id: 55 } })
  expect(await end(second)).toEqual({ event: 'result', executed: 1 })
})

test('a file of deletions alone rehearses trouble, and the books agree', async () => {
  office = await openOffice({ triggers: true, env: { TRANCHE_TIMEOUT_MS: '1500' } })
  const expected = {
    ...{ 55: 'APPROVED', 56: 'DECLINED', 9000502: 'DECLINED', 9000503: 'IN_DOUBT', 9000505: 'APPROVED' },
    ...{ 9000506: 'IN_DOUBT', 9000507: 'IN_DOUBT', 9000509: 'IN_DOUBT', 9000510: 'IN_DOUBT', 9000514: 'IN_DOUBT' },
  }
  const ids = Object.keys(expected)
  office.sandbox.prepare({ vault: ids.filter((id) => id !== '56').map((vaultId) => ({ vaultId })) })
  const rows = ids.map((id, i) => `R${i},${id}`)
  const input = await office.put('in.csv', `${['reference,customer_vault_id', ...rows].join('\n')}\n`)
  const out = office.path('out.csv')

  const ran = await office.tranche('vault', 'delete', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5)
  const became = readCsv(out).map((line) => [line.customer_vault_id, line.result_status])
  expect(Object.fromEntries(became)).toEqual(expected)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a state that is none is refused, with the reason', async () => {
  office = await openOffice()
  const ran = await office.tranche('sandbox', '--port', '0', '--state', await office.put('orders.csv', 'a,b\n1,2\n'))
  expect(ran.code, ran.stderr).toBe(2)
  expect(ran.stderr).toContain('orders.csv is no state of a sandbox. It was left as it is; name another file.')
})
