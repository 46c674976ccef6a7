// Holds three books against each other after a run: what the gateway did, what the ledger recorded, what the
// reconciliation tells. Every disagreement is said in words.

import { directionOf } from '../../src/domain/daily-limit.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { dayOf } from '../../src/domain/instant.ts'
import type { Operation } from '../../src/domain/instruction.ts'
import { RESULT_COLUMNS } from '../../src/domain/result-columns.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { layoutOf, toResultCells } from '../../src/results/cells.ts'
import { auditOf, listOf } from '../fixtures/ledgers.ts'
import { firstReference, type KeptFile } from './files.ts'
import type { Execution, GatewayTruth } from './gateway.ts'
import type { Month } from './month.ts'
import { orders } from './orders.ts'
import { payments } from './payments.ts'
import type { Plan } from './plan.ts'

export interface Books {
  readonly recorded: Recorded
  readonly truth: GatewayTruth
  readonly plan: Pick<Plan, 'lockFails' | 'accounts' | 'captureTolerance'> & Partial<Pick<Plan, 'dailyLimits'>>
  /** What every answered submit was promised: the cells of its rows, in order. */
  readonly promised: ReadonlyMap<BatchId, readonly (readonly string[])[]>
  /** Messages that were acknowledged: account and reference. */
  readonly taken: ReadonlySet<string>
  /** How fast the fastest clock runs: a second by it is a second for who goes by it. Absent: as true time does. */
  readonly fastest?: number
  /** Originals as they were handed in, every time. */
  readonly originals: readonly KeptFile[]
  /** Batches of which only rows were wanted that no earlier file has. */
  readonly onlyNew: ReadonlySet<BatchId>
  /** Absent or null: nobody handed in a month of orders. */
  readonly month?: Month | null
}

/** What the ledger holds, past the program: straight from its tables. */
export interface Recorded {
  readonly rows: readonly RecordedRow[]
  readonly moves: readonly RecordedMove[]
  readonly batches: readonly RecordedBatch[]
}

/** The questions for it, one for each of its lists, on whichever engine. */
export const RECORDED: Readonly<Record<keyof Recorded, string>> = {
  rows: `
    SELECT id, batch_id AS "batchId", account_id AS "accountId", row_no AS "rowNo", state, reference, content, operation, order_key AS "orderKey",
      answered_order_id AS "answeredOrderId", reason, CAST(amount_minor AS TEXT) AS "amountMinor", CAST(accepted_limit AS TEXT) AS "acceptedLimit", expires_at AS "expiresAtMs",
      attempt, transaction_id AS "transactionId", supersedes, duplicate_of AS "duplicateOf", warning, money_warning AS "moneyWarning"
    FROM instruction WHERE batch_id IN (SELECT id FROM batch WHERE stage = 'open') ORDER BY id`,
  moves: `
    SELECT row_id AS "rowId", attempt, from_state AS "fromState", to_state AS "toState", cause, at FROM move ORDER BY id`,
  batches: `SELECT id, source, coalesce(file_sha256, '') AS bytes FROM batch WHERE stage = 'open' ORDER BY id`,
}

interface RecordedBatch {
  readonly id: BatchId
  readonly source: string
  readonly bytes: string
}

export interface RecordedRow {
  readonly id: number
  readonly batchId: string
  readonly accountId: number
  readonly rowNo: number
  readonly state: string
  readonly reference: string
  readonly content: string
  readonly operation: string
  readonly orderKey: string | null
  readonly answeredOrderId: string | null
  readonly reason: string | null
  readonly amountMinor: string | null
  readonly acceptedLimit: string | null
  readonly attempt: number
  readonly transactionId: string | null
  readonly expiresAtMs: number | null
  readonly supersedes: number | null
  readonly duplicateOf: number | null
  readonly warning: string | null
  readonly moneyWarning: number
}

export interface RecordedMove {
  readonly rowId: number
  readonly attempt: number
  readonly fromState: string
  readonly toState: string
  readonly cause: string
  readonly at: number
}

export async function compareBooks(books: Books, ledger: Ledger, nowMs: number): Promise<string[]> {
  const { rows, moves } = books.recorded
  const executedAs = Map.groupBy(books.truth.executions, (entry) => entry.rowId)
  return [
    ...(await auditOf(ledger)).map(({ where, means }) => `the record disagrees with itself: ${where}: ${means}`),
    ...executedOnce(books),
    ...rate(books),
    ...dailyLimits(books),
    ...oneOfAnOrder(rows, moves),
    ...afterVoids(books, rows),
    ...afterExpiry(books, rows),
    ...rows.flatMap((row) => rowAgainstGateway(row, executedAs.get(row.id) ?? [], moves, books)),
    ...everythingEnded(rows),
    ...attempts(rows, moves),
    ...messages(books, rows),
    ...payments(books, rows),
    ...orders(books, rows, moves, (row) => isUnknowable(row, books.recorded)),
    ...(await reconciliations(books, ledger, rows, nowMs)),
  ]
}

