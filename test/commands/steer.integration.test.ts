// What `resume` says of a batch that was not paused.

import { expect, test } from 'vitest'
import { steer } from '../../src/commands/steer.ts'
import { createTerminal } from '../../src/commands/terminal.ts'
import { gathering, ioOf } from '../fixtures/io.ts'
import { CLERK, faultyRow, refund, submit } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

test('a batch that was not paused is not said to be paused no more, but to be looked at', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A'), faultyRow(2, 'B')])
  const resuming = async () => {
    const stderr = gathering()
    const terminal = createTerminal(false, { ...ioOf(served.env), stderr })
    expect(await steer(served.app, 'resume', batch, { reason: 'looked' }, terminal)).toBe(0)
    return stderr.text()
  }
  expect(await resuming()).toBe(`Batch ${batch} was not paused; what it left open counts as looked at.\n`)
  await served.ledger.pause(batch, 'wait', CLERK, served.app.clock.nowMs())
  expect(await resuming()).toContain('goes on where it stopped')
})
