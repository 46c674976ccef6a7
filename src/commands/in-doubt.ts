// tranche in-doubt list: the worklist, with all a person needs to look each transaction up at the gateway.

import { writeFile } from 'node:fs/promises'
import { type App, openRecordToRead, toCsv } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { DoubtRow } from '../domain/ports.ts'
import { isoOf } from '../domain/progress.ts'
import { amountText, EXIT, plural, type Terminal } from './terminal.ts'

export interface InDoubtArguments {
  readonly out?: string
}

const COLUMNS = [
  'reference',
  'attempt',
  'operation',
  'amount',
  'currency',
  'order_id',
  'vault_id',
  'xtl_order_id',
  'sent_at',
  'reason',
  'merchant',
  'batch',
  'row',
] as const

export async function listInDoubt(app: App, given: InDoubtArguments, terminal: Terminal): Promise<number> {
  const ledger = await openRecordToRead(app)
  try {
    const doubts = (await ledger.doubts()).map(toRecord)
    terminal.object({ in_doubt: doubts })
    if (given.out !== undefined)
      await write(
        given.out,
        await toCsv(
          [...COLUMNS],
          doubts.map((doubt) => COLUMNS.map((name) => String(doubt[name]))),
        ),
        terminal,
      )
    else for (const doubt of doubts) show(doubt, terminal)
    terminal.say(
      doubts.length === 0
        ? 'No row is in doubt.'
        : `${plural(doubts.length, 'row', 'rows')} may have been executed and will never be sent again by the machine. Look each one up at the gateway by its order id or xtl_order_id and the time it was sent.`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

type DoubtRecord = Record<(typeof COLUMNS)[number], string | number>

function toRecord(doubt: DoubtRow): DoubtRecord {
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
    xtl_order_id: instruction.xtlOrderId ?? '',
    sent_at: sentAtMs === null ? '' : isoOf(sentAtMs),
    reason: doubt.reason ?? '',
    merchant: doubt.merchant,
    batch: doubt.batchId,
    row: doubt.rowNo,
  }
}

function show(doubt: DoubtRecord, terminal: Terminal): void {
  const target = [
    doubt.order_id === '' ? null : `order ${doubt.order_id}`,
    doubt.vault_id === '' ? null : `vault ${doubt.vault_id}`,
    doubt.xtl_order_id === '' ? null : `xtl_order_id ${doubt.xtl_order_id}`,
  ].filter((part) => part !== null)
  terminal.data(`${doubt.reference}  ${doubt.operation} ${doubt.amount} ${doubt.currency}`.trimEnd())
  terminal.data(
    `  ${target.join(', ')}; ${doubt.sent_at === '' ? 'nobody knows when it was sent' : `sent ${doubt.sent_at}`}; merchant ${doubt.merchant}; row ${doubt.row} of batch ${doubt.batch}, attempt ${doubt.attempt}`,
  )
  terminal.data(`  ${doubt.reason}`)
}

async function write(path: string, text: string, terminal: Terminal): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why =
      code === 'EEXIST'
        ? 'exists already; name another, so that no list is lost'
        : `cannot be written (${String(code)})`
    throw new Fault('usage', `${path} ${why}.`, { cause: error })
  }
  terminal.data(`Worklist: ${path}`)
}