function executedOnce({ truth }: Books): string[] {
  const approved = truth.executions.filter(({ status }) => status === 'APPROVED')
  const wrong: string[] = []
  const sendAgains = Map.groupBy(truth.sendAgains, ([key]) => firstReference(key))
  for (const [key, entries] of Map.groupBy(approved, (one) => `${one.accountId}/${firstReference(one.reference)}`)) {
    const again = (sendAgains.get(key) ?? []).reduce((sum, [, times]) => sum + times, 0)
    if (entries.length > 1 + again)
      wrong.push(`${key} was executed ${entries.length} times; a person ordered it to be sent again ${again} times`)
  }
  return wrong
}

/** In no second more first bytes than the rate allows, whichever process they were of. */
function rate({ truth, plan, fastest = 1 }: Books): string[] {
  if (plan.lockFails) return []
  return plan.accounts.flatMap(({ ratePerSecond }, number) => {
    if (ratePerSecond === null) return []
    const starts = truth.starts.filter(({ accountId }) => Number(accountId) === number + 1)
    const allowed = Math.max(1, Math.floor(ratePerSecond))
    const over = starts.findIndex((start, i) => {
      const before = starts[i - allowed]
      // Times are sums of fractions: what was exactly a second may be somewhat less, after months.
      return before !== undefined && start.atMs - before.atMs < 1000 / fastest - 1e-5
    })
    return over < 0
      ? []
      : [
          `at ${(starts[over]?.atMs ?? 0).toFixed(2)} ms the rate of ${ratePerSecond} a second was exceeded: ${allowed + 1} requests left within a second`,
        ]
  })
}

/**
 * On no day did more leave, or come, than the limit of it: by what the gateway executed, and by when that was claimed. A row that a person
 * accepted above the whole limit has a day to itself. What a person had sent again although it was executed has been given back by their word.
 */
function dailyLimits({ truth, plan, recorded }: Books): string[] {
  const { dailyLimits: limits = null } = plan
  if (limits === null) return []
  const rows = new Map(recorded.rows.map((row) => [row.id, row]))
  const claims = recorded.moves.filter(({ cause }) => cause === 'claim')
  const claimedAt = new Map(claims.map(({ rowId, attempt, at }) => [`${rowId}/${attempt}`, at]))
  const executed = truth.executions.flatMap(({ status, accountId, reference, rowId, attempt }) => {
    const row = rows.get(rowId)
    const at = claimedAt.get(`${rowId}/${attempt}`)
    const direction = directionOf((row?.operation ?? '') as Operation)
    if (status !== 'APPROVED' || row === undefined || at === undefined || direction === null) return []
    if (truth.misjudged.has(`${accountId}/${reference}`)) return []
    const day = dayOf(at, limits.timeZone).startsAtMs
    const amount = BigInt(row.amountMinor ?? 0)
    return [{ day: `${accountId} ${direction} ${new Date(day).toISOString()}`, amount, accepted: row.acceptedLimit }]
  })
  const [limit = 0n] = limits.amounts.values()
  return Array.from(Map.groupBy(executed, ({ day }) => day)).flatMap(([day, entries]) => {
    const sum = entries.reduce((all, { amount }) => all + amount, 0n)
    const hasDayToItself = entries.length === 1 && entries[0]?.accepted === String(limit)
    return sum <= limit || hasDayToItself ? [] : [`${day}: ${sum} was executed, and the limit is ${limit}`]
  })
}

/** Rows of one order are never under way, or in doubt, at the same time. */
function oneOfAnOrder(rows: readonly RecordedRow[], moves: readonly RecordedMove[]): string[] {
  const orderOf = new Map(
    rows.map((row) => [row.id, row.orderKey === null ? null : `${row.accountId}/${row.orderKey}`]),
  )
  const underWay = new Map<string, Set<number>>()
  const wrong: string[] = []
  for (const { rowId, toState } of moves) {
    const order = orderOf.get(rowId)
    if (order === undefined || order === null) continue
    const open = underWay.get(order) ?? new Set<number>()
    underWay.set(order, open)
    if (toState === 'SENDING') {
      for (const other of open)
        if (other !== rowId) wrong.push(`rows ${other} and ${rowId} of order ${order} were under way at once`)
    }
    if (toState === 'SENDING' || toState === 'IN_DOUBT') open.add(rowId)
    else open.delete(rowId)
  }
  return wrong
}

