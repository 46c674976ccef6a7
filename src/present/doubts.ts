// The worklist of doubts for a screen: each cause once, under it its rows, as a table where one fits, then from when on they may be judged.

import { isoOf } from '../domain/batch-status.ts'
import { cardText } from '../domain/card.ts'
import { type DoubtRow, standingProposal } from '../domain/doubt.ts'
import { withoutNumbers } from '../domain/top-reasons.ts'
import { type JsonProposal, type LapsedProposal, lapsedText, proposedText, toJsonProposal } from './proposals.ts'
import type { Screen } from './screen.ts'
import { amountText, plural, toTable } from './text.ts'

/** A doubt, and from when on it may be called not executed. */
export interface Doubt {
  readonly row: DoubtRow
  readonly restUntilMs: number
  /** That it be sent again, and stands no more. Absent or null: there is none. */
  readonly lapsed?: LapsedProposal | null
}

interface Column {
  readonly name: string
  readonly cellOf: (row: DoubtRow) => string
}

export function doubtLines(
  doubts: readonly Doubt[],
  nowMs: number,
  { columns, localTime }: Pick<Screen, 'columns' | 'localTime'>,
): string[] {
  const groups = Map.groupBy(doubts, ({ row }) => withoutNumbers(row.reason ?? ''))
  const largestFirst = [...groups].sort(([, a], [, b]) => b.length - a.length)
  return largestFirst.flatMap(([cause, own], i) => [
    ...(i === 0 ? [] : ['']),
    // What was taken out of a text is told where there is one row to tell it of.
    `${plural(own.length, 'row')}: ${own.length === 1 ? (own[0]?.row.reason ?? '') : cause}`,
    ...rowLines(own, columnsFor(localTime), columns ?? Number.POSITIVE_INFINITY),
    ...own.flatMap((one) => proposalLines(one, nowMs)),
    `  ${judgingText(own, nowMs)}`,
  ])
}

function proposalLines({ row, lapsed = null }: Doubt, nowMs: number): string[] {
  const proposal = standingProposal(row, nowMs)
  const { reference } = row.instruction
  if (proposal !== null) return [`  ${reference}: send it again? ${proposedText(proposal)}`]
  return lapsed === null ? [] : [`  ${reference}: ${lapsedText(lapsed)}`]
}

function columnsFor(localTime: ((atMs: number) => string) | null): Column[] {
  const sentAt = (row: DoubtRow, say: (atMs: number) => string, unknown = '') => {
    const atMs = row.sentAtMs ?? row.claimedAtMs
    return atMs === null ? unknown : say(atMs)
  }
  return [
    { name: 'reference', cellOf: ({ instruction }) => instruction.reference },
    { name: 'operation', cellOf: ({ instruction }) => instruction.operation },
    {
      name: 'amount',
      cellOf: ({ instruction: { money } }) =>
        money === null ? '' : `${amountText(money.amountMinor, money.currency)} ${money.currency}`,
    },
    { name: 'order', cellOf: ({ instruction }) => instruction.orderId ?? '' },
    { name: 'vault', cellOf: ({ instruction }) => instruction.vaultId ?? '' },
    { name: 'card', cellOf: cardOf },
    { name: 'xtl_order_id', cellOf: ({ instruction }) => instruction.xtlOrderId ?? '' },
    { name: 'merchant', cellOf: ({ merchant }) => merchant },
    { name: 'batch', cellOf: ({ batchId }) => batchId },
    { name: 'row', cellOf: ({ rowNo }) => String(rowNo) },
    { name: 'attempt', cellOf: ({ attempt }) => String(attempt) },
    { name: 'holds up', cellOf: ({ holdsUp }) => (holdsUp === 0 ? '' : plural(holdsUp, 'row')) },
    { name: 'sent', cellOf: (row) => sentAt(row, (ms) => isoOf(ms).slice(0, 10), 'at an unknown time') },
    { name: 'at (UTC)', cellOf: (row) => sentAt(row, (ms) => isoOf(ms).slice(11, 19)) },
    ...(localTime === null ? [] : [{ name: 'here', cellOf: (row: DoubtRow) => sentAt(row, localTime) }]),
  ]
}

