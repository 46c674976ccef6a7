// A declined charge is asked for once more as an instruction of its own, `REFERENCE~2`, so that what was reported of the first stays
// true. Whoever hands in a reference means the last attempt under it.

import type { DraftHeader } from '../../domain/draft.ts'
import {
  type CardEvent,
  type NotAsked,
  nextReference,
  type Reattempt,
  RULED_MS,
  whyNotAsked,
} from '../../domain/reattempt.ts'
import { EXECUTED, IS_VISIBLE } from './conditions.ts'
import { all, change, exists, type Script } from './script.ts'

/**
 * Before references are compared with anything: each row gets the reference of the last attempt, whichever of them it names. Else
 * the results of the first attempt, fed back, would ask beside the second.
 */
export function* nameLastAttempts({ accountId: account }: DraftHeader): Script<void> {
  const isAny = yield* exists(
    'SELECT 1 FROM instruction WHERE account_id = :account AND reattempt_of IS NOT NULL LIMIT 1',
    { account },
  )
  if (!isAny) return
  yield* change(
    `
    UPDATE draft_row AS d SET reference = l.reference, xtl_order_id = l.xtl_order_id
    FROM (
      SELECT n.row_no, i.reference, i.xtl_order_id FROM (
        SELECT r.row_no, r.reference, (SELECT ${LAST} FROM (SELECT coalesce(
          (SELECT i.reattempt_of FROM instruction i WHERE i.account_id = :account AND i.reference = r.reference AND i.holds_reference = 1),
          r.reference) AS first) f) AS id
        FROM draft_row r) AS n
      JOIN instruction i ON i.id = n.id AND i.reference <> n.reference AND ${IS_VISIBLE}) AS l
    WHERE d.row_no = l.row_no`,
    { account },
  )
}

/** The last attempt under reference `f.first`; NULL: there is but the first. */
const LAST = `(SELECT max(a.id) FROM instruction a
  WHERE a.account_id = :account AND a.reattempt_of = f.first AND a.holds_reference = 1)`

interface Declined {
  readonly rowNo: number
  readonly id: number
  readonly reference: string
  readonly first: string
  readonly runKey: string | null
  readonly vaultId: string
  readonly isSameCard: number
  readonly isCharge: number
  readonly isCertain: number
  readonly reason: string | null
  readonly atMs: number
}

const ROWS_AT_ONCE = 500

/** Rows whose instruction was declined: each that may be asked for once more becomes a new one. */
export function* reattempt(header: DraftHeader): Script<void> {
  const { reattempt: asked = null } = header
  if (asked === null) return
  const tries = new Map<string, number>()
  for (let last = 0; ; ) {
    const rows = yield* all<Declined>(DECLINED, { account: header.accountId, last, most: ROWS_AT_ONCE })
    for (const row of rows) {
      const why = yield* whyNot(row, asked, header, tries.get(row.vaultId) ?? 0)
      if (why === null) {
        tries.set(row.vaultId, (tries.get(row.vaultId) ?? 0) + 1)
        yield* ask(row, asked)
      } else yield* change('UPDATE draft_row SET not_asked = :why WHERE row_no = :rowNo', { why, rowNo: row.rowNo })
    }
    if (rows.length < ROWS_AT_ONCE) return
    last = rows.at(-1)!.rowNo
  }
}

/** With the same content, or with another card. What was ever in doubt may have been executed, whatever was answered since. */
const DECLINED = `
  SELECT d.row_no AS "rowNo", i.id, i.reference, coalesce(i.reattempt_of, i.reference) AS first, i.run_key AS "runKey",
    coalesce(ltrim(d.vault_id, '0'), '') AS "vaultId", CASE WHEN d.content = i.content THEN 1 ELSE 0 END AS "isSameCard",
    CASE WHEN d.operation IN ('CAPTURE', 'AUTH') AND d.order_id IS NULL AND d.vault_id IS NOT NULL THEN 1 ELSE 0 END AS "isCharge",
    CASE WHEN i.ever_in_doubt = 0 AND i.money_warning = 0 AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED})
      THEN 1 ELSE 0 END AS "isCertain",
    i.reason, coalesce(i.completed_at, 0) AS "atMs"
  FROM draft_row d
  JOIN instruction i ON i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
  WHERE d.row_no > :last AND d.state = 'READY' AND i.state = 'DECLINED' AND (d.content = i.content OR (
    d.operation = i.operation AND d.amount_minor = i.amount_minor AND d.currency = i.currency AND d.order_id IS NULL AND i.order_id IS NULL
    AND d.execute_at IS NOT DISTINCT FROM i.execute_at AND d.vault_id IS NOT NULL AND i.vault_id IS NOT NULL))
  ORDER BY d.row_no LIMIT :most`

function* ask({ rowNo, id, reference, first, runKey }: Declined, { xtlOrderIdOf }: Reattempt): Script<void> {
  const next = nextReference(reference, first)
  yield* change(
    `
    UPDATE draft_row SET reference = :next, reattempt_of = :first, declined_row = :id, xtl_order_id = :xtl, run_key = :runKey
    WHERE row_no = :rowNo`,
    { next, first, id, xtl: xtlOrderIdOf(next), runKey, rowNo },
  )
}

function* whyNot(row: Declined, asked: Reattempt, header: DraftHeader, tries: number): Script<NotAsked | null> {
  if (row.isCharge === 0) return 'not-a-charge'
  if (row.isCertain === 0) return 'not-certain'
  const { accountId: account, nowMs } = header
  const { vaultId, atMs, reason } = row
  const events = yield* all<CardEvent>(CARD_EVENTS, { account, vaultId, since: nowMs - RULED_MS })
  const declined = row.isSameCard === 1 ? { atMs, reason: reason ?? '' } : null
  return whyNotAsked({ nowMs, declined, events, tries }, asked)
}

/** What an engine indexes by account and `ltrim(vault_id, '0')`. */
export const IS_CARD_EVENT = "vault_id IS NOT NULL AND (state = 'DECLINED' OR operation = 'VAULT_UPDATE')"

const CARD_EVENTS = `
  SELECT CASE WHEN state = 'DECLINED' THEN 'declined' ELSE 'replaced' END AS kind, completed_at AS "atMs", reason
  FROM instruction WHERE account_id = :account AND ltrim(vault_id, '0') = :vaultId AND ${IS_CARD_EVENT}
    AND state IN ('DECLINED', 'APPROVED') AND operation IN ('CAPTURE', 'AUTH', 'VAULT_UPDATE')
    AND NOT (operation = 'VAULT_UPDATE' AND state = 'DECLINED') AND completed_at > :since`

/** Whether what was declined when a row was to be asked for once more is no longer, or is no longer certain. */
export const NO_LONGER_DECLINED = `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.declined_row
    WHERE i.state <> 'DECLINED' OR i.ever_in_doubt = 1 OR EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) LIMIT 1`
