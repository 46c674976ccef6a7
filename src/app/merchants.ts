// Merchants as people see them: whose account at which gateway, how fast, and whether anything holds it.

import type { App } from '../app.ts'
import type { Environment } from '../domain/merchant.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type Dial, dialsIn } from './dials.ts'

export interface MerchantView extends Dial {
  /** null: it is configured nowhere, and has no account. */
  readonly url: string | null
  readonly username: string | null
  /** In this ledger, else as configured; null: nobody has said. */
  readonly environment: Environment | null
  readonly stopped: string | null
  /** For its doubts. */
  readonly held: string | null
}

/** Those of the ledger, and what is configured here and has no account yet. */
export async function merchantsIn(app: App, ledger: Pick<Ledger, 'accounts'>): Promise<readonly MerchantView[]> {
  const accounts = new Map((await ledger.accounts()).map((account) => [account.name, account]))
  const dials = await dialsIn(app, ledger)
  return dials.map((dial) => {
    const known = accounts.get(dial.merchant)
    const configured = app.config.merchants.get(dial.merchant)
    const { url, username } = known ?? configured ?? { url: null, username: null }
    const environment = known?.environment ?? configured?.environment ?? null
    return { ...dial, url, username, environment, stopped: known?.stopped ?? null, held: known?.held ?? null }
  })
}
