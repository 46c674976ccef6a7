// Four eyes on the command line: nothing leaves before another person has approved what was shown to them.

import { chownSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn } from '../fixtures/books.ts'
import { cardSales } from '../fixtures/cards.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
let env: NodeJS.ProcessEnv
beforeEach(async () => {
  office = await openOffice()
  const path = await office.put('tranche.yaml', 'approvals:\n  four_eyes: true\n')
  env = { TRANCHE_CONFIG: path }
})
afterEach(() => office.close())

/** Only root is believed about who called sudo, so other people can be played by root alone. */
const isRoot = process.getuid?.() === 0
const as = (name: string): NodeJS.ProcessEnv => ({ ...env, SUDO_USER: name, SUDO_UID: '4001' })

async function prepared(count = 3) {
  const rows = refunds(count).map((row) => ({ ...row, amount: '3.00' }))
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

describe.runIf(isRoot)('with approvals: {four_eyes: true}', () => {
  test('a submitted batch waits, tells so everywhere, and is sent once another person approved it', async () => {
    const { input, out } = await prepared()
    const submitted = await office.trancheWith(as('mio'), 'submit', input, '--json')
    expect(submitted.code, submitted.stderr).toBe(4)
    const { batch } = submitted.last
    const worked = await office.trancheWith(env, 'worker', '--until-idle')
    expect(worked.code, worked.stderr).toBe(4)
    const status = (await office.trancheWith(env, 'status', batch, '--json')).last
    expect(status).toMatchObject({ state: 'awaiting_approval', approval: { needed: 1, given: 0, by: [] } })
    expect(status.approval.digest).toMatch(/^[0-9a-f]{64}$/)
    expect((await office.trancheWith(env, 'status', '--check')).code).toBe(4)
    expect(office.sandbox.received()).toBe(0)

    const shown = await office.trancheWith(as('ken'), 'approve', batch)
    expect(shown.code, shown.stderr).toBe(4)
    expect(shown.stdout).toContain(status.approval.digest)
    expect(shown.stdout).toContain('9.00')
    const own = await office.trancheWith(
      as('mio'),
      'approve',
      batch,
      '--digest',
      status.approval.digest,
      '--reason',
      'ok',
    )
    expect([own.code, own.stderr]).toEqual([2, expect.stringContaining('somebody else must approve it')])
    const other = ['approve', batch, '--digest', '0'.repeat(64), '--reason', 'ok']
    expect((await office.trancheWith(as('ken'), ...other)).code).toBe(2)
    const resumed = await office.trancheWith(env, 'resume', batch, '--reason', 'go')
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('before it has 1 approval')])
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(4)
    expect(office.sandbox.received()).toBe(0)

    const approved = await office.trancheWith(
      as('ken'),
      ...['approve', batch, '--digest', status.approval.digest, '--reason', 'agrees with the list'],
    )
    expect(approved.code, approved.stderr).toBe(0)
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(0)
    expect((await office.trancheWith(env, 'results', batch, '--out', out)).code).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: 3 })
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
    const log = await office.trancheWith(env, 'log')
    expect(log.stdout).toMatch(/approve {2}batch \S+, digest [0-9a-f]{64}, approvals 1, needed 1 {2}by ken@/)
    expect((await office.trancheWith(env, 'audit', 'verify')).code).toBe(0)
  })

  test('a run ends with 4 and goes on when it is run again after the approval', async () => {
    const { input, out } = await prepared()
    const ran = await office.trancheWith(as('mio'), 'run', input, '--out', out, '--json')
    expect(ran.code, ran.stderr).toBe(4)
    expect(countsIn(out)).toEqual({ PENDING: 3 })
    const { batch } = ran.last
    const { digest } = (await office.trancheWith(env, 'status', batch, '--json')).last.approval
    await office.trancheWith(as('ken'), 'approve', batch, '--digest', digest, '--reason', 'ok')
    expect((await office.trancheWith(as('mio'), 'run', input, '--out', out)).code).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: 3 })
  })

  test('a row in doubt is sent once more when a second person confirms what the first proposed, and not before', async () => {
    const { input, out } = await prepared(1)
    office.sandbox.addFault({ kind: 'reset-before', match: { orderId: orderOf(1) }, times: 1 })
    const { batch } = (await office.trancheWith(as('mio'), 'submit', input, '--json')).last
    const { digest } = (await office.trancheWith(env, 'status', batch, '--json')).last.approval
    await office.trancheWith(as('ken'), 'approve', batch, '--digest', digest, '--reason', 'ok')
    env = { ...env, TRANCHE_DOUBT_REST_MS: '0' }
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(5)
    const said = (name: string, ...more: string[]) =>
      office.trancheWith(
        as(name),
        ...['in-doubt', 'resolve', 'R-1', '--reason', 'not in the portal', '--json', ...more],
      )
    const again = ['--found', 'send-again', '--yes']

    const first = await said('ann', ...again)
    expect([first.code, first.last], first.stderr).toMatchObject([4, { kind: 'proposed', status: 'IN_DOUBT', row: 1 }])
    expect(first.stderr).toMatch(/Proposed by ann@.* at .*Nothing is sent until another person confirms it/s)
    const { in_doubt: doubts } = (await office.trancheWith(env, 'in-doubt', 'list', '--json')).last
    expect(doubts).toMatchObject([{ reference: 'R-1', proposal: { by: expect.stringMatching(/^ann@/) } }])
    expect((await office.trancheWith(env, 'in-doubt', 'list')).stdout).toContain('send it again? Proposed by ann@')
    const checked = await office.trancheWith(env, 'status', '--check')
    expect(checked.stdout + checked.stderr).toContain('1 proposal to send a row in doubt once more waits')
    expect((await said('ann', ...again)).last).toMatchObject({ kind: 'proposed', proposal: doubts[0].proposal })
    const own = await said('mio', ...again)
    expect([own.code, own.stderr]).toEqual([2, expect.stringContaining('submitted the batch')])
    expect((await said('ken', '--refuse')).last).toMatchObject({ kind: 'refused-proposal', status: 'IN_DOUBT' })
    expect((await said('ken', '--refuse')).code).toBe(2)
    expect(office.sandbox.log()).toHaveLength(0)

    const list = office.path('doubts.csv')
    expect((await office.trancheWith(env, 'in-doubt', 'list', '--out', list)).code).toBe(0)
    writeFileSync(list, readFileSync(list, 'utf8').replace(/^(R-1,.*),,,\r$/m, '$1,send-again,,not there\r'))
    const proposed = await office.trancheWith(as('ann'), 'in-doubt', 'resolve', '--file', list, '--json')
    expect([proposed.code, proposed.last], proposed.stderr).toMatchObject([
      4,
      { proposed: 1, resolved: 0, in_doubt: 1 },
    ])
    const confirmed = await said('ken', ...again)
    expect([confirmed.code, confirmed.last.status], confirmed.stderr).toEqual([0, 'PENDING'])
    const history = await office.trancheWith(env, 'history', 'R-1', '--json')
    const saidThen = history.last.said.map(({ what }: { what: string }) => what.split('-')[0])
    expect(saidThen).toEqual(['propose', 'refuse', 'propose', 'confirm'])
    expect((await office.trancheWith(env, 'history', 'R-1')).stdout).toMatch(
      /ann@.* proposed to send it once more, after attempt 1\n.*not there\n.*ken@.* confirmed that it is sent once more/,
    )
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(0)
    expect((await office.trancheWith(env, 'results', batch, '--out', out)).code).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: 1 })
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
    expect((await office.trancheWith(env, 'audit', 'verify')).code).toBe(0)
  })

  test('a row in doubt whose approval is void is sent once more when its batch was approved again, and not before', async () => {
    const { input, out } = await prepared(1)
    office.sandbox.addFault({ kind: 'reset-before', match: { orderId: orderOf(1) }, times: 1 })
    const { batch } = (await office.trancheWith(as('mio'), 'submit', input, '--json')).last
    const approve = async (name: string) => {
      const { digest } = (await office.trancheWith(env, 'status', batch, '--json')).last.approval
      return office.trancheWith(as(name), 'approve', batch, '--digest', digest, '--reason', 'ok')
    }
    expect((await approve('ken')).code).toBe(0)
    env = { ...env, TRANCHE_DOUBT_REST_MS: '0' }
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(5)
    const adopted = await office.trancheWith(env, 'adopt', '--restored', '--reason', 'put back')
    expect(adopted.code, adopted.stderr).toBe(0)
    const nothing = await office.trancheWith(as('ken'), 'approve', batch)
    expect([nothing.code, nothing.stdout]).toEqual([0, expect.not.stringContaining('waits for 1 approval')])

    const again = ['in-doubt', 'resolve', 'R-1', '--found', 'send-again', '--yes', '--reason', 'not in the portal']
    expect((await office.trancheWith(as('ann'), ...again)).code).toBe(4)
    const confirmed = await office.trancheWith(as('ken'), ...again)
    expect([confirmed.code, confirmed.stderr]).toEqual([
      0,
      expect.stringContaining(
        `waits to be sent once more. Nothing of its batch is sent before it has 1 approval: tranche approve ${batch}.`,
      ),
    ])
    await office.trancheWith(env, 'worker', '--until-idle')
    expect(office.sandbox.log()).toHaveLength(0)
    expect((await approve('ken')).code).toBe(0)
    expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(0)
    expect((await office.trancheWith(env, 'results', batch, '--out', out)).code).toBe(0)
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  })

  test('a run told to wait goes on by itself', async () => {
    const { input, out } = await prepared()
    const running = office.startWith(as('mio'), 'run', input, '--out', out, '--wait-approval', '5m', '--json')
    await until('the batch is named', () => running.said().length > 0, running)
    const { batch } = JSON.parse(running.said()[0] as string)
    const { digest } = (await office.trancheWith(env, 'status', batch, '--json')).last.approval
    await office.trancheWith(as('ken'), 'approve', batch, '--digest', digest, '--reason', 'ok')
    const ended = await running.ended
    expect(ended.code, ended.stderr).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: 3 })
  })

  test('a rejected batch is cancelled, and its run ends with 3', async () => {
    const { input, out } = await prepared()
    const { batch } = (await office.trancheWith(as('mio'), 'submit', input, '--json')).last
    expect((await office.trancheWith(as('ken'), 'reject', batch, '--reason', 'wrong month')).code).toBe(0)
    const shown = await office.trancheWith(as('ken'), 'approve', batch)
    expect([shown.code, shown.stdout], shown.stderr).toEqual([0, expect.stringContaining('wrong month')])
    expect(shown.stdout + shown.stderr).not.toMatch(/waits for|By approving/)
    const ran = await office.trancheWith(as('mio'), 'run', input, '--out', out)
    expect(ran.code, ran.stderr).toBe(3)
    expect(countsIn(out)).toEqual({ CANCELLED: 3 })
    expect(office.sandbox.received()).toBe(0)
    const again = await office.trancheWith(as('mio'), 'submit', out, '--retry', 'cancelled', '--json')
    expect([again.code, again.last.accepted], again.stderr).toEqual([4, 3])
  })

  test('a file of an inbox is approved neither by its owner nor by the user of the inbox', async () => {
    const { input } = await prepared()
    const inbox = office.path('inbox')
    mkdirSync(inbox)
    renameSync(input, join(inbox, 'in.csv'))
    chownSync(join(inbox, 'in.csv'), 4001, -1)
    const taken = await office.trancheWith(as('mio'), 'inbox', inbox, '--once', '--operation', 'REFUND', '--json')
    const batch = (await office.trancheWith(env, 'status', '--json')).last.batches[0].batch
    const { digest } = (await office.trancheWith(env, 'status', batch, '--json')).last.approval
    const approve = (who: NodeJS.ProcessEnv) =>
      office.trancheWith(who, 'approve', batch, '--digest', digest, '--reason', 'ok')
    const refusal = [2, expect.stringContaining('somebody else must approve it')]
    for (const who of [as('uid-4001'), as('mio')]) {
      const own = await approve(who)
      expect([own.code, own.stderr], taken.stderr).toEqual(refusal)
    }
    const approved = await approve(as('ken'))
    expect([approved.code, approved.stderr]).toEqual([0, expect.stringContaining('no worker is running')])
  })

  test('a file of cards waits, and goes on only where it is run again', async () => {
    const input = await office.put('sales.csv', cardSales(4))
    const out = office.path('out.csv')
    const ran = await office.trancheWith(as('mio'), 'run', input, '--out', out, '--json')
    expect(ran.code, ran.stderr).toBe(4)
    const { batch } = ran.last
    const { digest } = (await office.trancheWith(env, 'approve', batch, '--json')).last
    const approved = await office.trancheWith(as('ken'), 'approve', batch, '--digest', digest, '--reason', 'ok')
    expect([approved.code, approved.stderr]).toEqual([0, expect.stringContaining('nowhere but in its file')])
    await office.trancheWith(env, 'worker', '--until-idle')
    expect(office.sandbox.received()).toBe(0)
    expect((await office.trancheWith(as('mio'), 'run', input, '--out', out)).code).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: 4 })
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  })

  test('an approval says what else holds the batch', async () => {
    const { input } = await prepared()
    const { batch } = (await office.trancheWith(as('mio'), 'submit', input, '--json')).last
    await office.trancheWith(as('mio'), 'pause', batch, '--reason', 'the list is asked for')
    const { digest } = (await office.trancheWith(env, 'approve', batch, '--json')).last
    const approved = await office.trancheWith(as('ken'), 'approve', batch, '--digest', digest, '--reason', 'ok')
    expect([approved.code, approved.stderr]).toEqual([0, expect.stringContaining('the list is asked for')])
    expect(approved.stderr).toContain('3 rows may be sent. It is not sent yet')
  })

  test('a configuration without the approvals, or with others, gets round nothing', async () => {
    const { input } = await prepared()
    await office.trancheWith(as('mio'), 'submit', input)
    const second = await office.put('second.csv', toCsv(refunds(2, 100)))
    const without = await office.trancheWith({ SUDO_USER: 'mio', SUDO_UID: '4001' }, 'submit', second)
    expect(without.code, without.stderr).toBe(4)
    const lax = await office.put('lax.yaml', 'approvals:\n  bands: {EUR: [[1000000.00, 0], [null, 1]]}\n')
    const differs = await office.trancheWith({ TRANCHE_CONFIG: lax }, 'submit', second)
    expect([differs.code, differs.stderr]).toEqual([2, expect.stringContaining('policy adopt --reason')])
    expect((await office.trancheWith({ TRANCHE_CONFIG: lax }, 'worker', '--until-idle')).code).toBe(2)
    const adopted = await office.trancheWith({ TRANCHE_CONFIG: lax }, 'policy', 'adopt', '--reason', 'new limits')
    expect(adopted.stdout).toContain('EUR up to 1000000: 0 approvals')
    expect((await office.trancheWith({ TRANCHE_CONFIG: lax }, 'log')).stdout).toContain('approval-policy')
  })
})