function cardOf({ instruction: { card, details } }: DoubtRow): string {
  if (card === null) return ''
  const holder = [details.first_name, details.last_name].join(' ').trim()
  return `${cardText(card)}${holder === '' ? '' : ` of ${holder}`}`
}

/** What all rows have in common is said once; what none has is not said. */
function rowLines(doubts: readonly Doubt[], columns: readonly Column[], width: number): string[] {
  const rows = doubts.map(({ row }) => row)
  const filled = columns.filter(({ cellOf }) => rows.some((row) => cellOf(row) !== ''))
  const isShared = ({ name, cellOf }: Column) =>
    name !== 'reference' && rows.length > 1 && new Set(rows.map(cellOf)).size === 1
  const shared = filled.filter(isShared)
  const own = filled.filter((column) => !isShared(column))
  const table = toTable([own.map(({ name }) => name), ...rows.map((row) => own.map(({ cellOf }) => cellOf(row)))])
  const fits = table.every((line) => line.length + 2 <= width)
  const [, ...told] = own // the first is the reference
  const blocks = rows.flatMap((row) => [row.instruction.reference, `  ${pairsOf(row, told)}`])
  return [
    ...(shared.length === 0 ? [] : [`  all: ${pairsOf(rows[0] as DoubtRow, shared)}`]),
    ...(fits ? table : blocks).map((line) => `  ${line}`),
  ]
}

function pairsOf(row: DoubtRow, columns: readonly Column[]): string {
  const pairs = columns.map(({ name, cellOf }) => ({ name, cell: cellOf(row) }))
  return pairs.flatMap(({ name, cell }) => (cell === '' ? [] : [`${name} ${cell}`])).join(', ')
}

function judgingText(doubts: readonly Doubt[], nowMs: number): string {
  const [it, they, They] = doubts.length === 1 ? ['it', 'it', 'It'] : ['them', 'they', 'They']
  const untilMs = Math.max(...doubts.map(({ restUntilMs }) => restUntilMs))
  if (untilMs <= nowMs) return `${They} may be judged now.`
  const declined = doubts.some(({ row }) => row.attempt > 1) ? 'declined, ' : ''
  return `Until ${isoOf(untilMs)} ${they} may still be executed. Call ${it} ${declined}not-executed or send-again only after that.`
}

/** As a worklist has it: with all that a person needs to look it up at the gateway. */
export type DoubtRecord = Record<string, string | number>

export function toDoubtRecord(doubt: DoubtRow): DoubtRecord {
  const { instruction } = doubt
  const sentAtMs = doubt.sentAtMs ?? doubt.claimedAtMs
  return {
    reference: instruction.reference,
    attempt: doubt.attempt,
    operation: instruction.operation,
    amount: instruction.money === null ? '' : amountText(instruction.money.amountMinor, instruction.money.currency),
    currency: instruction.money?.currency ?? '',
    order_id: instruction.orderId ?? '',
    vault_id: instruction.vaultId ?? '',
    card: instruction.card === null ? '' : cardText(instruction.card),
    holder: [instruction.details.first_name, instruction.details.last_name].join(' ').trim(),
    xtl_order_id: instruction.xtlOrderId ?? '',
    sent_at: sentAtMs === null ? '' : isoOf(sentAtMs),
    reason: doubt.reason ?? '',
    merchant: doubt.merchant,
    batch: doubt.batchId,
    row: doubt.rowNo,
  }
}

/** The same for programs, with from when on it may be called not executed, how many rows wait for it, and who wants it sent again. */
export function toJsonDoubt(
  doubt: DoubtRow,
  restUntilMs: number,
  nowMs: number,
): Readonly<Record<string, string | number | JsonProposal | null>> {
  const proposal = standingProposal(doubt, nowMs)
  return {
    ...toDoubtRecord(doubt),
    ...{ rest_until: isoOf(restUntilMs), holds_up: doubt.holdsUp },
    proposal: proposal === null ? null : toJsonProposal(proposal),
  }
}
