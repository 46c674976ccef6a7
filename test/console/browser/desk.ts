// A console and its ledger, brought to where a screen is to be seen.

import type { Page } from 'playwright-core'
import { takeWorkerLock } from '../../../src/app/locks.ts'
import { instructionPath } from '../../../src/console/paths.ts'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import { toIdentifier } from '../../../src/domain/identifier.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import { STEP_UP_MS } from '../../../src/domain/person.ts'
import { visible } from '../../../src/domain/visible.ts'
import { type Console, openConsole } from '../../fixtures/console.ts'
import {
  CLERK,
  dueIn,
  faultyRow,
  headerOf,
  personAt,
  refund,
  rowOf,
  rowsIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import type { PagesWanted } from '../../fixtures/pages.ts'

export interface Desk extends Console {
  /** What somebody else wrote: plain as it stands here, or meant to harm. To be asked for wherever a page shows such a text. */
  text(plain: string): string
  /** From now on people must approve what is handed in. */
  fourEyes(): Promise<void>
  /** Three rows and one that was left out. */
  batch(over?: Partial<DraftHeader>): Promise<BatchId>
  /** Its first rows come to these ends. */
  settle(batch: BatchId, ...ends: readonly End[]): Promise<void>
  /** The page of a row of the batch, counted from 0; that of the only row in doubt. */
  rowPath(batch: BatchId, at: number): Promise<string>
  doubtPath(): Promise<string>
  /** Until the desk is closed. */
  worker(): Promise<void>
}

/** A reason that is taken: of a line, and without controls, wherever in the table its screen stands. */
export function asReason(text: string): string {
  return visible(text).slice(0, 400).toWellFormed()
}

/** The password was shown too long ago. */
export async function stale(page: Page, desk: Desk): Promise<void> {
  desk.ahead(STEP_UP_MS + 1)
  await page.reload()
}

/** No longer than one may be, and as it is kept. */
function asReference(text: string): string {
  return toIdentifier(text.slice(0, 190).toWellFormed())
}

type End = Parameters<typeof work>[3]

export async function openDesk(text: Desk['text'], wanted: PagesWanted = {}): Promise<Desk> {
  const at = await openConsole(wanted)
  const { ledger, accounts, app } = at
  const by = personAt(text('clerk'), text('Ann Other'))
  const names = ['A', 'B', 'C'].map((plain) => asReference(text(plain)))
  let batches = 0
  let endWorker = () => {}
  return {
    ...at,
    text,
    async fourEyes() {
      const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
      await ledger.adoptPolicy({ rules: [rule], expireAfterMs: 86_400_000, osUsers: false }, 'test', CLERK, Date.now())
    },
    async batch(over = {}) {
      batches += 1
      const references = names.map((name) => `${name}${batches}`)
      const rows = references.map((reference, i) => rowOf(i + 1, refund(reference), { cells: [reference] }))
      const bad = faultyRow(4, text('D'))
      const faults = bad.faults.map((fault) => ({ ...fault, value: text('ten'), problem: text('not an amount') }))
      const header = headerOf(accounts.shop, {
        ...{ fileName: text('refunds.csv'), runKey: text('november'), fileSha256: String(batches).padStart(64, '0') },
        ...{ columns: [text('reference')], fingerprint: JSON.stringify({ sheet: text('Sheet1') }) },
        ...over,
      })
      return submit(ledger, accounts.shop, [...rows, { ...bad, faults }], header, by)
    },
    async settle(batch, ...ends) {
      const due = await dueIn(ledger, batch)
      for (const [i, to] of ends.entries()) {
        const reason = to === 'APPROVED' ? null : text('the gateway said so')
        const said = { reason, answerText: text('TRANS_STATUS=x'), warning: text('odd') }
        await work(ledger, batch, due[i]?.instruction.reference ?? '', to, said)
      }
    },
    async rowPath(batch, i) {
      const row = (await rowsIn(ledger, batch))[i]
      return instructionPath(row?.reference ?? '', { batchId: batch, rowNo: row?.rowNo ?? 0 })
    },
    doubtPath: async () => `/doubts/${(await ledger.doubts())[0]?.rowId}`,
    async worker() {
      const lock = await takeWorkerLock(app, 'worker')
      if (lock.kind !== 'taken') throw new Error('somebody works already')
      endWorker = () => lock.release()
    },
    async close() {
      endWorker()
      await at.close()
    },
  }
}
