// What is taken away as a file: its name is ours, whatever whoever handed the rows in called anything.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { PAGES, type PageEntry } from '../../src/console/pages-table.ts'
import { visible } from '../../src/domain/visible.ts'
import { putCheck } from '../fixtures/checks.ts'
import { HOSTILE_TEXTS } from '../fixtures/hostile-texts.ts'
import { CLERK, headerOf, listOf, refund, submit, work } from '../fixtures/ledgers.ts'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

/** What would end the name, or the header, or lead elsewhere. */
const NAME = [
  'refunds"; filename="x.html',
  '\r\nSet-Cookie: tranche=x\r\n\r\n<script>',
  '../../x',
  '\u202excod',
  '\0%0d%0a',
].join('')

/** Some take the first for a day, and pass over what stands in brackets. */
const ASKED = ['2026-05-01 (x"; filename="x.html)', ...HOSTILE_TEXTS]

let served: PagesServed
let who: Visiting
let ids: Readonly<Record<string, string>>
beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts, spool } = served
  const columns = { columns: [NAME], fingerprint: JSON.stringify({ sheet: NAME }) }
  const header = headerOf(accounts.shop, { fileName: NAME, runKey: NAME, ...columns })
  const batch = await submit(ledger, accounts.shop, [refund('A'), refund('B')], header)
  await work(ledger, batch, 'A', 'IN_DOUBT', { reason: NAME, answerText: NAME })
  await ledger.pause(batch, NAME, CLERK, Date.now())
  who = await served.as('ann', ['submitter', 'auditor', 'results'])
  const person = (await ledger.people()).find(({ name }) => name === 'ann')
  const file = { id: 'f', name: NAME, sha256: 'aa'.repeat(32), bytes: 10 }
  ids = { ':batch': batch, ':check': await putCheck(spool, file, { by: `person:${person?.id}` }) }
})
afterEach(() => served.close())

const files = Object.values(PAGES as Readonly<Record<string, PageEntry>>)
  .map(({ path }) => path)
  .filter((path) => /\.\w+$/.test(path))
const at = (path: string, own = ids) => path.replace(/:\w+/, (name) => own[name] ?? name)
const sent = async (url: string) => {
  const { statusCode, headers, body } = await who.get(url)
  return { statusCode, headers, body, name: headers['content-disposition'] }
}

test('there are files to be taken away', () => {
  expect(files).toHaveLength(8)
})

test.each(files)('%s comes under a name of ours, as a file, and with no header of anybody else', async (path) => {
  const { statusCode, headers, name } = await sent(`${at(path)}?since=2026-05-01`)
  expect(statusCode).toBe(200)
  expect(name).toMatch(/^attachment; filename="[\w-]+(\.[a-z]+)+"$/)
  expect(String(name)).toMatch(new RegExp(`${path.split('.').at(-1)}"$`))
  expect(headers['content-type']).not.toContain('html')
  expect([headers['x-content-type-options'], headers['set-cookie']]).toEqual(['nosniff', undefined])
})

test.each(files)('%s that is asked for by texts that mean harm is no file', async (path) => {
  for (const text of ASKED) {
    const own = encodeURIComponent(text.toWellFormed()).slice(0, 90).replace(/%.?$/, '')
    const asked = at(path, { ':batch': own, ':check': own })
    const { statusCode, headers, body, name } = await sent(`${asked}?since=${own}`)
    // A page of its own takes no notice of what it does not ask for.
    if (asked === path && path !== '/audit.jsonl') expect(name).toBe('attachment; filename="doubts.csv"')
    else {
      expect([404, 422], `${asked} ${statusCode}`).toContain(statusCode)
      expect([name, headers['set-cookie']]).toEqual([undefined, undefined])
      expect(headers['content-type']).toMatch(/^(text\/html|application\/problem\+json);/)
      expect(body).not.toContain('<script>alert')
    }
  }
})

test('what was named so is in the audit as it was', async () => {
  const { body } = await sent('/audit.jsonl?since=2026-05-01')
  const lines = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.find(({ what }) => what === 'submit').details.file).toBe(NAME)
  expect(lines.at(-1)).toMatchObject({ event: 'result', entries: (await listOf(served.ledger.log(null))).length })
  expect(visible(NAME)).not.toBe(NAME)
})
