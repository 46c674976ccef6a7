// The page of a worklist that was filled in, in every state.

import { toWorklistCsv } from '../../../src/app/worklist.ts'
import { worklistPath } from '../../../src/console/paths.ts'
import type { Finding } from '../../../src/domain/resolution.ts'
import { toDoubtRecord } from '../../../src/present/doubts.ts'
import { asReason, type Desk, stale } from './desk.ts'
import type { Screen } from './screens.ts'

const AS = ['operator'] as const

/** Rows in doubt, with what was found of each, and a line of a row that there is none. Resolves to the path of its page. */
async function filledIn(desk: Desk, ...found: readonly Finding[]): Promise<string> {
  await desk.settle(await desk.batch(), ...found.map(() => 'IN_DOUBT' as const))
  const lines = (await desk.ledger.doubts()).map((doubt, i) => ({
    ...{
      ...toDoubtRecord(doubt),
      resolution: found[i] ?? '',
      resolution_reason: i === 0 ? asReason(desk.text('in the portal')) : '',
    },
    resolution_transaction_id: found[i] === 'approved' ? '7001' : '',
  }))
  const unknown = { reference: 'unknown', attempt: 1, resolution: 'declined' }
  const person = (await desk.ledger.people()).find(({ grants }) => grants.some(({ name }) => name === 'operator'))
  const incoming = await desk.spool.receive(`person:${person?.id}`, null)
  await incoming.write(Buffer.from(await toWorklistCsv([...lines, unknown])))
  const { id } = await incoming.keep(desk.text('doubts.csv').slice(0, 150), null)
  return worklistPath(id)
}

export const WORKLIST_SCREENS: readonly Screen[] = [
  { name: 'worklist', as: AS, at: (desk) => filledIn(desk, 'approved', 'send-again') },
  {
    name: 'worklist, not fresh',
    as: AS,
    at: (desk) => filledIn(desk, 'send-again'),
    does: stale,
  },
  {
    name: 'worklist recorded',
    as: AS,
    at: (desk) => filledIn(desk, 'approved', 'declined'),
    async does(page) {
      await page.getByLabel('Reason').fill('in the portal')
      await page.getByRole('button', { name: /^Record/ }).click()
    },
  },
  {
    name: 'worklist that proposes',
    as: AS,
    at: (desk) => filledIn(desk, 'send-again', 'approved').then((path) => desk.fourEyes().then(() => path)),
  },
  {
    name: 'worklist proposed',
    as: AS,
    at: (desk) => filledIn(desk, 'send-again').then((path) => desk.fourEyes().then(() => path)),
    async does(page, desk) {
      const reason = page.getByLabel('Reason')
      if ((await reason.count()) > 0) await reason.fill(asReason(desk.text('in the portal')))
      await page.getByRole('button', { name: /^Propose/ }).click()
    },
  },
  {
    name: 'worklist with faults',
    as: AS,
    at: (desk) => filledIn(desk, 'approved').then(() => '/doubts'),
    async does(page, desk) {
      const text = `reference,attempt,resolution\r\n"${desk.text('A').replaceAll('"', '""')}",1,maybe\r\nB,x,approved\r\n`
      const file = { name: 'doubts.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
      await page.getByLabel(/^The worklist/).setInputFiles(file)
      await page.getByRole('button', { name: /^Show/ }).click()
    },
  },
]
