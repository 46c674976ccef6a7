// tranche audit: whether the record agrees with itself and with a head that was written down elsewhere; and who did what, line by line.

import { disagreementAct } from '../app/verifying.ts'
import type { App } from '../app.ts'
import { isHead } from '../domain/acts.ts'
import { Fault } from '../domain/fault.ts'
import type { Disagreement } from '../ports/ledger/audit.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { log } from './log.ts'
import { note } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export interface VerifyArguments {
  /** A head that was written down earlier, elsewhere. */
  readonly anchor?: string
}

export async function verifyAudit(app: App, { anchor }: VerifyArguments, terminal: Terminal): Promise<number> {
  const earlier = parseHead('--anchor', anchor)
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const { head, disagreements, says } = await examineRecord(app, ledger, earlier, terminal)
    const exit = disagreements.length === 0 ? EXIT.approved : EXIT.failure
    terminal.object({ ok: exit === EXIT.approved, head, anchor: earlier, disagreements, exit })
    for (const { where, means } of disagreements) terminal.data(`${where}: ${means}`)
    terminal.say(
      disagreements.length === 0
        ? `The record is whole: ${says}.${earlier === null ? ' To prove it another day, keep this head where nobody who can write to the ledger can change it.' : ''}`
        : `${plural(disagreements.length, 'disagreement')} in the record. Send nothing before somebody knows why.`,
    )
    return exit
  } finally {
    await ledger.close()
  }
}

/** The same lines as `tranche log`: what an auditor takes away. Its last one has the head that binds them all. */
export function exportAudit(app: App, given: { since?: string }, terminal: Terminal): Promise<number> {
  return log(app, given, terminal)
}

/** Thousands of one kind say no more than the first few hundred. */
const DISAGREEMENTS_SHOWN = 500

export interface Examined extends Proof {
  /** Where there are none: what agrees, and how far. */
  readonly says: string
}

export async function examineRecord(
  app: App,
  ledger: Ledger,
  anchor: string | null,
  terminal: Terminal,
): Promise<Examined> {
  const proof = await proofOf(ledger, anchor)
  if (proof.disagreements.length > 0) {
    await note(app, ledger, disagreementAct(proof.disagreements), terminal)
    return { ...proof, says: '' }
  }
  return { ...proof, says: `sums, rows, what was submitted, moves and acts agree, up to ${proof.head}` }
}

export interface Proof {
  /** Up to which everything was looked at. */
  readonly head: string
  readonly disagreements: readonly Disagreement[]
}

/** Writes nothing. `anchor`: a head that was written down earlier; null: none. */
export async function proofOf(ledger: Ledger, anchor: string | null): Promise<Proof> {
  const head = await ledger.head() // asked before: what comes meanwhile is not looked at
  const found: Disagreement[] = []
  for await (const one of ledger.audit(anchor)) if (found.push(one) === DISAGREEMENTS_SHOWN) break
  return { head, disagreements: found }
}

/** null: none was given. */
export function parseHead(option: string, head: string | undefined): string | null {
  if (head === undefined) return null
  if (isHead(head)) return head
  throw new Fault(
    'usage',
    `${option} ${head}: write it as doctor or log shows it, a number, a colon and 64 digits. Nothing was checked.`,
  )
}
