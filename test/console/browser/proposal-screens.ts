// That a row in doubt be sent once more, where it takes two people: what each of them sees of the other's word.

import type { Page } from 'playwright-core'
import { instructionPath } from '../../../src/console/paths.ts'
import type { Actor } from '../../../src/domain/actor.ts'
import type { DoubtRow } from '../../../src/domain/doubt.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { GrantName } from '../../../src/domain/person.ts'
import { findingOn, refund, submit } from '../../fixtures/ledgers.ts'
import { asReason, type Desk, stale } from './desk.ts'
import type { Screen } from './screens.ts'

const VIEWER = ['viewer'] as const
const APPROVER = ['approver'] as const
const OPERATOR = ['operator'] as const
const BOTH = ['operator', 'approver'] as const
const OTTO = { kind: 'person', id: 'p-otto', name: 'otto', address: null } as const
const RITA = { ...OTTO, id: 'p-rita', name: 'rita' }

/** The first row of a batch is in doubt, and one person alone does not have it sent again. */
async function inDoubt(desk: Desk, batch?: BatchId): Promise<DoubtRow> {
  await desk.settle(batch ?? (await desk.batch()), 'IN_DOUBT')
  await desk.fourEyes()
  return doubtOf(desk)
}

async function doubtOf({ ledger }: Desk): Promise<DoubtRow> {
  const [doubt] = await ledger.doubts()
  if (doubt === undefined) throw new Error('no row is in doubt')
  return doubt
}

const pageOf = ({ rowId }: DoubtRow) => `/doubts/${rowId}`
const itself = ({ instruction, batchId, rowNo }: DoubtRow) => instructionPath(instruction.reference, { batchId, rowNo })

async function propose(desk: Desk, doubt: DoubtRow, actor: Actor): Promise<DoubtRow> {
  const { instruction, batchId, rowNo } = doubt
  const order = { finding: 'send-again', attempt: 1, row: { batchId, rowNo }, proposedAtMs: null } as const
  const reason = asReason(desk.text('not in the portal'))
  const said = await desk.ledger.resolve(findingOn(instruction.reference, { ...order, reason }), actor, Date.now())
  if (said.kind !== 'proposed') throw new Error(`it was not proposed: ${said.kind}`)
  return doubtOf(desk)
}

/** By somebody else than who looks. With two people who decide on money, what is handed in has to be approved: so they come after it. */
async function proposed(desk: Desk, batch?: BatchId): Promise<DoubtRow> {
  const doubt = await inDoubt(desk, batch)
  await desk.person(OTTO.name, OPERATOR)
  return propose(desk, doubt, OTTO)
}

async function proposedByLooker(desk: Desk): Promise<DoubtRow> {
  return propose(desk, await inDoubt(desk), await lookerAt(desk))
}

/** Of a batch that the looker handed in. */
async function proposedOfOwn(desk: Desk): Promise<DoubtRow> {
  const { ledger, accounts } = desk
  return proposed(desk, await submit(ledger, accounts.shop, [refund('A1')], {}, await lookerAt(desk)))
}

async function lookerAt({ ledger }: Desk): Promise<Actor> {
  const [looker] = await ledger.people()
  return { ...OTTO, id: looker?.id ?? '', name: looker?.name ?? '' }
}

async function refuse(desk: Desk): Promise<void> {
  const { batchId, rowNo, proposal } = await doubtOf(desk)
  const refusal = { batchId, rowNo, proposedAtMs: proposal?.atMs ?? 0, reason: asReason(desk.text('it is there')) }
  if (!(await desk.ledger.refuseProposal(refusal, RITA, Date.now()))) throw new Error('there is no such proposal')
}

const confirm = async (page: Page, desk: Desk) => {
  const form = page.locator('form[action$="/confirm"]')
  await form.getByLabel('Reason').fill(asReason(desk.text('not in the settlement file')))
  await form.getByRole('button').click()
}

const screen = (name: string, as: readonly GrantName[], at: Screen['at'], does?: Screen['does']): Screen => ({
  name,
  as,
  at,
  ...(does === undefined ? {} : { does }),
})

export const PROPOSAL_SCREENS: readonly Screen[] = [
  screen('proposal, its form', OPERATOR, (desk) => inDoubt(desk).then(pageOf)),
  screen('proposal, its form, not fresh', OPERATOR, (desk) => inDoubt(desk).then(pageOf), stale),
  screen("proposal, one's own", OPERATOR, (desk) => proposedByLooker(desk).then(pageOf)),
  screen("proposal, an approver's own", BOTH, (desk) => proposedByLooker(desk).then(pageOf)),
  screen('proposal to confirm', APPROVER, (desk) => proposed(desk).then(pageOf)),
  screen('proposal to confirm, both roles', BOTH, (desk) => proposed(desk).then(pageOf)),
  screen('proposal to confirm, not fresh', APPROVER, (desk) => proposed(desk).then(pageOf), stale),
  screen('proposal, who handed it in', APPROVER, (desk) => proposedOfOwn(desk).then(pageOf)),
  screen('proposal, a viewer', VIEWER, (desk) => proposed(desk).then(pageOf)),
  screen('proposal, another operator', OPERATOR, (desk) => proposed(desk).then(pageOf)),
  screen('proposal waits, overview', APPROVER, (desk) => proposed(desk).then(() => '/')),
  screen('proposal waits, doubts', APPROVER, (desk) => proposed(desk).then(() => '/doubts')),
  screen('proposal waits, batch', APPROVER, (desk) => proposed(desk).then(({ batchId }) => `/batches/${batchId}`)),
  screen('proposal waits, instruction', APPROVER, (desk) => proposed(desk).then(itself)),
  screen('proposal confirmed', APPROVER, (desk) => proposed(desk).then(pageOf), confirm),
  screen('proposal refused, instruction', OPERATOR, async (desk) => {
    const doubt = await proposed(desk)
    await refuse(desk)
    return itself(doubt)
  }),
  screen('proposal refused, doubt', OPERATOR, async (desk) => {
    const doubt = await proposed(desk)
    await refuse(desk)
    return pageOf(doubt)
  }),
  screen(
    'proposal refused meanwhile',
    APPROVER,
    (desk) => proposed(desk).then(pageOf),
    async (page, desk) => {
      await refuse(desk)
      await confirm(page, desk)
    },
  ),
  screen(
    'proposal resolved meanwhile',
    APPROVER,
    (desk) => proposed(desk).then(pageOf),
    async (page, desk) => {
      const { instruction } = await doubtOf(desk)
      await desk.ledger.resolve(findingOn(instruction.reference, { attempt: 1 }), OTTO, Date.now())
      await confirm(page, desk)
    },
  ),
]
