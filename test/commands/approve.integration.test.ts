// The sheet of an approval on a terminal: who types the total sees it, nobody else.

import { PassThrough } from 'node:stream'
import { beforeEach, expect, test } from 'vitest'
import { approve } from '../../src/commands/approve.ts'
import { createTerminal } from '../../src/commands/terminal.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Currency } from '../../src/domain/money.ts'
import { ioOf } from '../fixtures/io.ts'
import { CLERK, refund, submit } from '../fixtures/ledgers.ts'
import { FOUR_EYES } from '../fixtures/pages.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

let batch: BatchId
beforeEach(async () => {
  await served.ledger.adoptPolicy({ ...FOUR_EYES, osUsers: true }, 'test', CLERK, Date.now())
  const rows = [543_989n, 543_988n].map((amountMinor, n) =>
    refund(`R-${n}`, { money: { amountMinor, currency: 'EUR' as Currency } }),
  )
  batch = await submit(served.ledger, served.accounts.shop, rows, { nowMs: Date.now(), fileSha256: 'cc'.repeat(32) })
})

/** `typed` null: there is no terminal, and nothing may be asked. */
async function approving(typed: string | null) {
  const screen = { text: '' }
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  if (typed !== null) for (const stream of Object.values(streams)) Object.assign(stream, { isTTY: true })
  for (const stream of [streams.stdout, streams.stderr])
    stream.on('data', (chunk) => {
      screen.text += String(chunk)
      if (String(chunk).endsWith(': ')) streams.stdin.write(`${typed}\n`)
    })
  const io = Object.assign(ioOf(served.env), streams)
  const code = await approve(served.app, batch, {}, createTerminal(false, io)).catch((error: Error) => error.message)
  return { code, screen: screen.text }
}

const TOTAL = /10\s?[.,]?879[.,]77/

test.each(['10.879,77', '10 879,77', 'EUR 10879.77'])('who types %s sees the batch', async (typed) => {
  const { code, screen } = await approving(typed)
  expect([code, screen]).toEqual([4, expect.stringMatching(/Type the total in EUR: (?:.|\n)*Digest [0-9a-f]{64}/)])
  const [before, after] = screen.split('Type the total in EUR: ')
  expect(before).not.toMatch(TOTAL)
  expect(after).toMatch(TOTAL)
})

test.each(['10.879,78', '1087977', 'ten thousand', ''])('who types %s sees nothing of it', async (typed) => {
  const { code, screen } = await approving(typed)
  expect(code).toMatch(/Nothing was approved\./)
  expect(`${screen}${code}`).not.toMatch(/10\s?[.,]?879[.,]77|543|Digest/)
})

test('without a terminal nothing is asked', async () => {
  expect(await approving(null)).toEqual({ code: 4, screen: expect.stringMatching(/Digest/) })
})