test('a rehearsal needs no approval: no money moves', async () => {
  const { input, out } = await prepared()
  expect((await office.trancheWith(env, 'run', input, '--out', out, '--sandbox')).code).toBe(0)
})

test('mistakes in the approvals are told by name, all at once', async () => {
  const path = await office.put(
    'wrong.yaml',
    'approvals:\n  four_eye: true\n  expire_days: 0\n  bands: {EUR: [[null, 1], [5, 2]], XX: [[1, 1]]}\n  rules: [{operations: [PAY], four_eyes: true}]\n',
  )
  const { code, stderr } = await office.trancheWith({ TRANCHE_CONFIG: path }, 'submit', 'in.csv')
  expect(code).toBe(2)
  for (const name of ['four_eye', 'expire_days', 'bands.EUR', 'bands.XX', 'rules.0.operations.0'])
    expect(stderr).toContain(name)
})

test('find tells where an id is, and nothing of one that is not there', async () => {
  const { input, out } = await prepared()
  await office.tranche('run', input, '--out', out)
  const [row] = refunds(1)
  const found = (await office.tranche('find', row?.reference ?? '', '--json')).last
  expect(found.instructions).toMatchObject([{ reference: row?.reference, status: 'APPROVED', row: 1, amount: '3.00' }])
  const transaction = found.instructions[0].transaction_id
  expect((await office.tranche('find', transaction)).stdout).toContain(`transaction ${transaction}`)
  expect((await office.tranche('find', 'nothing', '--json')).last).toEqual({ instructions: [] })
  expect((await office.tranche('find', 'nothing')).code).toBe(2)
})