/** Nothing of an order is captured or refunded once all of it is voided, unless a person said that the void had not been executed. */
function afterVoids({ truth }: Books, rows: readonly RecordedRow[]): string[] {
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  const voided = new Map<string, RecordedRow>()
  return truth.executions.flatMap(({ accountId, rowId, status }) => {
    const row = rowOf.get(rowId)
    if (row === undefined || row.orderKey === null || status !== 'APPROVED') return []
    const order = `${accountId}/${row.orderKey}`
    const before = voided.get(order)
    if (row.operation === 'CANCEL' && row.amountMinor === null && !truth.misjudged.has(`${accountId}/${row.reference}`))
      voided.set(order, row)
    if (before === undefined || row.operation === 'CANCEL') return []
    return [`${nameOf(row)} was executed as ${row.operation} after ${nameOf(before)} had voided its order`]
  })
}

/** Nothing leaves once its row has expired. */
function afterExpiry({ truth }: Books, rows: readonly RecordedRow[]): string[] {
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  return truth.starts.flatMap(({ rowId, wallMs }) => {
    const row = rowOf.get(rowId)
    if (row === undefined || row.expiresAtMs === null || wallMs < row.expiresAtMs) return []
    return [`${nameOf(row)} left ${wallMs - row.expiresAtMs} ms after it had expired`]
  })
}

function nameOf({ reference, batchId, rowNo, id }: RecordedRow): string {
  return `${reference} (row ${rowNo} of ${batchId}, id ${id})`
}

/** That an order has too little left is no surprise where nothing is recorded of it: its authorization was a person's finding, without an order id. */
function isUnknowable({ accountId, orderKey, reason }: RecordedRow, { rows }: Recorded): boolean {
  const isKnown = rows.some(
    (row) =>
      (row.operation === 'AUTH' || row.operation === 'CAPTURE') &&
      row.accountId === accountId &&
      row.answeredOrderId === orderKey &&
      row.state === 'APPROVED',
  )
  return orderKey !== null && !isKnown && /balance: (?!0\.00)/i.test(reason ?? '')
}

function rowAgainstGateway(
  row: RecordedRow,
  executions: readonly Execution[],
  moves: readonly RecordedMove[],
  { truth, recorded }: Books,
): string[] {
  const approved = executions.filter(({ status }) => status === 'APPROVED')
  const byPerson = moves.some(
    ({ rowId, toState, cause }) => rowId === row.id && toState === row.state && cause === 'resolve',
  )
  // A person looks for the reference, and so may find what an earlier row under it came to.
  const found = byPerson ? truth.executedOf(row.accountId, row.reference) : executions
  const name = nameOf(row)
  switch (row.state) {
    case 'APPROVED': {
      const approved = found.filter(({ status }) => status === 'APPROVED')
      if (approved.length === 0) return [`${name} is APPROVED and was never executed`]
      const known = row.transactionId === null || approved.some((entry) => entry.transactionId === row.transactionId)
      const other = found.find((entry) => entry.transactionId === row.transactionId)?.otherAmount === true
      return [
        ...(known ? [] : [`${name} is APPROVED as transaction ${row.transactionId}, which is another row's`]),
        ...(other && row.moneyWarning === 0 && !byPerson
          ? [`${name} was executed with another amount, and no warning says so`]
          : []),
      ]
    }
    case 'DECLINED':
      return [
        ...(approved.length > 0 && !isUnknowable(row, recorded) ? [`${name} was executed and is DECLINED`] : []),
        ...(found.some(({ status }) => status === 'DECLINED')
          ? []
          : [`${name} is DECLINED, and the gateway never declined it`]),
      ]
    case 'CANCELLED':
      // Whoever says that something was not executed, and then cancels it, is believed.
      if (truth.misjudged.has(`${row.accountId}/${row.reference}`)) return []
      return approved.length > 0 ? [`${name} was executed and is CANCELLED`] : []
    case 'FAILED':
    case 'INVALID':
      return approved.length > 0 ? [`${name} was executed and is ${row.state}`] : []
    case 'DUPLICATE':
      return executions.length > 0 ? [`${name} is a DUPLICATE and was sent`] : []
    case 'READY':
    case 'SENDING':
      return approved.length > 0 ? [`${name} was executed and is PENDING for ever`] : []
    case 'IN_DOUBT':
      return []
    default:
      return [`${name} is ${row.state}, which is no state`]
  }
}

