// All of a ledger, copied from one engine to another, and read back: what arrived is what was sent, value by value.

import { createHash, type Hash } from 'node:crypto'
import { Fault } from '../domain/fault.ts'
import { TABLES, type TableStore } from './texts/tables.ts'

/** Faults where anything arrived in another form. `onTable` is called before each. */
export async function copyTables(
  from: TableStore,
  to: TableStore,
  onTable: (name: string) => void = () => {},
): Promise<void> {
  for (const table of TABLES) {
    onTable(table.name)
    const known = new Set(await to.columnsOf(table))
    const columns = (await from.columnsOf(table)).filter((column) => known.has(column))
    const [sent, arrived] = [createHash('sha256'), createHash('sha256')]
    await to.write(table, columns, noting(from.read(table, columns), sent))
    for await (const part of to.read(table, columns)) arrived.update(part)
    if (sent.digest('hex') !== arrived.digest('hex')) throw differsFault(table.name)
  }
}

async function* noting(lines: AsyncIterable<string | Buffer>, digest: Hash): AsyncIterable<string | Buffer> {
  for await (const part of lines) {
    digest.update(part)
    yield part
  }
}

function differsFault(name: string): Fault {
  return new Fault(
    'storage',
    `The copy of the ledger is not what it was copied from: the table ${name} differs. It was thrown away, and the ledger itself is untouched. Run it again; if it differs again, look at the disks of both.`,
  )
}
