// Exports of refunds as the command line reads them: amounts with a minus, title lines, and formats that keep how.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const EXPORT = 'Export of 1.12.2026\n\nAmount;Currency;order_id\n-12.30;EUR;1001\n(4.50);EUR;1002\n'
const HOW = ['--operation', 'REFUND', '--sign', 'minus', '--header-row', '3']

describe('a format that comes with the program', () => {
  const ACTIVITY = 'Date,Type,Currency,Gross,Fee,Net,Invoice Number\n1,Payment Refund,EUR,-12.30,0,-12.30,1001\n'
  const ID = ['--map', 'Invoice Number=request_ref_po_id']

  test('is used by its name, completed, and replaced by one that is saved under that name', async () => {
    const file = await office.put('activity.csv', ACTIVITY)
    const shipped = await office.tranche('check', file, '--format', 'paypal-activity', ...ID, '--json')
    expect(shipped.last).toMatchObject({
      ok: true,
      totals: [{ operation: 'REFUND', currency: 'EUR', amount: '12.30' }],
    })
    const kept = ['--format', 'paypal-activity', '--save-format', 'paypal-activity']
    expect((await office.tranche('check', file, ...kept, ...ID)).code).toBe(0)
    expect((await office.tranche('check', file, '--format', 'paypal-activity')).code).toBe(0)
  })

  test('is listed where none has the name that was said', async () => {
    const file = await office.put('activity.csv', ACTIVITY)
    const unknown = await office.tranche('check', file, '--format', 'paypall')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Tranche has paypal-activity, paypal-')])
  })
})

describe('how an export is read', () => {
  test('is offered by one sentence after the other, and kept in a format', async () => {
    const file = await office.put('export.csv', EXPORT)
    const titled = await office.tranche('check', file, '--operation', 'REFUND')
    expect([titled.code, titled.stderr]).toEqual([7, expect.stringContaining('say --header-row 3')])
    const signed = await office.tranche('check', file, '--operation', 'REFUND', '--header-row', '3')
    expect(signed.code).toBe(7)
    expect(signed.stdout).toContain('has a minus, as all 2 amounts of the file have.')
    expect(signed.stdout).toContain('If that is how this file writes refunds, add --sign minus.')
    const kept = await office.tranche('check', file, ...HOW, '--save-format', 'provider', '--json')
    expect(kept.last).toMatchObject({ ok: true, totals: [{ operation: 'REFUND', currency: 'EUR', amount: '16.80' }] })
    const again = await office.tranche('check', file, '--format', 'provider', '--json')
    expect(again.last).toMatchObject({ ok: true, totals: kept.last.totals })
    expect(kept.stderr + again.stderr).toContain('Lines 1 to 2 are above the column names and left out.')
  })

  test('makes the batch: read otherwise it is another, and nothing is recorded', async () => {
    const file = await office.put('export.csv', EXPORT)
    const first = await office.tranche('submit', file, ...HOW)
    expect(first.code, first.stderr).toBe(0)
    expect((await office.tranche('submit', file, ...HOW)).stdout).toBe(first.stdout)
    const plain = await office.put('plain.csv', EXPORT.split('\n').slice(2).join('\n').replace(/[-()]/g, ''))
    const how = ['--operation', 'REFUND', '--run-key', 'k', '--allow-lookalikes', '2']
    expect((await office.tranche('submit', plain, ...how)).code).toBe(0)
    for (const more of [
      ['--sign', 'minus'],
      ['--scale', 'minor'],
      ['--header-row', '2'],
    ]) {
      const other = await office.tranche('submit', plain, ...how, ...more)
      expect([other.code, other.stderr]).toEqual([expect.toBeOneOf([2, 7]), expect.stringContaining('othing was')])
    }
    expect((await office.tranche('submit', plain, ...how, '--header-row', '1')).code).toBe(0)
  })

  test('does not say of rejects where their column names are: in the first line', async () => {
    const file = await office.put('export.csv', EXPORT.replace('1002', 'x'))
    await office.put('good.csv', EXPORT)
    await office.tranche('check', office.path('good.csv'), ...HOW, '--save-format', 'provider')
    for (const how of [HOW, ['--format', 'provider']]) {
      const bad = await office.tranche('check', file, ...how, '--rejects', office.path('bad.csv'))
      const next = /: tranche (check .*)$/m.exec(bad.stderr)?.[1] ?? ''
      expect(next).not.toContain('--header-row 3')
      const again = await office.tranche(...next.split(' '))
      expect([again.code, again.stdout]).toEqual([7, expect.stringContaining('is not digits only')])
    }
  })

  test('is said again for its results and its rejects', async () => {
    const file = await office.put('export.csv', `${EXPORT}x;EUR;1003\n`)
    const out = office.path('out.csv')
    const rejects = office.path('bad.csv')
    const run = await office.tranche(
      'run',
      file,
      ...HOW,
      '--skip-invalid',
      '--out',
      out,
      '--rejects',
      rejects,
      '--sandbox',
    )
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('--sign minus')])
    const wrong = await office.tranche('check', file, ...HOW.slice(0, 2), '--sign', 'plus')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('minus')])
    const none = await office.tranche('check', file, ...HOW.slice(0, 4), '--header-row', '0')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--header-row 0: write the number of a line')])
  })
})
