// What is recorded of the targets of a draft, or of a message, is fetched here, and `rules/judge-target.ts` says what it means. One text
// serves both: of a draft it reads some of its rows at a time, of a message its only one.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { AccountId } from '../../../domain/ids.ts'
import type { Beside, Operation } from '../../../domain/instruction.ts'
import { MERCHANT_DEFAULTS } from '../../../domain/merchant.ts'
import { isPeriodFar, runKeyForm, runSpokenOf } from '../../../domain/run-key.ts'
import { LONG_AGO_MS } from '../../../domain/submission.ts'
import {
  isMostlyElsewhere,
  judgeTarget,
  SLIPPED_LEAST,
  type TargetFact,
  type TargetFault,
  type TargetQuestion,
  type TargetRow,
  type TargetRules,
  type TargetVerdict,
} from '../../rules/judge-target.ts'
import type { OddNeighbour } from '../../rules/neighbours.ts'
import { isAnyRecorded } from '../conditions.ts'
import type { InstructionColumns } from '../instruction-columns.ts'
import { all, change, count, exists, one, type Script, type Values } from '../script.ts'
import { DRAFT_FAULT, IS_LIKE } from './draft-rows.ts'
import { besideText, holderText } from './draft-values.ts'
import { COUNTING, lookalikeSince } from './lookalikes.ts'
import type { FoundRow, Kind } from './targets/facts.ts'
import { OF_ACCOUNTS, OF_OTHER_ACCOUNTS, REPEATED_ELSEWHERE } from './targets/of-accounts.ts'
import { LIKE_ABOVE, OF_AUTHORIZATION, OF_CHARGE, OF_DELETED, OF_LARGEST, OF_LIKE } from './targets/of-cards.ts'
import { OF_CUSTOMER, OF_HOLDER, OF_PAID, OF_REPLACED } from './targets/of-customers.ts'
import { OF_ORDERS, OF_REFERENCE, OF_RUN } from './targets/of-orders.ts'
import {
  OF_AMOUNTS,
  OF_FAILED_RUN,
  OF_FAR_RUN,
  OF_LAST_RUN,
  OF_OWN_RUN,
  OF_SAME_MONTH,
  RENUMBERED,
} from './targets/of-runs.ts'

const ALONE = `why = 'other-payer' AND (SELECT count(*) FROM draft_target n
      WHERE n.why = 'other-payer' AND abs(n.row_no - draft_target.row_no) < ${SLIPPED_LEAST}) < ${SLIPPED_LEAST}`

/** Two rows, each with the customer that the vault id of the other had: those are no new addresses, even of two rows alone. */
const EXCHANGED = `
    WITH payer AS MATERIALIZED (
      SELECT t.row_no, d.details AS present, i.details AS former
      FROM draft_target t JOIN draft_row d ON d.row_no = t.row_no JOIN instruction i ON i.id = t.recorded_row WHERE t.why = 'other-payer')
    SELECT one.row_no FROM payer one JOIN payer other ON other.present = one.former AND other.former = one.present`

const OWN_KINDS = [
  ...OF_ORDERS,
  OF_AUTHORIZATION,
  OF_CHARGE,
  OF_LIKE,
  ...OF_REFERENCE,
  OF_SAME_MONTH,
  OF_FAR_RUN,
  OF_DELETED,
  OF_LARGEST,
  OF_CUSTOMER,
  OF_HOLDER,
] as readonly Kind[]

/** These look at a whole file. */
const OF_FILES = [OF_PAID, OF_REPLACED, OF_FAILED_RUN, OF_RUN, OF_AMOUNTS] as readonly Kind[]

function besideIn(text: string | null): Beside | null {
  if (text === null) return null
  const [vaultId = null, card = null, xtlOrderId = null] = JSON.parse(text) as (string | null)[]
  return { vaultId, card, xtlOrderId }
}

function toRow({ amountMinor, beside, details, ...row }: FoundRow): TargetRow {
  return {
    ...row,
    amountMinor: amountMinor === null ? null : BigInt(amountMinor),
    beside: besideIn(beside),
    customer: details === null ? {} : JSON.parse(details),
  }
}

type Since = Pick<DraftHeader, 'nowMs' | 'lookalikeDays'> & { readonly authorizationDays?: number | null }

function rulesBy({ nowMs, lookalikeDays, authorizationDays = null }: Since): TargetRules {
  const saleDays = LONG_AGO_MS / 86_400_000
  return { nowMs, lookalikeDays, saleDays, authorizationDays: authorizationDays ?? MERCHANT_DEFAULTS.authorizationDays }
}

function runBy({ runKey, nowMs }: Pick<DraftHeader, 'runKey' | 'nowMs'>) {
  const [isFar, runForm] = runKey === null ? [false, null] : [isPeriodFar(runKey, nowMs), runKeyForm(runKey, nowMs)]
  return { runKey, runForm, isFar: isFar ? 1 : 0 }
}

