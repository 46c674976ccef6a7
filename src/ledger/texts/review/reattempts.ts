// A declined charge is asked for once more as an instruction of its own, `REFERENCE~2`, so that what was reported of the first stays
// true. Whoever hands in a reference means the last attempt under it.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { AccountId } from '../../../domain/ids.ts'
import {
  type CardEvent,
  type NotAsked,
  nextReference,
  type Reattempt,
  whyForbidden,
  whyNotAsked,
} from '../../../domain/reattempt.ts'
import { EXECUTED, IS_VISIBLE, isAnyRecorded } from '../conditions.ts'
import { all, change, exists, type Script } from '../script.ts'

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
      JOIN instruction i ON i.id = n.id AND i.reference <> n.reference) AS l
    WHERE d.row_no = l.row_no`,
    { account },
  )
}

/** The last attempt under reference `f.first`; NULL: there is but the first. */
const LAST = `(SELECT max(i.id) FROM instruction i
  WHERE i.account_id = :account AND i.reattempt_of = f.first AND i.holds_reference = 1 AND ${IS_VISIBLE})`

interface Declined {
  readonly rowNo: number
  readonly id: number
  readonly reference: string
  readonly first: string
  readonly runKey: string | null
  readonly vaultId: string
  readonly isCharge: number
  readonly isCertain: number
  /** When and why the charge was declined with this card the last time; null: never. */
  readonly reason: string | null
  readonly atMs: number | null
}

const ROWS_AT_ONCE = 500

/** Rows whose instruction was declined: each that may be asked for once more becomes a new one. */
export function* reattempt(header: DraftHeader): Script<void> {
  const { reattempt: asked = null } = header
  if (asked === null) return
  const cards = new Map<string, AskedCard>()
  for (let last = 0; ; ) {
    const rows = yield* all<Declined>(DECLINED, { account: header.accountId, last, most: ROWS_AT_ONCE })
    for (const row of rows) {
      const why = yield* whyNot(row, asked, header, cards)
      if (why === null) yield* ask(row, asked, header.accountId)
      else yield* change('UPDATE draft_row SET not_asked = :why WHERE row_no = :rowNo', { why, rowNo: row.rowNo })
    }
    if (rows.length < ROWS_AT_ONCE) return
    last = rows.at(-1)!.rowNo
  }
}

/**
 * With the same content, or with another card: unless that charge is recorded under another reference of the run, for then references
 * may have moved on, and the row is that one. What was ever in doubt may have been executed, whatever was answered since.
 */
const DECLINED = `
  SELECT r."rowNo", r.id, r.reference, r.first, r."runKey", r."vaultId", r."isCharge", r."isCertain", s.reason, s.completed_at AS "atMs"
  FROM (
    SELECT d.row_no AS "rowNo", i.id, i.reference, coalesce(i.reattempt_of, i.reference) AS first, i.run_key AS "runKey",
      coalesce(ltrim(d.vault_id, '0'), '') AS "vaultId",
      CASE WHEN d.operation IN ('CAPTURE', 'AUTH') AND d.order_id IS NULL AND d.vault_id IS NOT NULL THEN 1 ELSE 0 END AS "isCharge",
      CASE WHEN i.ever_in_doubt = 0 AND i.money_warning = 0 AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED})
        THEN 1 ELSE 0 END AS "isCertain"
    FROM draft_row d CROSS JOIN instruction i
    WHERE d.row_no > :last AND d.state = 'READY' AND i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1
      AND ${IS_VISIBLE} AND i.state = 'DECLINED' AND (d.content = i.content OR (
        d.operation = i.operation AND d.amount_minor = i.amount_minor AND d.currency = i.currency AND d.order_id IS NULL AND i.order_id IS NULL
        AND d.execute_at IS NOT DISTINCT FROM i.execute_at AND d.vault_id IS NOT NULL AND i.vault_id IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM instruction n WHERE n.account_id = i.account_id AND n.lookalike = d.lookalike AND n.content = d.content
            AND n.run_key IS NOT DISTINCT FROM i.run_key AND coalesce(n.reattempt_of, n.reference) <> coalesce(i.reattempt_of, i.reference))))
      AND NOT EXISTS (SELECT 1 FROM instruction c WHERE c.batch_id = d.came_batch AND c.row_no = d.came_row AND c.state = 'INVALID')
    ORDER BY d.row_no LIMIT :most) AS r
  LEFT JOIN instruction s ON s.id = (
    SELECT max(c.id) FROM instruction c WHERE c.account_id = :account AND (c.reference = r.first OR c.reattempt_of = r.first)
      AND c.holds_reference = 1 AND c.state = 'DECLINED' AND coalesce(ltrim(c.vault_id, '0'), '') = r."vaultId")
  ORDER BY r."rowNo"`

function* ask(
  { rowNo, id, reference, first, runKey }: Declined,
  { xtlOrderIdOf }: Reattempt,
  account: AccountId,
): Script<void> {
  let next = nextReference(reference, first)
  while (yield* exists(IS_TAKEN, { account, next, first })) next = nextReference(next, first)
  yield* change(
    `
    UPDATE draft_row SET reference = :next, reattempt_of = :first, declined_row = :id, xtl_order_id = :xtl, run_key = :runKey
    WHERE row_no = :rowNo`,
    { next, first, id, xtl: xtlOrderIdOf(next), runKey, rowNo },
  )
}

/** People's own references may look like one of an attempt. Another row under it would answer for this one. */
const IS_TAKEN = `
  SELECT 1 FROM instruction i WHERE i.account_id = :account AND i.reference = :next AND i.reattempt_of IS DISTINCT FROM :first
  UNION ALL SELECT 1 FROM instruction i WHERE i.account_id = :account AND i.given = :next
  UNION ALL SELECT 1 FROM draft_row d WHERE d.reference = :next AND d.reattempt_of IS DISTINCT FROM :first LIMIT 1`

interface AskedCard {
  readonly events: readonly CardEvent[]
  /** Charges of this file that ask for it. */
  tries: number
}

function* whyNot(
  { isCharge, isCertain, vaultId, atMs, reason }: Declined,
  asked: Reattempt,
  { accountId: account, nowMs }: DraftHeader,
  cards: Map<string, AskedCard>,
): Script<NotAsked | null> {
  if (isCharge === 0) return 'not-a-charge'
  if (isCertain === 0) return 'not-certain'
  const card = cards.get(vaultId) ?? { events: yield* all<CardEvent>(CARD_EVENTS, { account, vaultId }), tries: 0 }
  cards.set(vaultId, card)
  const declined = atMs === null ? null : { atMs, reason: reason ?? '' }
  const why = whyNotAsked({ nowMs, declined, ...card }, asked)
  if (why === null) card.tries += 1
  return why
}

/** What an engine indexes by account and `ltrim(vault_id, '0')`: a change of it is a change of the schema. */
export const IS_CARD_EVENT = "vault_id IS NOT NULL AND (state = 'DECLINED' OR operation = 'VAULT_UPDATE')"

/** Whether a row stored a card under a vault id: two indexes are of those alone. */
export function keepsCard(row: '' | 'c.' | 'i.'): string {
  return `${row}card IS NOT NULL AND (${row}answered_vault_id IS NOT NULL OR ${row}operation = 'VAULT_UPDATE')`
}

/** Of such a row, without zeros in front. */
export const STORED_UNDER = "ltrim(coalesce(answered_vault_id, vault_id), '0')"

const LAST_CAUSE = '(SELECT m.cause FROM move m WHERE m.row_id = i.id ORDER BY m.id DESC LIMIT 1)'

/** Of the vault id `:vaultId`, which is without zeros in front. */
export const CARD_EVENTS = `
  SELECT CASE WHEN state = 'DECLINED' THEN 'declined' ELSE 'replaced' END AS kind, completed_at AS "atMs", reason,
    CASE WHEN ever_in_doubt = 1 AND ${LAST_CAUSE} = 'resolve' THEN 1 ELSE 0 END AS "byPerson"
  FROM instruction i WHERE account_id = :account AND ltrim(vault_id, '0') = :vaultId AND ${IS_CARD_EVENT}
    AND state IN ('DECLINED', 'APPROVED') AND operation IN ('CAPTURE', 'AUTH', 'VAULT_UPDATE')
    AND NOT (operation = 'VAULT_UPDATE' AND state = 'DECLINED')`

const OF_DECLINED_CARDS = `
  SELECT d.row_no AS "rowNo", ltrim(d.vault_id, '0') AS "vaultId" FROM draft_row d
  WHERE d.row_no > :last AND d.state = 'READY' AND d.operation IN ('CAPTURE', 'AUTH') AND d.order_key IS NULL AND d.vault_id IS NOT NULL
    AND coalesce(d.execute_at, 0) <= :nowMs AND EXISTS (
      SELECT 1 FROM instruction c WHERE c.account_id = :account AND ltrim(c.vault_id, '0') = ltrim(d.vault_id, '0')
        AND ${IS_CARD_EVENT} AND c.state = 'DECLINED')
  ORDER BY d.row_no LIMIT :most`

/** Rows that the claim would cancel for their card, as it stands now. */
export function* countDeclinedCards({ accountId: account, nowMs, reasonRules = [] }: DraftHeader): Script<number> {
  if (!(yield* isAnyRecorded(account))) return 0
  const forbidden = new Map<string, boolean>()
  let found = 0
  for (let last = 0; ; ) {
    const page = { account, nowMs, last, most: ROWS_AT_ONCE }
    const rows = yield* all<{ rowNo: number; vaultId: string }>(OF_DECLINED_CARDS, page)
    for (const { vaultId } of rows) {
      if (!forbidden.has(vaultId)) {
        const events = yield* all<CardEvent>(CARD_EVENTS, { account, vaultId })
        forbidden.set(vaultId, whyForbidden(events, reasonRules, nowMs) !== null)
      }
      if (forbidden.get(vaultId) === true) found += 1
    }
    if (rows.length < ROWS_AT_ONCE) return found
    last = rows.at(-1)!.rowNo
  }
}

/** Whether what was declined when a row was to be asked for once more is no longer, or is no longer certain. */
export const NO_LONGER_DECLINED = `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.declined_row
    WHERE i.state <> 'DECLINED' OR i.ever_in_doubt = 1 OR EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) LIMIT 1`
