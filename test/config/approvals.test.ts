// The approvals of TRANCHE_CONFIG: what is taken, and that nothing is that would ask for less than it seems to.

import { describe, expect, test } from 'vitest'
import { approvalPolicyFrom } from '../../src/config/approvals.ts'

const MERCHANTS = ['default', 'shop']

async function complaints(content: unknown): Promise<string[]> {
  const found: string[] = []
  await approvalPolicyFrom(content, MERCHANTS, (problem) => found.push(problem))
  return found
}

describe('approvals', () => {
  test('are taken as written', async () => {
    const content = {
      bands: {
        EUR: [
          [1000, 0],
          ['50000.00', 1],
          [null, 2],
        ],
      },
      row_over: 5000,
      expire_days: 3,
      os_users: false,
      rules: [{ merchants: ['shop'], operations: ['REFUND'], four_eyes: true }],
    }
    expect(await complaints(content)).toEqual([])
    expect(await approvalPolicyFrom(content, MERCHANTS, () => {})).toEqual({
      rules: [
        {
          ...{ merchants: null, operations: null, fourEyes: false, rowOver: { '*': '5000' } },
          bands: {
            EUR: [
              { upTo: '1000', approvals: 0 },
              { upTo: '50000.00', approvals: 1 },
              { upTo: null, approvals: 2 },
            ],
          },
        },
        { merchants: ['shop'], operations: ['REFUND'], fourEyes: true, bands: {}, rowOver: {} },
      ],
      ...{ expireAfterMs: 3 * 86_400_000, osUsers: false },
    })
  })

  test.each([
    ['bands that end below the largest sums', { bands: { EUR: [[1000, 0]] } }, 'says nothing of larger sums'],
    [
      'fewer approvals for more',
      {
        bands: {
          EUR: [
            [1000, 2],
            [null, 1],
          ],
        },
      },
      'fewer approvals above',
    ],
    [
      'bands out of order',
      {
        bands: {
          EUR: [
            [1000, 0],
            [500, 1],
            [null, 2],
          ],
        },
      },
      'not in order',
    ],
    ['a merchant that nobody has', { rules: [{ merchants: ['shpo'], four_eyes: true }] }, 'did you mean shop?'],
    ['nothing at all', {}, 'asks for no approval'],
    ['bands of nothing', { bands: {} }, 'asks for no approval'],
    ['bands that need none', { bands: { EUR: [[null, 0]] } }, 'asks for no approval'],
    ['limits of nothing', { row_over: {} }, 'asks for no approval'],
    ['a currency that is none', { bands: { EURO: [[null, 1]] } }, 'bands.EURO'],
    ['a misspelt setting', { four_eye: true }, 'four_eyes'],
  ])('are not taken with %s', async (_what, content, complaint) => {
    expect((await complaints(content)).join('\n')).toContain(complaint)
  })
})
