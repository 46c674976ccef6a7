// What must hold whatever was done to anything: by the gateway's own log, target for target, past every id that an answer told.

import { booksOf, compareBooks, type Keeping, readCsv, recordedIn } from '../fixtures/books.ts'
import { plainOrder } from '../fixtures/entries.ts'
import type { RawGateway } from './gateway.ts'

export interface Reported {
  readonly input: string | null
  readonly out: string
}

/** How the three books differ, in words; none is what must be. */
export function lies(ledgerPath: string, gateway: RawGateway, ...reports: readonly Reported[]): string[] {
  const keeping: Keeping = { ledgerPath, sandbox: gateway }
  return [
    ...lieIn('the ledger', recordedFor(keeping), gateway.executed()),
    ...(reports.length === 0 ? [] : lieIn('the reconciliation', reportedFor(reports), gateway.executed())),
    ...compareBooks(booksOf(keeping, ...reports)),
  ]
}

/** Target at the gateway → statuses of the rows that name it. */
type Statuses = ReadonlyMap<string, readonly string[]>

function recordedFor(keeping: Keeping): Statuses {
  const rows = recordedIn(keeping).filter(({ state }) => state !== 'INVALID' && state !== 'DUPLICATE')
  return statusesBy(rows, (row) => [row.order_key ?? row.xtl_order_id ?? '', row.state])
}

/** Of a duplicate the first one tells. */
function reportedFor(reports: readonly Reported[]): Statuses {
  const lines = reports.flatMap(({ out }) => readCsv(out)).filter(({ result_status: status }) => status !== 'DUPLICATE')
  return statusesBy(lines, (line) => [
    plainOrder(line.request_ref_po_id ?? '') || line.xtl_order_id || '',
    line.result_status ?? '',
  ])
}

function statusesBy<T>(all: readonly T[], read: (one: T) => [target: string, status: string]): Statuses {
  const statuses = new Map<string, string[]>()
  for (const one of all) {
    const [target, status] = read(one)
    statuses.set(target, [...(statuses.get(target) ?? []), status])
  }
  return statuses
}

/** Money moved for every row that is APPROVED, perhaps for one in doubt or being sent, and for no other. */
export function lieIn(book: string, statuses: Statuses, executed: ReadonlyMap<string, number>): string[] {
  return [...new Set([...statuses.keys(), ...executed.keys()])].flatMap((target) => {
    const told = statuses.get(target) ?? []
    const times = executed.get(target) ?? 0
    const certain = told.filter((status) => status === 'APPROVED').length
    const perhaps = told.filter((status) => status === 'IN_DOUBT' || status === 'SENDING').length
    return certain <= times && times <= certain + perhaps
      ? []
      : [`${target} was executed ${times} times, ${book} has it as ${told.join(', ')}`]
  })
}
