// The columns this program understands, under the gateway's names and under those that people give them.

import { DETAIL_FIELDS } from '../domain/instruction.ts'
import { toLowerAscii } from '../domain/keyword.ts'
import { isProblem, type Problem, shown } from '../domain/problem.ts'
import { REJECT_COLUMNS, RESULT_COLUMNS, VAULT_RESULT_COLUMNS } from '../domain/result-columns.ts'
import { type CardKind, cardKindsOf } from './cards/columns.ts'

const FIELDS = [
  'reference',
  'transaction_type',
  'amount',
  'request_currency',
  'request_ref_po_id',
  'customer_vault_id',
  'save_card_on_file',
  'xtl_order_id',
  'execute_at',
  ...DETAIL_FIELDS,
] as const
export type Field = (typeof FIELDS)[number]

// An order *number* is often the shop's own and not the gateway's order id, so it is no synonym: a refund would go astray.
// For the same reason the order id has none in other languages than the gateway's own; a person maps it. Words that mean
// several things (nom, name, number, date, net or gross amounts) are left out. Accents are optional: see `squeezed`.
const SYNONYMS: Readonly<Record<Field, readonly string[]>> = {
  reference: [
    ...['ref', 'reference_no', 'reference_number', 'payment_reference', 'our_reference', 'client_reference'],
    ...['referenz', 'referenznummer', 'zahlungsreferenz', 'unsere_referenz'],
    ...['référence_de_paiement', 'numéro_de_référence', 'notre_référence'],
    ...['referencia', 'referencia_de_pago', 'número_de_referencia', 'nuestra_referencia'],
    ...['riferimento', 'riferimento_pagamento', 'numero_di_riferimento', 'nostro_riferimento'],
  ],
  transaction_type: [
    ...['operation', 'type', 'operation_type', 'trans_type', 'txn_type', 'action'],
    ...['vorgang', 'vorgangsart', 'transaktionsart', 'transaktionstyp'],
    ...["type d'opération", 'type_opération', 'type_de_transaction'],
    ...['operación', 'tipo_de_operación', 'tipo_operación', 'tipo_de_transacción'],
    ...['operazione', 'tipo_operazione', 'tipo_di_operazione', 'tipo_transazione', 'tipo_di_transazione'],
  ],
  amount: [
    ...['amt', 'sum', 'value', 'transaction_amount', 'refund_amount'],
    ...['betrag', 'transaktionsbetrag', 'erstattungsbetrag', 'rückerstattungsbetrag'],
    ...['montant', 'montant_du_remboursement', 'montant_de_la_transaction'],
    ...['importe', 'monto', 'importe_del_reembolso', 'importe_de_la_transacción'],
    ...['importo', 'importo_del_rimborso', 'importo_rimborso', 'importo_transazione'],
  ],
  request_currency: [
    ...['currency', 'currency_code', 'ccy', 'trans_cur'],
    ...['währung', 'waehrung', 'währungscode', 'waehrungscode'],
    ...['devise', 'code_devise', 'monnaie', 'moneda', 'divisa', 'código_de_moneda', 'valuta', 'codice_valuta'],
  ],
  request_ref_po_id: ['order_id', 'trans_order_id', 'gateway_order_id', 'original_order_id', 'ref_po_id', 'po_id'],
  customer_vault_id: [
    ...['vault_id', 'vault', 'customer_vault', 'card_vault_id'],
    ...['kunden_vault_id', 'id_vault', 'id_du_vault', 'id_del_vault', 'vault_id_client', 'vault_id_cliente'],
  ],
  save_card_on_file: [
    ...['save_card', 'store_card', 'karte_speichern', 'enregistrer_la_carte', 'guardar_tarjeta', 'salva_carta'],
  ],
  xtl_order_id: ['external_order_id', 'ext_order_id', 'merchant_order_id'],
  execute_at: [
    ...['execute_after', 'not_before', 'send_at', 'scheduled_at'],
    ...['ausführen_ab', 'ausfuehren_ab', 'ausführungszeitpunkt', 'ausfuehrungszeitpunkt'],
    ...['exécuter_à_partir_de', "date_d'exécution", 'ejecutar_a_partir_de', 'fecha_de_ejecución'],
    ...['eseguire_da', 'data_di_esecuzione', 'data_esecuzione'],
  ],
  cust_fname: [
    ...['first_name', 'fname', 'given_name', 'forename', 'customer_first_name'],
    ...['vorname', 'prénom', 'nombre_de_pila', 'nome_di_battesimo'],
  ],
  cust_lname: [
    ...['last_name', 'lname', 'surname', 'family_name', 'customer_last_name'],
    ...['nachname', 'familienname', 'zuname', 'nom_de_famille', 'apellido', 'apellidos', 'cognome'],
  ],
  cust_email: [
    ...['email', 'e_mail', 'mail', 'email_address', 'customer_email'],
    ...['e_mail_adresse', 'mailadresse', 'courriel', 'adresse_e_mail', 'adresse_électronique'],
    ...['correo', 'correo_electrónico', 'dirección_de_correo', 'posta_elettronica', 'indirizzo_e_mail'],
  ],
  cust_phone: [
    ...['phone', 'telephone', 'phone_number', 'customer_phone'],
    ...['telefon', 'telefonnummer', 'numéro_de_téléphone', 'teléfono', 'número_de_teléfono', 'numero_di_telefono'],
  ],
  bill_addr: [
    ...['address', 'address_1', 'address_line_1', 'street', 'billing_address', 'bill_address'],
    ...['adresse', 'straße', 'rechnungsadresse', 'rue', 'adresse_de_facturation'],
    ...['dirección', 'calle', 'dirección_de_facturación', 'indirizzo', 'indirizzo_di_fatturazione'],
  ],
  bill_addr_city: [
    ...['city', 'town', 'billing_city', 'bill_city'],
    ...['ort', 'stadt', 'wohnort', 'ville', 'ciudad', 'città'],
  ],
  bill_addr_state: ['state', 'province', 'billing_state', 'bill_state', 'bundesland', 'provincia'],
  bill_addr_zip: [
    ...['zip', 'zip_code', 'postcode', 'postal_code', 'billing_zip', 'bill_zip'],
    ...['plz', 'postleitzahl', 'code_postal', 'código_postal', 'codice_postale'],
  ],
  bill_addr_country: [
    ...['country', 'country_code', 'billing_country', 'bill_country'],
    ...['land', 'ländercode', 'laendercode', 'pays', 'code_pays', 'país', 'código_de_país', 'paese', 'codice_paese'],
  ],
}

