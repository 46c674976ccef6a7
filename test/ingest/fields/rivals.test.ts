// Columns beside the amount that speak of an amount as well: which one moves is not guessed.

import { describe, expect, test } from 'vitest'
import type { Currency } from '../../../src/domain/money.ts'
import { isProblem } from '../../../src/domain/problem.ts'
import { parseColumnMap } from '../../../src/ingest/columns.ts'
import type { Header } from '../../../src/ingest/header.ts'
import { headerOf } from '../table.ts'

const parsed = (line: string, ...said: string[]) => {
  const map = parseColumnMap(
    said.map((text) => ({ column: text.split('=')[0] ?? '', field: text.split('=')[1] ?? '' })),
  )
  if (isProblem(map)) throw new Error(map.problem)
  return headerOf(line, { operation: 'REFUND', currency: 'EUR' as Currency, map })
}
const header = (...args: Parameters<typeof parsed>): Header => {
  const found = parsed(...args)
  if ('kind' in found) throw new Error(found.problem)
  return found
}

describe('a column that speaks of an amount, beside one read as the amount under another name', () => {
  test.each([
    'Amount to refund',
    'Amount Refunded',
    'refundedAmount',
    'Refund',
    'Refunded',
    'REFUND_TOTAL',
    'Total',
    'Gross',
    'Net',
    'Nettobetrag',
    'Gesamtbetrag (EUR)',
    'Rückzahlung',
    'Erstattung',
    'Summe brutto',
    'Montant remboursé',
    'Remboursement',
    'Importe reembolsado',
    'Reembolso',
    'Importo rimborsato',
    'Rimborso',
    'Amt2',
    'Teilerstattung',
    'Teilrückerstattung',
    'Refund in order currency',
    'Amount to return on card',
    'Refund at cost',
    'Amount by PSP',
    'Amount on date of sale',
    'Prerefunded',
    'À rembourser',
    'Partrefund',
    'Netto by item',
  ])('refuses the file until a person says which one is meant: %s', (rival) => {
    const line = `order_id;Transaction Amount;${rival}`
    expect(parsed(line)).toMatchObject({
      kind: 'refused',
      problem: `the column "Transaction Amount" would be read as the amount, and "${rival}" could be the one that is meant`,
      remedy: `choose one: --map "Transaction Amount=amount" or --map "${rival}=amount"; or ignore the other: --map "${rival}=ignore"`,
    })
    expect(header(line, `${rival}=amount`).fields.amount).toBe(2)
    expect(header(line, 'Transaction Amount=amount').fields.amount).toBe(1)
    expect(header(line, `${rival}=ignore`)).toMatchObject({ fields: { amount: 1 }, rivals: [] })
  })

  test('may be one of several, and all are named', () => {
    expect(parsed('order_id;Betrag;Gebühr;Nettobetrag;Erstattet')).toMatchObject({
      problem:
        'the column "Betrag" would be read as the amount, and "Nettobetrag" or "Erstattet" could be the one that is meant',
    })
    expect(parsed('order_id;Betrag;Nettobetrag;Erstattet', 'Nettobetrag=ignore')).toHaveProperty('problem')
  })

  test.each([
    'Refund reason',
    'Refund ID',
    'refund_date',
    'Refunded at',
    'Amount currency',
    'Erstattungsgrund',
    'Erstattungsdatum',
    'Refund status',
    'Total items',
    'Netherlands',
    'Internet',
    'note',
    'Fee',
    'Numéro de remboursement',
    'Refund requested by',
    'Refund on',
    'Currency of the refund',
    'Erstattung Währung',
    'Erstattungsart',
    'Date of refund',
    'Refund date in UTC',
  ])('is not %s', (name) => {
    expect(header(`order_id;Betrag;${name}`).rivals).toEqual([])
  })
})

test('beside the gateway’s own column, or one that a person named, it is shown and allowed', () => {
  expect(header('order_id;Amount;Amount Refunded;Converted Amount').rivals).toEqual([
    'Amount Refunded',
    'Converted Amount',
  ])
  expect(header('order_id;Umsatz;Betrag', 'Umsatz=amount').rivals).toEqual(['Betrag'])
})

describe('a column that says which way the money goes, beside the amount', () => {
  test.each([
    'Debit/Credit',
    'Credit/Debit',
    'debit_credit',
    'DebitCredit',
    'Debit',
    'Credit',
    'D/C',
    'C/D',
    'DC',
    'Soll/Haben',
    'S/H',
    'Soll',
    'Haben',
    'Soll-/Haben-Kennzeichen',
    'Credit Debit Indicator',
    'CdtDbtInd',
    'DR/CR',
    'Débit/Crédit',
    'Sens',
    'Dare/Avere',
    'Debe/Haber',
    'Direction',
    'Sign',
    'Vorzeichen',
  ])('refuses the file until a person says that it is not meant: %s', (name) => {
    for (const amount of ['amount', 'Betrag']) {
      const line = `order_id;${amount};${name}`
      const found = parsed(line)
      expect(found).toMatchObject({
        kind: 'refused',
        problem: `the column "${name}" says which way the money of a row goes, and it is not read`,
      })
      expect(found).toHaveProperty('remedy', expect.stringContaining(`--map "${name}=ignore"`))
      expect(parsed(line, `${amount}=amount`)).toHaveProperty('problem')
      expect(header(line, `${name}=ignore`).fields.amount).toBe(1)
    }
  })

  test.each(['Credit card type', 'Credit note', 'Debitor', 'Credit account', 'S', 'Sollzinsen', 'Credit limit'])(
    'is not %s',
    (name) => {
      expect(header(`order_id;amount;${name}`).unknown).toEqual([name])
    },
  )

  test('is one of the results in them', () => {
    expect(header('order_id;amount;result_reference;note').fields.amount).toBe(1)
  })
})

test('columns of results and rejects are no rivals', () => {
  const line = 'order_id;Betrag;result_reference;result_amount;result_requested_amount;reject_value'
  expect(header(line).rivals).toEqual([])
})
