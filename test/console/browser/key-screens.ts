// The pages of keys, in every state.

import { addKey } from '../../../src/app/keys.ts'
import { STEP_UP_MS } from '../../../src/domain/person.ts'
import { CLERK } from '../../fixtures/ledgers.ts'
import type { Desk } from './desk.ts'
import type { Screen } from './screens.ts'

const AS = ['admin'] as const

/** Resolves to the path of its page. */
async function key({ ledger }: Desk): Promise<string> {
  const scopes = ['batches:read', 'instructions:write'] as const
  const asked = { name: 'billing', scopes, merchants: ['shop'], networks: ['10.0.0.0/8'], livesMs: 86_400_000 }
  return `/keys/${(await addKey(ledger, asked, CLERK, Date.now())).id}`
}

export const KEY_SCREENS: readonly Screen[] = [
  { name: 'keys none', as: AS, at: async () => '/keys' },
  { name: 'keys', as: AS, at: (desk) => key(desk).then(() => '/keys') },
  {
    name: 'keys, not fresh',
    as: AS,
    at: (desk) => key(desk).then(() => '/keys'),
    async does(page, desk) {
      desk.ahead(STEP_UP_MS + 1)
      await page.reload()
    },
  },
  {
    name: 'key made',
    as: AS,
    at: async () => '/keys',
    async does(page) {
      await page.getByRole('textbox', { name: 'Name' }).fill('billing')
      await page.getByRole('checkbox', { name: /batches:read/ }).check()
      await page.getByRole('button', { name: /^Make/ }).click()
    },
  },
  { name: 'key', as: AS, at: key },
  {
    name: 'key revoked',
    as: AS,
    at: key,
    async does(page, desk) {
      await page.getByLabel('Reason').fill(desk.text('it leaked').replaceAll(/\p{C}/gu, '').slice(0, 300))
      await page.getByRole('button', { name: /^Revoke/ }).click()
    },
  },
]