/** The rows of which something is found, in their order, each with what is found of it. */
function* factsOf(kind: Kind, rows: string, values: Values): Script<{ row: FoundRow; fact: TargetFact }[]> {
  const found = yield* all<FoundRow>(kind.text.replaceAll('@rows', rows), values)
  const toFact = kind.toFact as (found: readonly FoundRow[]) => TargetFact
  return [...Map.groupBy(found, ({ rowNo }) => rowNo).values()].map((of) => ({
    row: of[0] as FoundRow,
    fact: toFact(of),
  }))
}

// A draft

const ROWS_PER_PAGE = 2000

type Act = (row: FoundRow, verdict: TargetFault | TargetQuestion) => Script<void>

/** The operations of a draft, and its last row that may be sent. */
const SENT = "SELECT operation, max(row_no) AS last FROM draft_row WHERE state = 'READY' GROUP BY operation"

/** Of the rows that do not fit, in their order. */
function* eachOf(kinds: readonly Kind[], header: DraftHeader, act: Act): Script<void> {
  const sent = yield* all<{ operation: Operation; last: number }>(SENT)
  for (const kind of kinds) {
    const looked = sent.filter(({ operation }) => kind.operations?.includes(operation) !== false)
    yield* eachOfKind(kind, header, Math.max(0, ...looked.map(({ last }) => last)), act)
  }
}

function* eachOfKind(kind: Kind, header: DraftHeader, last: number, act: Act): Script<void> {
  const [sha256, sandbox] = [header.fileSha256, header.sandbox ? 1 : 0]
  const told = { ...lookalikeSince(header), ...runBy(header), sha256, sandbox }
  if (last === 0 || (kind.gate !== undefined && !(yield* exists(kind.gate, told)))) return
  const rules = rulesBy(header)
  const rows = `(SELECT d.* FROM draft_row d WHERE d.row_no > :after AND d.row_no <= :to AND d.state = 'READY' AND ${kind.rows})`
  const step = kind.atOnce === true ? last : ROWS_PER_PAGE
  for (let after = 0; after < last; after += step) {
    for (const { row, fact } of yield* factsOf(kind, rows, { ...told, after, to: after + step })) {
      const verdict = judgeTarget(toRow(row), fact, rules)
      if (verdict !== 'fits') yield* act(row, verdict)
    }
  }
}

/** Makes every row of the draft that contradicts what is recorded of its target a fault, and notes those that must be asked about. */
export function* meetTargets(header: DraftHeader, odd: readonly OddNeighbour[]): Script<void> {
  yield* change('DELETE FROM draft_target')
  if (yield* isAnyRecorded(header.accountId)) {
    yield* eachOf([OF_LAST_RUN] as readonly Kind[], header, note)
    yield* change(`DELETE FROM draft_target WHERE ${RENUMBERED}`) // what is found next would not be noted beside these
    yield* eachOf([...OWN_KINDS, OF_OWN_RUN, ...OF_FILES] as readonly Kind[], header, note)
    yield* change(
      `DELETE FROM draft_target WHERE row_no IN (SELECT row_no FROM draft_target WHERE ${ALONE}) AND row_no NOT IN (${EXCHANGED})`,
    )
  }
  yield* eachOf([LIKE_ABOVE] as readonly Kind[], header, note)
  yield* meetOtherAccounts(header)
  yield* meetOtherMonth(header)
  for (const { rowNo, question } of odd) yield* noteTarget(rowNo, question)
}

const SAME_BYTES = "b.account_id = :account AND b.file_sha256 = :sha256 AND b.stage = 'open' AND b.run_key <> :runKey"

/** The list of last month, handed in under the key of this one. */
function* meetOtherMonth({
  accountId: account,
  fileSha256: sha256,
  runKey,
  months,
  columns,
  nowMs,
}: DraftHeader): Script<void> {
  if (runKey === null || months === undefined) return
  const same = { account, sha256, runKey }
  const runs = yield* all<{ run: string }>(`SELECT DISTINCT b.run_key AS run FROM batch b WHERE ${SAME_BYTES}`, same)
  const first = yield* one<{ cells: string }>('SELECT cells FROM draft_row ORDER BY row_no LIMIT 1')
  const cells = JSON.parse(first?.cells ?? '[]') as readonly string[]
  const inColumns = months.columns.map((name) => cells[columns.indexOf(name)] ?? '')
  const keys = runs.map(({ run }) => run)
  const spokenOf = (texts: readonly string[]) => runSpokenOf(texts, runKey, keys, nowMs)
  const run = spokenOf(inColumns) ?? spokenOf(months.names)
  if (run === null) return
  yield* change(
    `
    INSERT INTO draft_target (row_no, why, problem, before_row, recorded_row)
    SELECT d.row_no, 'other-month', 'is in a file that speaks of the month of the run ' || b.run_key || ', and was recorded for that run', NULL, max(i.id)
    FROM draft_row d CROSS JOIN batch b CROSS JOIN instruction i
    WHERE ${SAME_BYTES} AND b.run_key = :run AND i.batch_id = b.id AND i.row_no = d.row_no AND d.state = 'READY'
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1)
    GROUP BY d.row_no, b.run_key ON CONFLICT (row_no) DO NOTHING`,
    { ...same, run },
  )
}