/** As one word too, `numerodecarte`; card-columns.ts knows them by their words. */
const CARD_NAMES = [
  ...[
    'pmt_numb',
    'pmt_key',
    'pmt_expiry',
    'pan',
    'card_number',
    'card_no',
    'cc_number',
    'credit_card',
    'credit_card_number',
  ],
  ...['cvv', 'cvv2', 'cvc', 'cvc2', 'csc', 'card_cvv', 'card_cvc', 'security_code', 'card_security_code'],
  ...['card_expiry', 'card_expiry_date', 'card_exp_mm', 'card_exp_yy'],
  ...['kartennummer', 'kreditkartennummer', 'kartenprüfnummer', 'kartenprüfziffer', 'prüfziffer'],
  ...['numéro_de_carte', 'numéro_carte', 'cryptogramme', 'número_de_tarjeta', 'número_tarjeta'],
  ...['numero_di_carta', 'numero_carta', 'numero_della_carta', 'codice_di_sicurezza', 'código_de_seguridad'],
]

/** A name as it is compared where only letter case, quotation marks and what cannot be seen may differ. */
export function plainName(name: string): string {
  if (PLAIN.test(name)) return name.trim().toLowerCase()
  return name
    .replace(/[\p{Cf}"]/gu, '')
    .trim()
    .normalize('NFC')
    .toLowerCase()
}

/** Nothing in it but what most cells have: the long way round costs, and every row is asked. */
const PLAIN = /^[\w .-]*$/

/** `Order ID`, `order-id`, `orderId` and `"ORDER_ID"` are one name; so are `Währung` and `wahrung`. */
export function squeezed(name: string): string {
  if (PLAIN.test(name)) return name.replace(/[ _.-]+/g, '').toLowerCase()
  return name
    .normalize('NFKD')
    .replace(/[\s\p{M}\p{Cf}_./'’"-]+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
}

const FIELD_BY_NAME: ReadonlyMap<string, Field> = new Map(
  FIELDS.flatMap((field) => [field, ...SYNONYMS[field]].map((name) => [squeezed(name), field] as const)),
)
const CARD_NAME_SET: ReadonlySet<string> = new Set(CARD_NAMES.map(squeezed))
const RESULT_NAME_SET: ReadonlySet<string> = new Set([...RESULT_COLUMNS, ...VAULT_RESULT_COLUMNS])
const REJECT_NAME_SET: ReadonlySet<string> = new Set(REJECT_COLUMNS)

export function fieldOf(column: string): Field | undefined {
  return FIELD_BY_NAME.get(squeezed(column))
}

/** Columns meant for card data. This version takes none: it executes vaulted cards and orders only. */
export function isCardColumn(column: string): boolean {
  return cardKindsIn(column).length > 0
}

/** What such a column may not hold; empty: it is none. A name that is known as one word only may hold nothing. */
export function cardKindsIn(column: string): readonly CardKind[] {
  const kinds = cardKindsOf(column)
  return kinds.length === 0 && CARD_NAME_SET.has(squeezed(column)) ? ['any'] : kinds
}

export function isResultColumn(column: string): boolean {
  return RESULT_NAME_SET.has(plainName(column))
}

/** What a person said of a column by name; null: it is carried through and not understood. */
export interface MappedColumn {
  readonly column: string
  readonly field: Field | null
}

/** As the command line or a saved format has it; an empty field or `ignore` takes a column's meaning away. */
export interface SaidColumn {
  readonly column: string
  readonly field: string
}

/** Checked as far as it can be without a file. */
export function parseColumnMap(said: readonly SaidColumn[]): readonly MappedColumn[] | Problem {
  const map: MappedColumn[] = []
  for (const { column, field: name } of said) {
    const field = parseMappedField(name)
    if (isProblem(field)) return field
    const reserved = reservedProblem(column)
    if (reserved !== null) return reserved
    const again = map.find((entry) => plainName(entry.column) === plainName(column))
    const rival = field === null ? undefined : map.find((entry) => entry.field === field)
    if (again !== undefined || rival !== undefined) {
      const columns = `"${shown((again ?? rival)?.column ?? '')}" and "${shown(column)}"`
      return {
        problem:
          again === undefined ? `${columns} are both mapped to ${field}` : `${columns} are one column, mapped twice`,
        remedy: 'map each column once, and one column to a field',
      }
    }
    map.push({ column, field })
  }
  return map
}

function parseMappedField(name: string): Field | null | Problem {
  const wanted = toLowerAscii(name.trim())
  if (wanted === '' || wanted === 'ignore') return null
  const field = FIELDS.find((known) => known === wanted)
  if (field !== undefined) return field
  if (isCardColumn(name)) {
    return {
      problem: `"${shown(name)}" is a field for card data, which never travels through this program`,
      remedy: 'use customer_vault_id (a stored card) or request_ref_po_id (an order)',
    }
  }
  const meant = fieldOf(name) ?? nearestName(name, FIELDS)
  return {
    problem: `"${shown(name)}" is not a field`,
    remedy: `${meant === null ? '' : `is ${meant} meant? The `}fields are ${FIELDS.join(', ')}, or ignore`,
  }
}

function reservedProblem(column: string): Problem | null {
  if (column.trim() === '') {
    return { problem: 'a column without a name cannot be mapped', remedy: 'give the column a name in the file' }
  }
  if (isCardColumn(column)) {
    return {
      problem: `"${shown(column)}" is a column for card data, which never travels through this program`,
      remedy: 'take the column out of the file; if it holds something else, rename it there',
    }
  }
  if (!isResultColumn(column) && !isRejectColumn(column)) return null
  return {
    problem: `"${shown(column)}" is a column of results or rejects`,
    remedy: 'map the columns of the input only',
  }
}

/** The one name that was meant and mistyped; null: none, or more than one could be. */
export function nearestName<T extends string>(written: string, names: readonly T[]): T | null {
  const near = names.filter((name) => isSlipOf(written, name))
  return near.length === 1 ? (near[0] as T) : null
}

/** Shorter words are each other's neighbours: month and monto, order and owner. */
const LETTERS_SURE = 6

/**
 * One letter too many, too few or another one, or two letters swapped, and never the first letter or a digit. More than
 * that is another word, and a column proposed for it would move money by what it holds.
 */
export function isSlipOf(written: string, name: string): boolean {
  const [a, b] = [squeezed(written), squeezed(name)]
  if (a === b || b.length < LETTERS_SURE || a[0] !== b[0] || digitsOf(a) !== digitsOf(b)) return false
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start += 1
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const [inA, inB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const isSwap = inA.length === 2 && inB.length === 2 && inA[0] === inB[1] && inA[1] === inB[0]
  return isSwap || (inA.length <= 1 && inB.length <= 1)
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** What a file of rejects says about its rows: nothing of it is the row's. */
export function isRejectColumn(column: string): boolean {
  return REJECT_NAME_SET.has(plainName(column))
}

/** Every name a field goes by, squeezed; for finding what a mistyped column was meant to be. */
export function namesOf(field: Field): readonly string[] {
  return [field, ...SYNONYMS[field]].map(squeezed)
}
