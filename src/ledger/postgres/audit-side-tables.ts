// Whether the side tables agree with the rows: claims, held references and seen transactions, with the triggers and keys that keep them. The audit
// of a file does not look at them: only a ledger on a server has them.

import type { Disagreement } from '../../ports/ledger/audit.ts'
import type { Session } from './session.ts'

/** Of each kind, at most so many are told. */
const MOST_OF_EACH = 20

/** A backup has no side tables to compare with. */
const REMEDY = 'Another program wrote to this database: send nothing until you know what else it changed'

/** The triggers of `instruction`, and what each of them calls: see `schema.ts`. */
const TRIGGERS = [
  ['takes', 'take_reference'],
  ['takes_over', 'take_reference'],
  ['leaves', 'leave_reference'],
  ['goes', 'leave_reference'],
  ['settles', 'note_transaction'],
  ['ends', 'end_claim'],
]

/** The unique keys of the side tables: see `schema.ts`. */
const UNIQUE_KEYS = [
  ['claim', 'PRIMARY KEY (row_id)'],
  ['claim', 'UNIQUE (account_id, order_key)'],
  ['held_reference', 'PRIMARY KEY (account_id, reference)'],
  ['seen_transaction', 'PRIMARY KEY (account_id, transaction_id)'],
]

const valuesOf = (pairs: readonly (readonly string[])[]) => pairs.map(([one, two]) => `('${one}', '${two}')`).join(', ')

const ROW_NAME = `i.reference || ' (row ' || i.row_no || ' of batch ' || i.batch_id || ')' AS "where"`
const ofMerchant = (accountId: string) =>
  `' of ' || coalesce((SELECT name FROM account WHERE id = ${accountId}), 'no merchant')`

interface Look {
  /** A query whose every row is one disagreement, named `where`. */
  readonly finds: string
  readonly means: string
}

const LOOKS: readonly Look[] = [
  {
    // Each partition has its own copy of every trigger. O and A: enabled.
    finds: `
      SELECT 'trigger ' || t.name || ' of ' || p.part AS "where" FROM (VALUES ${valuesOf(TRIGGERS)}) AS t (name, calls),
        (SELECT to_regclass('instruction') UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('instruction')) AS p (part)
      WHERE NOT EXISTS (SELECT 1 FROM pg_trigger g
        WHERE g.tgrelid = p.part AND g.tgname = t.name AND g.tgfoid = to_regproc(t.calls) AND g.tgenabled IN ('O', 'A'))`,
    means:
      'it is missing, disabled or another one. What it guards against, a second sending among them, is not guarded',
  },
  {
    finds: `
      SELECT 'key ' || k.of || ': ' || k.definition AS "where" FROM (VALUES ${valuesOf(UNIQUE_KEYS)}) AS k (of, definition)
      WHERE NOT EXISTS (SELECT 1 FROM pg_constraint c JOIN pg_index x ON x.indexrelid = c.conindid
        WHERE c.conrelid = to_regclass(k.of) AND pg_get_constraintdef(c.oid) = k.definition AND x.indisvalid)`,
    means: 'it is missing or broken. What it guards against, a second sending among them, is not guarded',
  },
  {
    finds: `
      SELECT ${ROW_NAME} FROM instruction i WHERE i.state = 'SENDING' AND NOT EXISTS (
        SELECT 1 FROM claim c JOIN move m ON m.row_id = c.row_id AND m.worker = c.worker AND m.claim_no = c.claim_no
        WHERE c.row_id = i.id AND c.account_id = i.account_id AND c.order_key IS NOT DISTINCT FROM i.order_key
          AND m.cause = 'claim' AND m.attempt = i.attempt)`,
    means:
      'it is SENDING, and its claim is missing or another one than was recorded. If its worker dies, the row may stay SENDING, and what waits for its order with it',
  },
  {
    finds: `
      SELECT 'claim on row id ' || c.row_id AS "where" FROM claim c
      WHERE NOT EXISTS (SELECT 1 FROM instruction i WHERE i.id = c.row_id AND i.state = 'SENDING')`,
    means:
      'its row is not SENDING. Neither that row nor another one of its order can be claimed, and no sweep ends the claim',
  },
  {
    finds: `
      SELECT ${ROW_NAME} FROM instruction i WHERE i.holds_reference = 1 AND NOT EXISTS (
        SELECT 1 FROM held_reference h WHERE h.account_id = i.account_id AND h.reference = i.reference AND h.row_id = i.id)`,
    means: 'its reference is not held: it could be recorded once more, and paid twice',
  },
  {
    finds: `
      SELECT 'reference ' || h.reference || ${ofMerchant('h.account_id')} AS "where" FROM held_reference h WHERE NOT EXISTS (
        SELECT 1 FROM instruction i
        WHERE i.id = h.row_id AND i.account_id = h.account_id AND i.reference = h.reference AND i.holds_reference = 1)`,
    means: 'no row holds it, and no row with it can be recorded',
  },
  {
    // Zeros in front do not make another transaction.
    finds: `
      SELECT ${ROW_NAME} FROM instruction i WHERE i.transaction_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM seen_transaction s WHERE s.account_id = i.account_id AND s.transaction_id = ltrim(i.transaction_id, '0'))`,
    means: 'its transaction does not count as seen: an answer that repeats it could settle another row as well',
  },
  {
    finds: `
      SELECT 'transaction ' || s.transaction_id || ${ofMerchant('s.account_id')} AS "where" FROM seen_transaction s WHERE NOT EXISTS (
        SELECT 1 FROM instruction i
        WHERE i.id = s.row_id AND i.account_id = s.account_id AND ltrim(i.transaction_id, '0') = s.transaction_id)`,
    means:
      'it counts as seen, and its row does not have it. The answer that brings it cannot be recorded: its row comes into doubt',
  },
]

/** Looks in the snapshot of `session`. Each look reads whole tables, without a limit of time. */
export function auditSideTables(session: Session): Promise<readonly Disagreement[]> {
  return session.patiently(async () => {
    const found: Disagreement[] = []
    for (const { finds, means } of LOOKS)
      for (const { where } of (await session.exec(`${finds} LIMIT ${MOST_OF_EACH}`)) as readonly { where: string }[])
        found.push({ where, means: `${means}. ${REMEDY}` })
    return found
  })
}
