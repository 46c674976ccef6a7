// A witness that nobody can change: only root can make a file so, on a file system that knows it.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BatchView } from '../../../../src/domain/batch.ts'
import { claimNamed, openAccount, refund, sqlitePlace, submit } from '../../../fixtures/ledgers.ts'

function chattr(how: '+i' | '-i', ...paths: readonly string[]): boolean {
  return spawnSync('chattr', [how, ...paths], { stdio: 'ignore' }).status === 0
}

const canFreeze = (() => {
  const dir = mkdtempSync(join(tmpdir(), 'tf-'))
  const frozen = chattr('+i', dir)
  chattr('-i', dir)
  rmSync(dir, { recursive: true })
  return frozen
})()

test.skipIf(!canFreeze)(
  'a witness that can no longer be written or removed stops no worker, and vouches for nothing',
  async () => {
    const place = await sqlitePlace({ witnessed: true })
    try {
      const ledger = place.open()
      await ledger.renewEpoch()
      await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
      const frozen = [place.witness, ...readdirSync(place.witness).map((name) => join(place.witness, name))]
      chattr('+i', ...frozen)
      try {
        const [batch] = await ledger.batches()
        await claimNamed(ledger, (batch as BatchView).batchId, 'A')
        await ledger.renewEpoch()
      } finally {
        chattr('-i', ...frozen)
      }
      expect(await ledger.alarm()).toBeNull()
      await ledger.close()

      chmodSync(join(place.dir, 'ledger.epoch'), 0o700)
      const again = place.open()
      expect((await again.alarm())?.kind).toBe('touched')
      await again.close()
    } finally {
      await place.remove()
    }
  },
)
