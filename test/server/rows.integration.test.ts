// Rows over HTTP: page after page, some of them alone, and nothing of them that is not described.

import { expect, test } from 'vitest'
import { buildServer } from '../../src/server/server.ts'
import { refund, submit, work } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

const refunds = (count: number) => Array.from({ length: count }, (_, i) => refund(`R${i + 1}`))

/** The references of each page. */
async function pagesOf(path: string): Promise<string[][]> {
  const { key } = await served.key()
  const pages: string[][] = []
  for (let cursor = ''; ; ) {
    const { said } = await served.ask('GET', `${path}${cursor}`, { key })
    pages.push(said.data.map(({ reference }: { reference: string }) => reference))
    if (said.next_cursor === null) return pages
    cursor = `&cursor=${said.next_cursor}`
  }
}

test('a page has as many rows as were asked for, and says whether more follow', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, refunds(5))
  expect(await pagesOf(`/v1/batches/${batch}/rows?limit=2`)).toEqual([['R1', 'R2'], ['R3', 'R4'], ['R5']])
  expect(await pagesOf(`/v1/batches/${batch}/rows?limit=5`)).toEqual([['R1', 'R2', 'R3', 'R4', 'R5']])
})

test('rows of one status are found behind more than are looked at in one go', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, refunds(520))
  for (const reference of ['R3', 'R510', 'R520']) await work(served.ledger, batch, reference, 'DECLINED')
  const path = `/v1/batches/${batch}/rows?status=DECLINED`
  expect(await pagesOf(`${path}&limit=2`)).toEqual([['R3', 'R510'], ['R520']])
})

test('no member leaves that the description of a reply does not name', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, refunds(1))
  const { key } = await served.key()
  const server = await buildServer(served.door, null, async (own) => {
    own.addHook('preSerialization', async (_request, _reply, said) => {
      const { data, ...page } = said as { readonly data: readonly object[] }
      return { ...page, unnamed: 'page', data: data.map((row) => ({ ...row, unnamed: 'row' })) }
    })
  })
  const headers = { host: '127.0.0.1', authorization: `Bearer ${key}` }
  const answer = await server.inject({ method: 'GET', url: `/v1/batches/${batch}/rows`, headers })
  expect(answer.json().data).toMatchObject([{ reference: 'R1' }])
  expect(answer.body).not.toContain('unnamed')
  await server.close()
})
