// A refund in a workbook whose amount has a number format, as it is read.

import type { Currency } from '../../src/domain/money.ts'
import { number, partsOf, rowsOf, zip } from './sheets.ts'
import { readWhole } from './table.ts'

export const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']

/** One refund whose amount and note have the style 1 of these styles. */
export async function read(styles: string, stored = '46143', currency = 'EUR') {
  const row = ['R1', 'REFUND', number(stored, 1), currency, '0123', number(stored, 1)]
  const parts = partsOf({ A: rowsOf([HEADER, row]) }, { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` })
  const { rows } = await readWhole(zip(parts), { currency: 'GBP' as Currency })
  const [found] = rows
  const [amount = '', , , note] = found?.cells.slice(2) ?? []
  return { fault: found?.faults[0]?.problem ?? null, note, amount, money: found?.instruction?.money }
}
export const cellStyles = (id: number) => `<cellXfs><xf numFmtId="0"/><xf numFmtId="${id}"/></cellXfs>`
export const format = (id: number, code: string) =>
  `<numFmt numFmtId="${id}" formatCode="${code.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"/>`
export const readAs = (code: string, stored: string, currency?: string) =>
  read(`<numFmts>${format(164, code)}</numFmts>${cellStyles(164)}`, stored, currency)
