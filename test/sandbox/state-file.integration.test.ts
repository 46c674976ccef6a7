// What a sandbox remembers over restarts, where its state is kept in a file, and which files it refuses.

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSandbox, type Sandbox } from '../../src/sandbox/server.ts'
import { soon } from '../fixtures/soon.ts'
import {
  admin,
  CARD_DETAILS,
  CUSTOMER_DETAILS,
  linesOf,
  PASSWORD,
  RECORD,
  send,
  sendToVault,
  USERNAME,
} from './caller.ts'

const NOW_MS = Date.UTC(2026, 10, 20)
let directory: string
let path: string
const opened: Sandbox[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-state-'))
  path = join(directory, 'rehearsal.state')
})
afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map((sandbox) => sandbox.close()))
  await rm(directory, { recursive: true })
})

async function open(more: { port?: number; nowMs?: number; warn?: (sentence: string) => void } = {}): Promise<Sandbox> {
  const { nowMs = NOW_MS, ...rest } = more
  const sandbox = await openSandbox({
    ...{ username: USERNAME, password: PASSWORD, clock: () => nowMs, statePath: path },
    ...rest,
  })
  opened.push(sandbox)
  return sandbox
}

async function reopened(sandbox: Sandbox, more: Parameters<typeof open>[0] = {}): Promise<Sandbox> {
  await sandbox.close()
  return open(more)
}

const FIELDS = { amount: '10.00', request_currency: 'EUR' }
const BY_CARD = { pmt_numb: CARD_DETAILS.card_number, pmt_key: '987', pmt_expiry: '12/2027' }

async function transaction(sandbox: Sandbox, fields: Record<string, unknown>): Promise<Record<string, unknown>> {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)])
  return JSON.parse((await send(sandbox, Object.fromEntries(texts))).text)
}

async function inVault(sandbox: Sandbox, what: 'create' | 'update' | 'delete', body: Record<string, unknown>) {
  return JSON.parse((await sendToVault(sandbox, what, body)).text)
}

