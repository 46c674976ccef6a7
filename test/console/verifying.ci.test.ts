// The record, verified from a page by the very command: whole, changed past Tranche, or held against an earlier head.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyFor } from '../../src/app/verifying.ts'
import { listOf, personAt, refund, submit } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'
import { CLI } from '../fixtures/program.ts'

let served: PagesServed

beforeEach(async () => {
  served = await openPages()
})
afterEach(() => served.close())

async function changeAmountPastTranche(): Promise<void> {
  await submit(served.ledger, served.accounts.shop, [refund('A')])
  using db = new DatabaseSync(join(served.dir, 'd', 'ledger.db'))
  db.exec('UPDATE instruction SET amount_minor = amount_minor + 1')
}

describe('the record, verified from a page', () => {
  const verifiedNow = async (by: Visiting): Promise<string> => {
    const whenEnded = async () => {
      const { body } = await by.get('/audit')
      expect(body).not.toContain('Verification has been running')
      return body
    }
    return vi.waitFor(whenEnded, { timeout: 60_000, interval: 200 })
  }

  test('is whole, up to a head, and had the one that was written down', async () => {
    const { ledger, accounts } = served
    await submit(ledger, accounts.shop, [refund('A')])
    const ada = await served.as('ada', ['auditor'])
    const earlier = await ledger.head()
    expect((await ada.get('/audit')).body).not.toContain('The record is whole')
    expect((await ada.send('/audit', '/verify', { anchor: earlier })).headers.location).toBe('/audit#verified')
    const body = await verifiedNow(ada)
    expect(body).toContain('The record is whole')
    expect(body).toMatch(/up to this head: <code data-copy>\d+:[0-9a-f]{64}</)
    const forged = `${earlier.split(':')[0]}:${'0'.repeat(64)}`
    await ada.send('/audit', '/verify', { anchor: forged })
    const told = await verifiedNow(ada)
    expect(told).toContain('in the record')
    expect(told).toContain(forged)
    const compare = 'Compare the head that you typed with your note: a wrong digit looks the same.'
    expect(told.indexOf(compare)).toBeGreaterThan(0)
    expect(told.indexOf(compare)).toBeLessThan(told.indexOf('in the record'))
    expect((await ada.send('/audit', '/verify', { anchor: '--help' })).statusCode).toBe(422)
  })

  test('disagrees when somebody changed an amount past Tranche, and that is said with what to do', async () => {
    await changeAmountPastTranche()
    const ada = await served.as('ada', ['auditor'])
    await ada.send('/audit', '/verify')
    const body = await verifiedNow(ada)
    expect(body).toContain('Send nothing before somebody knows why.')
    expect(body).not.toContain('The record is whole')
    expect(body).not.toContain('Compare the head that you typed')
  })

  test('that disagrees is an act of whoever asked, and of nobody else', async () => {
    await changeAmountPastTranche()
    const ada = await served.as('ada', ['auditor'])
    await ada.send('/audit', '/verify')
    await verifiedNow(ada)
    const acts = (await listOf(served.ledger.log(null))).filter(({ what }) => what === 'inspect')
    expect(acts.map(({ actor }) => actor)).toMatchObject([{ kind: 'person', id: 'p-ada', name: 'ada' }])
    expect(acts[0]?.details).toMatchObject({ disagreements: expect.any(Number), first: expect.any(String) })
  })

  test.each(['whole', 'unknown'] as const)('that comes out %s leaves no act', async (kind) => {
    const { app, ledger } = served
    const came = kind === 'whole' ? async () => ({ kind, head: '1:0' }) : () => Promise.reject(new Error('killed'))
    const verified = await verifyFor(app, ledger, came, { anchor: null, actor: personAt('ada') })
    expect([verified.kind, await listOf(ledger.log(null))]).toEqual([kind, []])
  })

  test('that could not be noted says so', async () => {
    const found = async () => ({ kind: 'disagrees', disagreements: [{ where: 'A', means: 'B' }] }) as const
    const asked = { anchor: null, actor: personAt('ada') }
    const full = { recordAct: async () => 'full' as const }
    expect(await verifyFor(served.app, full, found, asked)).toMatchObject({ kind: 'disagrees', isNoted: false })
    const closed = { recordAct: () => Promise.reject(new Error('closed')) }
    expect(await verifyFor(served.app, closed, found, asked)).toMatchObject({ kind: 'disagrees', isNoted: false })
  })

  test.each(['prove', 'ingest'])('%s, a process of the server, is for it alone, and ends with it', async (command) => {
    const run = async (hasServer: boolean) => {
      const stdio = ['ignore', 'pipe', 'pipe', ...(hasServer ? ['ipc' as const] : [])] as const
      const child = spawn(process.execPath, [CLI, command], { env: served.env, stdio: [...stdio] })
      if (hasServer) child.disconnect()
      const said: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const)
        child[name]?.on('data', (chunk: Buffer) => {
          said[name] += chunk
        })
      const [exit] = (await once(child, hasServer ? 'exit' : 'close')) as [number]
      return { ...said, exit }
    }
    expect(await run(false)).toMatchObject({ exit: 2, stderr: expect.stringContaining('for tranche serve alone') })
    expect(await run(true)).toMatchObject({ exit: 1, stdout: '' })
  })

  test('is asked for once at a time, so that no answer is of another head', async () => {
    const [ada, bea] = [await served.as('ada', ['auditor']), await served.as('bea', ['auditor'])]
    const open = formsIn((await bea.get('/audit')).body).find(({ action }) => action.endsWith('/verify'))
    await ada.send('/audit', '/verify')
    const second = await bea.post('/audit/verify', { ...open?.fields, anchor: `1:${'0'.repeat(64)}` })
    expect([second.statusCode, second.body]).toEqual([409, expect.stringContaining('ada started a verification')])
    await verifiedNow(ada)
  })

  test('is for auditors', async () => {
    const vic = await served.as('vic', ['viewer'])
    expect((await vic.post('/audit/verify', {})).statusCode).toBe(403)
  })
})
