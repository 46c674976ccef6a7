// The worklist of doubts for a screen: each cause once, under it a table of its rows, then from when on they may be judged.

import { isoOf } from '../domain/batch-status.ts'
import { cardText } from '../domain/card.ts'
import type { DoubtRow } from '../domain/doubt.ts'
import { withoutNumbers } from './reasons.ts'
import { amountText, plural, toTable } from './text.ts'

/** A doubt, and from when on it may be called not executed. */
export interface Doubt {
  readonly row: DoubtRow
  readonly restUntilMs: number
}

interface Column {
  readonly name: string
  readonly cellOf: (row: DoubtRow) => string
}

/** `localTime`: of a moment, where the person is; null: only UTC is told. */
export function doubtLines(
  doubts: readonly Doubt[],
  nowMs: number,
  localTime: ((atMs: number) => string) | null,
): string[] {
  const groups = Map.groupBy(doubts, ({ row }) => withoutNumbers(row.reason ?? ''))
  const largestFirst = [...groups].sort(([, a], [, b]) => b.length - a.length)
  return largestFirst.flatMap(([cause, own], i) => [
    ...(i === 0 ? [] : ['']),
    // What was taken out of a text is told where there is one row to tell it of.
    `${plural(own.length, 'row')}: ${own.length === 1 ? (own[0]?.row.reason ?? '') : cause}`,
    ...tableOf(own, columnsFor(localTime)),
    `  ${judgingText(own, nowMs)}`,
  ])
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
function tableOf(doubts: readonly Doubt[], columns: readonly Column[]): string[] {
  const rows = doubts.map(({ row }) => row)
  const filled = columns.filter(({ cellOf }) => rows.some((row) => cellOf(row) !== ''))
  const isShared = ({ name, cellOf }: Column) =>
    name !== 'reference' && rows.length > 1 && new Set(rows.map(cellOf)).size === 1
  const shared = filled.filter(isShared).map(({ name, cellOf }) => `${name} ${cellOf(rows[0] as DoubtRow)}`)
  const own = filled.filter((column) => !isShared(column))
  return [
    ...(shared.length === 0 ? [] : [`  all: ${shared.join(', ')}`]),
    ...toTable([own.map(({ name }) => name), ...rows.map((row) => own.map(({ cellOf }) => cellOf(row)))]).map(
      (line) => `  ${line}`,
    ),
  ]
}

function judgingText(doubts: readonly Doubt[], nowMs: number): string {
  const [it, They] = doubts.length === 1 ? ['it', 'It'] : ['them', 'They']
  const untilMs = Math.max(...doubts.map(({ restUntilMs }) => restUntilMs))
  if (untilMs <= nowMs) return `${They} may be judged now.`
  const declined = doubts.some(({ row }) => row.attempt > 1) ? 'declined, ' : ''
  return `${They} may still be executed: call ${it} ${declined}not-executed or send-again from ${isoOf(untilMs)} on.`
}
