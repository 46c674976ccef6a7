// A ledger that was moved to a server sends again only where a person says by name that the server is lost.

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type AdoptArguments, adopt } from '../../src/commands/adopt.ts'
import { createTerminal } from '../../src/commands/terminal.ts'
import { holdLedger } from '../../src/ledger/sqlite/copies/moving.ts'
import { ioOf } from '../fixtures/io.ts'
import { claimNamed, refund, submit } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

/** By a person at a terminal who gives this answer to every question. */
async function adopting(given: Omit<AdoptArguments, 'reason'>, answer = 'n') {
  const screen = { text: '' }
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  for (const stream of Object.values(streams)) Object.assign(stream, { isTTY: true })
  streams.stderr.on('data', (chunk) => {
    screen.text += String(chunk)
    if (String(chunk).endsWith('[y/N] ')) streams.stdin.write(`${answer}\n`)
  })
  const terminal = createTerminal(false, Object.assign(ioOf(served.env), streams))
  const ended = await adopt(served.app, { ...given, reason: 'try' }, terminal).catch(String)
  return { ended, screen: screen.text }
}

test('a ledger that was moved to a server is taken over only if a person says that the server is lost', async () => {
  const misplaced = { ended: expect.stringContaining('--server-is-lost goes with --restored'), screen: '' }
  expect(await adopting({ restored: true, serverIsLost: true, yes: true })).toEqual(misplaced)
  const held = holdLedger(served.app.paths.ledger)
  held.retire({ name: 'postgres://there', atMs: Date.now(), token: 'a'.repeat(32) })
  held.release()
  for (const how of ['moved', 'restored'])
    expect(await adopting({ [how]: true, yes: true })).toEqual({
      ended: expect.stringMatching(/moved to postgres:\/\/there.*lost for good.*Nothing was changed\.$/),
      screen: '',
    })
  expect(await adopting({ moved: true, serverIsLost: true, yes: true })).toEqual(misplaced)
  const lost = { restored: true, serverIsLost: true }
  const refused = await adopting(lost)
  expect(refused.ended).toContain('Nothing was changed.')
  expect(refused.screen).toMatch(/moved to postgres:\/\/there.*Is it lost for good\?/s)
  expect(await served.ledger.alarm()).toMatchObject({ kind: 'moved-away' })
  expect((await adopting(lost, 'y')).ended).toBe(0)
  expect(await served.ledger.alarm()).toBe(null)
})

test('rows that are due later stay PENDING only from a moment after now, and after the last request that it knows of', async () => {
  const later = (ms: number) => new Date(Date.now() + ms).toISOString()
  const restoring = (dueBefore: string) => adopting({ restored: true, dueBefore, yes: true })
  const refused = { ended: expect.stringContaining('may have been sent by what is lost'), screen: '' }
  expect(await restoring(later(-1))).toEqual(refused)
  const batchId = await submit(served.ledger, served.accounts.shop, [refund('A')])
  await claimNamed(served.ledger, batchId, 'A', Date.now() + 120_000) // the clock was set back since
  expect(await restoring(later(60_000))).toEqual(refused)
  expect((await restoring(later(180_000))).ended).toBe(0)
})