const ELSEWHERE_FOUND = `SELECT count(DISTINCT d.order_key) AS n FROM draft_target t JOIN draft_row d ON d.row_no = t.row_no WHERE t.why = 'order-elsewhere'`
const ORDERS = 'SELECT count(*) AS n FROM draft_order'

function* meetOtherAccounts(header: DraftHeader): Script<void> {
  yield* eachOf(OF_ACCOUNTS, header, note)
  const found = yield* count(ELSEWHERE_FOUND)
  if (found > 0 && !isMostlyElsewhere(found, yield* count(ORDERS)))
    yield* change("DELETE FROM draft_target WHERE why = 'order-elsewhere'")
}

/** Once more, after rows of the orders that the draft names have moved: whether it would still say the same. */
export function* targetsStillFit(header: DraftHeader): Script<boolean> {
  let isAsTold = true
  yield* eachOf(OF_ORDERS, header, function* ({ rowNo }, { kind }) {
    isAsTold &&=
      kind === 'asked' &&
      (yield* exists(`SELECT 1 FROM draft_row d WHERE d.row_no = :rowNo AND (${IS_LIKE})`, { rowNo }))
  })
  return isAsTold
}

function* note({ rowNo, line }: FoundRow, verdict: TargetFault | TargetQuestion): Script<void> {
  if (verdict.kind === 'asked') {
    yield* noteTarget(rowNo, verdict)
    return
  }
  const { column, value, problem, remedy } = verdict
  const values = { rowNo, line, column, value, problem, remedy }
  yield* change(`INSERT INTO ${DRAFT_FAULT} VALUES (:rowNo, :line, :column, :value, :problem, :remedy)`, values)
}

function* noteTarget(rowNo: number, { why, problem, at }: TargetQuestion): Script<void> {
  yield* change(
    `INSERT INTO draft_target (row_no, why, problem, before_row, recorded_row) VALUES (:rowNo, :why, :problem, :beforeRow, :recordedRow)
    ON CONFLICT (row_no) DO NOTHING`,
    { ...{ rowNo, why, problem }, beforeRow: at.batchId === null ? at.rowNo : null, recordedRow: at.id },
  )
}

/** For look-alikes: the row that they are asked about with. What was found of a row before goes before this. */
export function* markTargets(): Script<void> {
  yield* change(`
    DELETE FROM draft_target WHERE EXISTS (
      SELECT 1 FROM draft_row d WHERE d.row_no = draft_target.row_no AND (d.state <> 'READY' OR ${IS_LIKE}))`)
  yield* change(`
    UPDATE draft_row AS d SET like_row = t.before_row, like_recorded = t.recorded_row
    FROM draft_target t WHERE EXISTS (SELECT 1 FROM draft_target) AND t.row_no = d.row_no`)
}

// One row

const ONE = `(
      SELECT 1 AS row_no, 1 AS line, :reference AS reference, :operation AS operation, CAST(:amountMinor AS BIGINT) AS amount_minor,
        :currency AS currency, :orderId AS order_id, :orderKey AS order_key, :vaultId AS vault_id, :card AS card, :xtl AS xtl_order_id,
        :details AS details, :lookalike AS lookalike, :runKey AS run_key, 0 AS made, :beside AS beside, :holder AS holder,
        CAST(NULL AS BIGINT) AS supersedes, CAST(NULL AS BIGINT) AS declined_row, CAST(NULL AS TEXT) AS reattempt_of)`

export interface ArrivingTarget extends Since {
  readonly accountId: AccountId
  readonly runKey: string | null
}

/** What the record says of the target of a message. */
export function* targetVerdictOn(
  arriving: ArrivingTarget,
  row: InstructionColumns,
  beside: Beside | null,
): Script<TargetVerdict> {
  const { reference, operation, currency, card, details, lookalike } = row
  const values = {
    ...{ ...lookalikeSince(arriving), ...runBy(arriving), reference, operation, currency, card, details, lookalike },
    ...{ amountMinor: row.amount_minor, orderId: row.order_id, orderKey: row.order_key, vaultId: row.vault_id },
    ...{ xtl: row.xtl_order_id, beside: besideText(beside), holder: holderText(beside) },
  }
  for (const kind of [...OWN_KINDS, OF_LAST_RUN, REPEATED_ELSEWHERE, OF_OTHER_ACCOUNTS] as readonly Kind[]) {
    if (kind.operations?.includes(operation as Operation) === false) continue
    if (kind.gate !== undefined && !(yield* exists(kind.gate, values))) continue
    const [found] = yield* factsOf(kind, `(SELECT d.* FROM ${ONE} d WHERE ${kind.rows})`, values)
    const verdict = found === undefined ? 'fits' : judgeTarget(toRow(found.row), found.fact, rulesBy(arriving))
    if (verdict !== 'fits' && !(verdict.kind === 'asked' && verdict.why === 'other-payer')) return verdict // alone, as of a file
  }
  return 'fits'
}
