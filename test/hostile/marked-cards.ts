// Cards that were never issued and can be searched for: all of a brand begin with the same eleven digits, and a code of four
// digits stands nowhere by chance.

import { passesLuhn } from '../../src/domain/card-number.ts'
import { PASSWORD } from './canaries.ts'
import type { Sought } from './search.ts'

export interface MarkedCard {
  readonly number: string
  readonly code: string
}

const VISA = '41111173519'
const AMEX = '37828259148'

export const SOUGHT: Sought = {
  numbers: [VISA, AMEX],
  longCodes: ['9317', '8642'],
  shortCodes: ['737'],
  passwords: [PASSWORD],
}

/** Every second is of American Express. There are two thousand, no two with the same last four digits and brand. */
export function markedCard(i: number): MarkedCard {
  const no = Math.floor(i / 2)
  if (i % 2 === 0) return { number: complete(`${VISA}${String(no).padStart(4, '0')}`), code: '737' }
  return { number: complete(`${AMEX}${String(no).padStart(3, '0')}`), code: no % 2 === 0 ? '9317' : '8642' }
}

function complete(start: string): string {
  return [...'0123456789'].map((last) => start + last).find(passesLuhn) as string
}

/** Makes a file longer than what is read of it ahead. */
const NOTE = 'as agreed with the customer '.repeat(12).trim()

const HOLDER = ['first_name', 'last_name', 'email', 'phone', 'address_1', 'city', 'state', 'zip', 'country']
const ADDRESS = ['555 0100', 'Bond Street 1', 'London', 'LDN', 'W1S 1AA', 'GB']

/** Of `tranche vault create`; with vault ids, of `update`. */
export function markedVaultFile(cards: readonly MarkedCard[], prefix: string, vaultIds?: readonly string[]): string {
  const names = ['reference', ...(vaultIds === undefined ? [] : ['customer_vault_id']), ...HOLDER]
  return toLines(
    [...names, 'card_number', 'card_exp_mm', 'card_exp_yy', 'card_cvv', 'note'],
    cards.map(({ number, code }, i) => {
      const id = vaultIds === undefined ? [] : [vaultIds[i] ?? '']
      const name = `${prefix}-${i}`
      const holder = ['Ada', `Byron ${name}`, `${name}@example.org`, ...ADDRESS]
      return [name, ...id, ...holder, number, '12', '30', code, NOTE]
    }),
  )
}

/** Sales by card, for `tranche run`. */
export function markedSales(cards: readonly MarkedCard[], prefix: string): string {
  return toLines(
    [
      'reference',
      'transaction_type',
      'amount',
      'request_currency',
      'xtl_order_id',
      'pmt_numb',
      'pmt_key',
      'pmt_expiry',
      'note',
    ],
    cards.map(({ number, code }, i) => [
      ...[`${prefix}-${i}`, 'CAPTURE', `${10 + (i % 80)}.25`, 'EUR', `X${prefix}${i}`, number, code, '12/2030', NOTE],
    ]),
  )
}

function toLines(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${[header, ...rows].map((cells) => cells.join(',')).join('\n')}\n`
}
