// The names of the fields of payment files and of vault files, the gateway's and those that people give them.

import { CUSTOMER_FIELDS, type CustomerField, DETAIL_FIELDS } from '../domain/instruction.ts'

export const PAYMENT_FIELDS = [
  'reference',
  'transaction_type',
  'amount',
  'request_currency',
  'request_ref_po_id',
  'customer_vault_id',
  'save_card_on_file',
  'xtl_order_id',
  'execute_at',
  'expires_at',
  ...DETAIL_FIELDS,
] as const

/** An amount, an order and an operation are understood to be refused: a file that has them is one of payments. */
export const VAULT_FIELDS = [
  'reference',
  'transaction_type',
  'amount',
  'request_currency',
  'request_ref_po_id',
  'customer_vault_id',
  'execute_at',
  'expires_at',
  ...CUSTOMER_FIELDS,
] as const

export type CardPart = 'number' | 'code' | 'expiry' | 'month' | 'year'

/** What the gateway calls the parts of a card in a transaction. Month and year may stand in columns of their own. */
export const PAYMENT_CARD = {
  number: 'pmt_numb',
  code: 'pmt_key',
  expiry: 'pmt_expiry',
  month: 'card_exp_mm',
  year: 'card_exp_yy',
} as const

/** And in a vault record, which has month and year; one column may hold both. */
export const VAULT_CARD = {
  number: 'card_number',
  code: 'card_cvv',
  expiry: 'card_expiry',
  month: 'card_exp_mm',
  year: 'card_exp_yy',
} as const

type PaymentField = (typeof PAYMENT_FIELDS)[number]
export type CardField = (typeof PAYMENT_CARD)[CardPart] | (typeof VAULT_CARD)[CardPart]
export type Field = PaymentField | CustomerField | CardField

// An order *number* is often the shop's own and not the gateway's order id, so it is no synonym: a refund would go astray.
// Bestellnummer, numéro de commande, número de pedido and numero d'ordine are that number. Words that mean several things
// (nom, name, number, date, net or gross amounts) are left out. Accents are optional: see `squeezed`.
const PAYMENT_SYNONYMS: Readonly<Record<PaymentField, readonly string[]>> = {
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
    ...['amt', 'sum', 'value', 'transaction_amount', 'refund_amount', 'trans_value', 'trans_amount'],
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
  expires_at: [
    ...['execute_before', 'not_after', 'send_before', 'ausführen_vor', 'ausfuehren_vor'],
    ...['exécuter_avant', 'ejecutar_antes_de', 'eseguire_prima_di'],
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

/** The order id in other languages, where the operation needs one and no other column has it: in a list of sales it is the shop's. */
export const ORDER_ID_ELSEWHERE: readonly string[] = [
  ...['bestell_id', 'bestellungs_id', 'auftrags_id', 'id_commande', 'id_de_commande', 'id_de_la_commande'],
  ...['id_pedido', 'id_de_pedido', 'id_del_pedido', 'id_ordine', "id_dell'ordine"],
]

/** Where the name of a cardholder's field means the customer's. */
const AS_DETAIL = {
  first_name: 'cust_fname',
  last_name: 'cust_lname',
  email: 'cust_email',
  phone: 'cust_phone',
  address_1: 'bill_addr',
  city: 'bill_addr_city',
  state: 'bill_addr_state',
  zip: 'bill_addr_zip',
  country: 'bill_addr_country',
} as const satisfies Partial<Record<CustomerField, PaymentField>>

const CUSTOMER_SYNONYMS = Object.fromEntries(
  Object.entries(AS_DETAIL).map(([field, detail]) => [field, [detail, ...PAYMENT_SYNONYMS[detail]]]),
) as unknown as Readonly<Record<keyof typeof AS_DETAIL, readonly string[]>>

/** Clear ones only: whatever else a column of a card is called is refused, and a person maps it. */
const CARD_SYNONYMS: Readonly<Record<CardPart, readonly string[]>> = {
  number: [
    ...['pmt_numb', 'card_number', 'card_no', 'card_nr', 'card_num', 'cc_number', 'cc_no', 'cc_num', 'pan'],
    ...['credit_card_number', 'credit_card_no', 'debit_card_number', 'payment_card_number'],
    ...['kartennummer', 'karten_nr', 'kreditkartennummer', 'kreditkarten_nr'],
    ...['numéro_de_carte', 'numéro_carte', 'número_de_tarjeta', 'número_tarjeta'],
    ...['numero_di_carta', 'numero_carta', 'numero_della_carta'],
  ],
  code: [
    ...['pmt_key', 'cvv', 'cvv2', 'cvc', 'cvc2', 'csc', 'card_cvv', 'card_cvc', 'cc_cvv', 'cc_cvc', 'cvv_code'],
    ...['cvc_code', 'security_code', 'card_security_code', 'card_verification_code', 'card_verification_value'],
    ...['kartenprüfnummer', 'kartenprüfziffer', 'prüfziffer', 'prüfnummer', 'sicherheitscode'],
    ...['cryptogramme', 'cryptogramme_visuel', 'code_de_sécurité', 'código_de_seguridad', 'codice_di_sicurezza'],
  ],
  expiry: [
    ...['pmt_expiry', 'card_expiry', 'card_expiry_date', 'card_expiration', 'card_expiration_date', 'card_exp'],
    ...['card_exp_date', 'cc_expiry', 'cc_exp', 'expiry', 'expiry_date', 'expiration', 'expiration_date'],
    ...['exp_date', 'valid_thru', 'ablaufdatum', 'karte_gültig_bis', "date_d'expiration", 'fecha_de_caducidad'],
    ...['caducidad', 'scadenza_carta'],
  ],
  month: [
    ...['card_expiry_month', 'card_expiration_month', 'card_exp_month', 'cc_exp_month', 'cc_exp_mm', 'cc_expiry_mm'],
    ...['expiry_month', 'expiration_month', 'exp_month', 'exp_mm', 'expiry_mm', 'ablaufmonat'],
  ],
  year: [
    ...['card_expiry_year', 'card_expiration_year', 'card_exp_year', 'cc_exp_year', 'cc_exp_yy', 'cc_expiry_yy'],
    ...['expiry_year', 'expiration_year', 'exp_year', 'exp_yy', 'expiry_yy', 'ablaufjahr'],
  ],
}

export const SYNONYMS: Readonly<Record<Field, readonly string[]>> = {
  ...PAYMENT_SYNONYMS,
  ...CUSTOMER_SYNONYMS,
  address_2: [
    ...['address_line_2', 'street_2', 'address_2nd_line', 'billing_address_2', 'bill_address_2', 'bill_addr_2'],
    ...['adresszusatz', "complément_d'adresse", 'dirección_2', 'indirizzo_2'],
  ],
  pmt_numb: CARD_SYNONYMS.number,
  card_number: CARD_SYNONYMS.number,
  pmt_key: CARD_SYNONYMS.code,
  card_cvv: CARD_SYNONYMS.code,
  pmt_expiry: CARD_SYNONYMS.expiry,
  card_expiry: CARD_SYNONYMS.expiry,
  card_exp_mm: CARD_SYNONYMS.month,
  card_exp_yy: CARD_SYNONYMS.year,
}
