// What `submit` says of a file that is recorded and not sent.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { submit } from '../../src/commands/submit.ts'
import { createTerminal } from '../../src/commands/terminal.ts'
import { gathering, ioOf } from '../fixtures/io.ts'
import { CLERK } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

async function submitting(name: string): Promise<{ said: string; json: Record<string, unknown> }> {
  const path = join(served.dir, name)
  await writeFile(path, `reference,request_ref_po_id,amount,request_currency\n${name},${name.length},5.00,EUR\n`)
  const [stdout, stderr] = [gathering(), gathering()]
  const terminal = createTerminal(true, { ...ioOf(served.env), stdout, stderr })
  expect(await submit(served.app, path, { merchant: 'shop', operation: 'REFUND' }, terminal)).toBe(0)
  return { said: stderr.text(), json: JSON.parse(stdout.text()) }
}

test('a file of a stopped account, or one that is paused already, is not said to be sent', async () => {
  const nowMs = served.app.clock.nowMs()
  const first = await submitting('a.csv')
  expect(first.json).not.toHaveProperty('held')
  expect(first.said).toContain('No worker is running')
  const batch = String(first.json.batch)
  await served.ledger.pause(batch as never, 'look first', CLERK, nowMs)
  const again = await submitting('a.csv')
  expect(again.json).toMatchObject({ batch, held: { by: 'batch.paused', reason: 'look first' } })
  expect(again.said).toContain(
    `while it is paused: look first.\nWhen you have looked: tranche resume ${batch} --reason`,
  )
  await served.ledger.stopAccount(served.accounts.shop, 'its password is refused', nowMs)
  const other = await submitting('other.csv')
  expect(other.json).toMatchObject({ held: { by: 'account.stopped', reason: 'its password is refused' } })
  expect(other.said).toMatch(/Nothing of it is sent while it is stopped: .*tranche resume --merchant shop --reason/)
  for (const { said } of [again, other]) expect(said).not.toMatch(/does the rest|No worker is running/)
})