/** Faults have ended and every person has acted: whatever is still open stays so for ever. */
function everythingEnded(rows: readonly RecordedRow[]): string[] {
  return rows
    .filter(({ state }) => state === 'READY' || state === 'SENDING' || state === 'IN_DOUBT')
    .map((row) => `${nameOf(row)} is ${row.state} for ever`)
}

/** The history is one unbroken line, it ends where the row stands, and every attempt in it has a claim. */
function attempts(rows: readonly RecordedRow[], moves: readonly RecordedMove[]): string[] {
  const movesOf = Map.groupBy(moves, (move) => move.rowId)
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  return rows.flatMap((row) => {
    const own = movesOf.get(row.id) ?? []
    const before = row.supersedes === null ? 0 : (rowOf.get(row.supersedes)?.attempt ?? 0)
    const claims = own.filter(({ cause }) => cause === 'claim').length
    const wrong: string[] = []
    if (before + claims !== row.attempt)
      wrong.push(`${nameOf(row)} has ${claims} claims after ${before}, and ${row.attempt} attempts`)
    own.forEach((move, i) => {
      const from = own[i - 1]?.toState ?? 'READY'
      if (move.fromState !== from) wrong.push(`${nameOf(row)} leaps from ${from} to ${move.fromState}`)
    })
    const end = own.at(-1)?.toState
    if (end !== undefined && end !== row.state)
      wrong.push(`${nameOf(row)} is ${row.state}, its history ends with ${end}`)
    return wrong
  })
}

function messages({ taken }: Books, rows: readonly RecordedRow[]): string[] {
  const recorded = new Set(rows.map(({ accountId, reference }) => `${accountId}/${reference}`))
  return [...taken].filter((key) => !recorded.has(key)).map((key) => `message ${key} was acknowledged and is nowhere`)
}

/** Every accepted row stands in exactly one line, as it came, and the line says what the ledger says. */
async function reconciliations(
  { promised, recorded: { batches } }: Books,
  ledger: Ledger,
  rows: readonly RecordedRow[],
  nowMs: number,
): Promise<string[]> {
  const wrong: string[] = []
  const rowsOf = Map.groupBy(rows, (row) => row.batchId)
  for (const batchId of promised.keys())
    if (!batches.some(({ id }) => id === batchId)) wrong.push(`${batchId} was answered to its submitter and is gone`)
  for (const { id: batchId } of batches) {
    const reading = await ledger.openReading(batchId, nowMs)
    const layout = layoutOf(reading)
    const lines = (await listOf(reading.rows())).map((row) => toResultCells(row, layout))
    const { counts } = reading.batch
    await reading.close()
    const own = rowsOf.get(batchId) ?? []
    const carried = layout.carried.length
    const column = (name: (typeof RESULT_COLUMNS)[number]) => carried + RESULT_COLUMNS.indexOf(name)
    const asked = promised.get(batchId)
    if (asked !== undefined && asked.length !== lines.length)
      wrong.push(`${batchId} came with ${asked.length} rows, its reconciliation has ${lines.length} lines`)
    asked?.forEach((cells, i) => {
      const line = lines[i]?.slice(0, carried).join('|')
      if (line !== cells.join('|')) wrong.push(`${batchId}, row ${i + 1}: "${cells.join('|')}" came out as "${line}"`)
    })
    if (own.length !== lines.length) wrong.push(`${batchId} has ${own.length} rows and ${lines.length} lines`)
    lines.forEach((line, i) => {
      const row = own[i]
      const status = row?.state === 'READY' || row?.state === 'SENDING' ? 'PENDING' : row?.state
      if (line[column('result_status')] !== status || line[column('result_reference')] !== row?.reference)
        wrong.push(`line ${i + 1} of ${batchId} says ${line[column('result_status')]}, the ledger ${row?.state}`)
      const transaction = line[column('result_transaction_id')] ?? ''
      if (transaction !== (row?.transactionId ?? ''))
        wrong.push(`line ${i + 1} of ${batchId} names transaction "${transaction}", the ledger ${row?.transactionId}`)
    })
    for (const [state, same] of Map.groupBy(own, (row) => row.state))
      if ((counts as Record<string, number>)[state] !== same.length)
        wrong.push(
          `status tells ${(counts as Record<string, number>)[state]} rows ${state} of ${batchId}, there are ${same.length}`,
        )
  }
  return wrong
}