describe('what is kept', () => {
  it('orders in every state, with their balances and ages', async () => {
    let sandbox = await open()
    sandbox.prepare({
      orders: (['settled', 'authorized', 'pending settlement'] as const).map((state, i) => ({
        ...{ orderId: `7${i}`, state, amount: '10.00', currency: 'EUR' },
      })),
    })
    const sold = await transaction(sandbox, { transaction_type: 'CAPTURE', ...FIELDS, ...BY_CARD, xtl_order_id: 'A' })
    await transaction(sandbox, { transaction_type: 'REFUND', amount: '4.00', request_ref_po_id: 70 })
    await transaction(sandbox, { transaction_type: 'CANCEL', request_ref_po_id: 72 })
    await admin(sandbox, 'POST', '/_sandbox/clock', { advanceMs: 3_600_000 })
    const before = linesOf(await admin(sandbox, 'GET', '/_sandbox/orders'))
    expect(before.map(({ state }) => state)).toEqual(['settled', 'authorized', 'voided', 'pending settlement'])

    sandbox = await reopened(sandbox)
    expect(linesOf(await admin(sandbox, 'GET', '/_sandbox/orders'))).toEqual(before)
    expect(
      await transaction(sandbox, { transaction_type: 'REFUND', amount: '6.01', request_ref_po_id: 70 }),
    ).toMatchObject({ TRANS_STATUS_NAME: 'DECLINED' })
    expect(linesOf(await admin(sandbox, 'GET', '/_sandbox/clock'))).toEqual([{ nowMs: NOW_MS + 3_600_000 }])
    sandbox = await reopened(sandbox, { nowMs: NOW_MS + 86_400_000 })
    const cancelled = await transaction(sandbox, { transaction_type: 'CANCEL', request_ref_po_id: sold.TRANS_ORDER_ID })
    expect(cancelled).toMatchObject({ TRANS_STATUS_NAME: 'DECLINED' })
  })

  it('stored cards, prepared ones too; deleted ones stay away', async () => {
    let sandbox = await open()
    sandbox.prepare({ vault: [{ vaultId: '98765432109876543210' }] })
    // Whatever a name holds, also what some take for the end of a line.
    const customer_details = { ...CUSTOMER_DETAILS, first_name: 'A\u2028b\r\n"c', last_name: '\u2029\\ü' }
    const record = { ...RECORD, customer_details }
    const { data } = await inVault(sandbox, 'create', record)
    const gone = (await inVault(sandbox, 'create', RECORD)).data.customer_vault_id
    await inVault(sandbox, 'delete', { customer_vault_id: gone })

    sandbox = await reopened(sandbox)
    const sale = { transaction_type: 'CAPTURE', ...FIELDS }
    const statuses = []
    for (const customer_vault_id of [data.customer_vault_id, '98765432109876543210', gone]) {
      statuses.push((await transaction(sandbox, { ...sale, customer_vault_id })).TRANS_STATUS_NAME)
    }
    expect(statuses).toEqual(['APPROVED', 'APPROVED', 'DECLINED'])
    const { customer_vault_id } = data
    expect(await inVault(sandbox, 'update', { ...record, customer_vault_id })).toMatchObject({ data })
  })

  it('the counts, and the sequence of ids, also where the clock was put back', async () => {
    let sandbox = await open()
    const first = await inVault(sandbox, 'create', RECORD)
    sandbox = await reopened(sandbox, { nowMs: NOW_MS - 86_400_000 })
    expect(sandbox.log()).toEqual([])
    const second = await inVault(sandbox, 'create', RECORD)
    expect(second.data.customer_vault_id).toBe(first.data.customer_vault_id + 2)
    expect(sandbox.log()).toMatchObject([{ seq: 2, requestSeq: 2 }])
    expect(linesOf(await admin(sandbox, 'GET', '/_sandbox/counts'))).toEqual([{ received: 2, executed: 2 }])
  })

  it('no card number and no code, and for its owner alone', async () => {
    let sandbox = await open()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await inVault(sandbox, 'create', RECORD)
    await transaction(sandbox, { transaction_type: 'CAPTURE', ...FIELDS, ...BY_CARD, save_card_on_file: 'Y' })
    await sandbox.close()
    const text = await readFile(path, 'utf8')
    expect(text).toContain('"lastFour":"1111"')
    expect(text).not.toContain(CARD_DETAILS.card_number)
    expect(text).not.toMatch(/"987"/)
    await chmod(path, 0o644)
    sandbox = await open()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
})

describe('writing', () => {
  it('what happened is in the file about a second later, before anything is closed', async () => {
    const sandbox = await open()
    await inVault(sandbox, 'create', RECORD)
    await soon(async () => expect(await readFile(path, 'utf8')).toContain('"lastFour":"1111"'))
    expect((await readdir(directory)).filter((name) => name.includes('.tmp-'))).toEqual([])
  })

  it('where it cannot be written, it says so once, and closing fails', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const warnings: string[] = []
    const sandbox = await open({ warn: (sentence) => warnings.push(sentence) })
    await rm(directory, { recursive: true })
    await inVault(sandbox, 'create', RECORD)
    vi.advanceTimersByTime(1_000)
    await soon(() => expect(warnings).not.toEqual([]))
    vi.advanceTimersByTime(1_000) // it is tried once more
    await expect(sandbox.close()).rejects.toMatchObject({ code: 'storage' })
    expect(warnings).toEqual([
      expect.stringMatching(/^The state of the sandbox cannot be written to .* every second\.$/),
    ])
    await mkdir(directory)
  })
})

describe('what is refused, and left as it is', () => {
  async function refusal(text: string): Promise<unknown> {
    await writeFile(path, text)
    const error = await open().catch((cause: unknown) => cause)
    expect(await readFile(path, 'utf8')).toBe(text)
    expect(error).toMatchObject({ code: 'usage' })
    return (error as Error).message.replace(path, 'FILE').replace(' It was left as it is; name another file.', '')
  }

  async function written(): Promise<string[]> {
    const sandbox = await open()
    sandbox.prepare({ vault: [{ vaultId: '1' }, { vaultId: '2' }] })
    await sandbox.close()
    return (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  }

  it('other files', async () => {
    for (const text of ['', '\n', 'order,amount\n1,2\n', '{}\n', '[1]\n', '{"format":"other","version":1}\n']) {
      expect(await refusal(text)).toBe('FILE is no state of a sandbox.')
    }
  })

  it('a newer version', async () => {
    const [header = '', ...rest] = await written()
    const newer = [header.replace('"version":1', '"version":2'), '{"something":"new"}', ...rest].join('\n')
    expect(await refusal(newer)).toBe('FILE was written by a newer version of this program.')
  })

  it('a damaged one, naming the line, and one that is cut off', async () => {
    const lines = await written()
    const damaged = (n: number, text: string) => `${lines.with(n, text).join('\n')}\n`
    expect(await refusal(damaged(2, '{"vault":'))).toBe(
      'FILE is the state of a sandbox, but its line 3 cannot be read.',
    )
    expect(await refusal(damaged(2, '{"vault":{"vaultId":"x","record":null}}'))).toContain('line 3')
    expect(await refusal(damaged(0, '{"format":"sandbox-state","version":1}'))).toContain('line 1')
    expect(await refusal(`${lines.slice(0, -1).join('\n')}\n`)).toBe(
      'FILE is the state of a sandbox, but it is cut off.',
    )
    expect(await refusal(`${lines.toSpliced(1, 1).join('\n')}\n`)).toContain('cut off')
    expect(await refusal(`${[...lines, lines[1]].join('\n')}\n`)).toContain('line 5')
  })

  it('a directory, a place that is not there, and a file that another sandbox keeps', async () => {
    const error = (statePath: string) =>
      openSandbox({ username: USERNAME, password: PASSWORD, clock: () => NOW_MS, statePath }).catch((cause) => cause)
    expect(await error(directory)).toMatchObject({
      code: 'usage',
      message: `${directory} is not a file; name another one.`,
    })
    expect(await error(join(directory, 'none', 'x'))).toMatchObject({ code: 'usage' })
    expect(await readdir(directory)).toEqual([])
    const holder = await open()
    expect(await error(path)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`process ${process.pid}`),
    })
    await holder.close()
    await open()
  })

  it('a port that is taken lets go of the file', async () => {
    const first = await open()
    const other = path
    path = join(directory, 'second.state')
    await expect(open({ port: first.port })).rejects.toThrow('is in use')
    await open()
    path = other
  })
})
