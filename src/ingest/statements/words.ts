// What people write for currencies, parts of a currency, progress, decisions and days, in the languages that columns are understood
// in and some others. Words are in small letters and without accents; `_` is a blank.

/** Whole cells. */
function setOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ').map((word) => word.replaceAll('_', ' '))))
}

/** In a name, one word of it. */
function wordOf(...lines: readonly string[]): RegExp {
  return new RegExp(`(?<![^ ])(?:${lines.join(' ').replaceAll(' ', '|')})(?![^ ])`, 'u')
}

/** All of a name. */
export function nameOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join('|')})$`, 'u')
}

// ───────────────────────────────────────────────────────────── Currencies

/** Beside the code and the signs that Unicode has for a currency. A word of several currencies may stand for each. */
export const CURRENCY_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  EUR: setOf('euro euros eur'),
  USD: setOf(
    'us$ $us usd$ us_dollar us_dollars american_dollars dollars_us dollars_americains dolares_americanos dolares_estadounidenses dollari_americani us-dollar 美元',
    'dollar dollars dolar dolares dollaro dollari',
  ),
  CAD: setOf('c$ $ca cdn$ canadian_dollar canadian_dollars dollars_canadiens dollar dollars dolar dolares'),
  AUD: setOf('au$ australian_dollar australian_dollars dollar dollars dolar dolares'),
  NZD: setOf('nz$ zealand_dollars dollar dollars'),
  HKD: setOf('hk$ kong_dollar kong_dollars dollar dollars 港币 港元'),
  SGD: setOf('s$ singapore_dollar singapore_dollars dollar dollars'),
  TWD: setOf('元 dollar dollars'),
  MXN: setOf('mex$ pesos_mexicanos peso pesos'),
  ...{ ARS: setOf('peso pesos'), CLP: setOf('peso pesos'), COP: setOf('peso pesos'), PHP: setOf('peso pesos') },
  ...{ UYU: setOf('peso pesos'), DOP: setOf('peso pesos') },
  GBP: setOf('￡ sterling pound pounds british_pounds livres_sterling libras_esterlinas sterline pfund'),
  EGP: setOf('pound pounds'),
  CHF: setOf('fr sfr swiss_francs francs_suisses schweizer_franken franken franchi francs francos'),
  ...{ XOF: setOf('francs_cfa fcfa francs'), XAF: setOf('francs_cfa fcfa francs'), XPF: setOf('francs') },
  ...{ SEK: setOf('kronor'), NOK: setOf('kroner'), DKK: setOf('kroner'), ISK: setOf('kronur') },
  ...{ PLN: setOf('zł zl zloty zlotych'), CZK: setOf('kc korun koruna'), HUF: setOf('forint'), RON: setOf('lei leu') },
  ...{ MDL: setOf('lei leu'), BGN: setOf('лв leva'), RSD: setOf('din дин dinara'), TRY: setOf('tl lira') },
  ...{
    RUB: setOf('руб rubel rubles rublos'),
    UAH: setOf('грн hryvnia'),
    ILS: setOf('shekel shekels'),
    ZAR: setOf('rand'),
  },
  INR: setOf('rs ₨ rupee rupees indian_rupees'),
  ...{ PKR: setOf('rs ₨ rupee rupees'), LKR: setOf('rs ₨ rupee rupees'), NPR: setOf('rs ₨ rupee rupees') },
  MUR: setOf('rs ₨ rupee rupees'),
  ...{
    JPY: setOf('￥ 円 jp¥ yen 日元 日圓'),
    CNY: setOf('￥ 元 rmb yuan renminbi 人民币 人民幣'),
    KRW: setOf('원 ￦'),
  },
  ...{ BRL: setOf('reais'), THB: setOf('baht'), MYR: setOf('rm ringgit'), IDR: setOf('rp rupiah') },
  ...{ VND: setOf('dong'), NGN: setOf('naira'), KES: setOf('ksh shilling shillings'), AED: setOf('dirham dirhams') },
  ...{ MAD: setOf('dirham dirhams'), SAR: setOf('riyal riyals'), QAR: setOf('riyal riyals') },
}

/** Signs that people use for one currency, though others have them too; `$`, `¥` and `kr` are several. */
export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  ...{ '€': 'EUR', '£': 'GBP', '₹': 'INR', '₺': 'TRY', '₴': 'UAH', '₪': 'ILS', '₫': 'VND', '₩': 'KRW', '₱': 'PHP' },
  ...{ '₽': 'RUB', '₦': 'NGN', '₾': 'GEL', '₸': 'KZT', zł: 'PLN', Kč: 'CZK', US$: 'USD', A$: 'AUD' },
  ...{ CA$: 'CAD', AU$: 'AUD', HK$: 'HKD', NZ$: 'NZD', R$: 'BRL' },
}

/** Codes that are words as well, even in capitals; and those that are words in small letters. */
export const WORDS_AS_CODES = setOf('all top')
export const SMALL_WORDS_AS_CODES = setOf('all top try pen gel mad bob ron cop mop sos lak bam cup ars ern ang mur che')

/** In the name of a column of codes: it is that of something else than the amount. */
export const FEES = wordOf(
  'fee fees commission tax vat gebuhr gebuhren frais comision comisiones commissione commissioni',
)

// ───────────────────────────────────────────────────────────── Parts and multiples of a currency

/** With their accents: `öre` is money, and Italian `ore` are hours. */
export const MINOR_UNITS = wordOf(
  'cent cents centen ct cts eurocent eurocents eurct minor subunit subunits hundredths centi hundertstel',
  'centime centimes céntimo céntimos centimo centimos centavo centavos centesimo centesimi rappen',
  'penny pennies pence paise paisa öre øre groszy grosze groszach gr haléř haléřů haléřích haleru kopek kopeks копеек копейки fen 分 銭 sen',
)
export const MULTIPLES = wordOf(
  'k thousand thousands thsd tsd tkr tausend milliers miles mille migliaia mila tys 000 1000 1000s 000s 千 千円 千元',
  'mio mln mn million millions millionen millones milioni 百万 百万円 万 万円 万元 lakh lakhs crore crores',
  'bn billion billions mrd milliarde milliarden milliards miliardi 億 億円',
)

/** "×1000", "1/100". */
export const HUNDREDFOLD = /[x×*]\s?100(?!\d)|1\/100(?!\d)/iu
export const THOUSANDFOLD = /[x×*]\s?1000+(?!\d)/iu
/** TEUR, kUSD, M€; of the codes that it is written with, because TRON is another word. */
export const MULTIPLE_OF_CURRENCY =
  /(?<![^ ])(?:T|K|k|M|Mio)(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|CZK|PLN|HUF|\p{Sc})(?![^ ])/u

/** In a line above the column names: it is about all amounts. */
export const AMOUNTS_SAID = wordOf(
  'amount amounts figures values prices sums totals all betrag betrage betraege summen angaben werte preise alle',
  'montant montants chiffres importe importes valores cifras importo importi valori bedrag bedragen kwota kwoty belopp',
  'currency currencies ccy wahrung wahrungen waehrung devise monnaie moneda divisa valuta waluta unit units einheit unite unidad unita 金額 金额 単位 单位 通貨 货币 币种',
)
/** Between the words of a unit: "thousands of US dollars". */
export const BETWEEN_UNITS = setOf('of de d di in en us whole full ganzen and und')

// ───────────────────────────────────────────────────────────── Progress

/** A cell is compared as a whole, without blanks and accents, but for the nouns below. */
export const DONE = setOf(
  'done complete completed success successful succeeded ok cleared approved refunded voided',
  'processed executed closed finished partiallyrefunded partialrefund fullyrefunded credited reimbursed repaid',
  'abgeschlossen erledigt erl gutgeschrieben uberwiesen ausgezahlt ausgefuhrt erfolgreich erstattet teilweiseerstattet ruckerstattet zuruckerstattet verarbeitet',
  'termine effectue rembourse reussi traite fait credite verse vire regle abonado realizado completado reembolsado devuelto procesado hecho completato rimborsato eseguito fatto',
  '返金済み 返金済 処理済み 対応済 対応済み 完了 已退款 完成 已完成 成功 退款成功',
)
/** Of the payment: it must be there before it can be refunded or voided. */
export const PAID = setOf(
  'paid settled posted booked captured charged partiallypaid authorized authorised',
  'gebucht bezahlt verbucht genehmigt paye comptabilise pagado contabilizado pagato contabilizzato',
)
export const NOT_DONE = setOf(
  'pending denied declined failed rejected refused reversed blocked held onhold unclaimed unpaid expired uncaptured incomplete',
  'error processing inprogress notcompleted requirescapture requiresaction temporaryhold underreview',
  'vorgemerkt ausstehend abgelehnt fehlgeschlagen zuruckgewiesen inbearbeitung inprufung unbezahlt abgelaufen',
  'enattente refuse rejete echoue encours pendiente rechazado fallido enproceso insospeso inattesa rifiutato fallito',
)
/** Not done, and meant to be. */
export const OPEN = setOf('open new todo topay torefund offen neu ouvert nouveau abierto nuevo aperto nuovo')
/** Of a booking, and of nothing that somebody wants done. */
export const PLAIN = setOf('vorgemerkt')
export const NOUNS =
  /^(?:umsatz|buchung|zahlung|payment|transaction|refund|transaktion|operation|paiement|pago|pagamento)/
export const YES = setOf('yes y true x 1 ja j oui si sim tak ✓ ✔ ☑ ✅ wahr vrai verdadero vero 是 はい ○')
export const DAY = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}/
/** Who cancelled a booking is no progress of its refund. */
export const CANCELLED_BY = /(?<=^cancell?ed)by.*/
/** By hand, in a column of any name: beside empty cells it marks rows off. */
export const TICKS = setOf('x xx xxx ✓ ✔ ☑ ✅ √ ok okay 済 ○ ◯ ●')

/** Ends of the words that a name has for progress: also `Buchungsstatus` and `返金状態`. */
export const STATUS = /(?:status|statut|estatus|ステータス|状態|状态|状況)(?![^ ])/u
/** Also a part of a country, or the condition of goods: what the cells say decides. */
export const STATES = wordOf('state zustand stato estado etat')
/** Whose progress is another matter than the money's: how words of its name begin. */
export const OTHER_THINGS = new RegExp(
  `(?<![^ ])(?:${[
    ...['addr', 'adress', 'indirizzo', 'direccion', 'dispute', 'payout', 'auszahlung', 'fulfil', 'ship', 'deliver'],
    ...['versand', 'liefer', 'livraison', 'envio', 'entrega', 'spedizione', 'consegna', 'cvc', 'cvv', 'avs', 'zip'],
    ...['marketing', 'marital', 'member', 'subscri', 'employ', 'familien', 'inventory', 'stock', 'kyc', 'http'],
    'newsletter',
  ].join('|')})`,
  'u',
)
/** What was done to a row. */
export const DONE_NAMES = wordOf(
  'done refunded processed completed executed finished closed voided credited reimbursed repaid',
  'erledigt erl erstattet ruckerstattet zuruckerstattet gutgeschrieben uberwiesen ausgezahlt verarbeitet bearbeitet ausgefuhrt abgeschlossen',
  'fait rembourse remboursee traite traitee termine terminee effectue effectuee credite creditee verse versee vire',
  'hecho reembolsado reembolsada devuelto procesado procesada completado ejecutado abonado abonada realizado',
  'fatto rimborsato rimborsata elaborato completato eseguito accreditato 返金済み 返金済 処理済み 対応済 已退款',
  'terugbetaald gedaan afgehandeld verwerkt zwrocono wykonano wykonane aterbetald',
)
/** Not the French `payée`, which without its accent is the English word for the person who is paid. */
export const PAID_NAMES = wordOf(
  'paid captured settled booked charged bezahlt gebucht paye pagado pagada pagato pagata',
)
/** With a moment or an id: what is there once a row is done. */
export const UNDOINGS = wordOf(
  'refund refunds void reversal erstattung ruckerstattung ruckzahlung gutschrift remboursement reembolso devolucion rimborso 返金 退款',
)
export const MOMENTS = wordOf(
  'at on date time datetime timestamp day am datum zeit zeitpunkt le el il fecha hora data ora 日時 日期 时间',
)
export const IDS = wordOf(
  'id ids no nr num number nummer numero ref reference referenz referencia riferimento key txn rrn arn 番号 单号',
)
/** The column is a quantity, or of a wish, and none of progress. */
export const QUANTITIES = wordOf(
  'amount amt betrag summe montant importe monto importo sum total totals totale gross net value brutto netto wert',
  'price fee fees tax vat currency qty quantity count items units rate percent balance',
  'reason grund raison motif motivo method policy type note notes comment request requested due by until deadline window eligible von par por door',
)
export const ENDS_IN_QUANTITY = new RegExp(`${QUANTITIES.source}$`, 'u')

// ───────────────────────────────────────────────────────────── Which way the money goes

/**
 * Each pair with all words for its sides, without accents, blanks and points. Only words that mean hardly anything else
 * beside an amount: A and D are also approved and declined, positive and negative are also opinions.
 */
export const DIRECTION_PAIRS: readonly (readonly [string, string])[] = [
  ['s soll', 'h haben'],
  [
    'd dr dt deb debit debits dbit dbt debito debet addebito lastschrift belastung cargo',
    'c cr cred credit credits crdt cdt credito accredito gutschrift abono',
  ],
  ['d debe', 'h haber'],
  ['dare', 'avere'],
  ['+ +1 1 plus', '- -1 minus'],
  ['in incoming inflow moneyin paidin cashin', 'out outgoing outflow moneyout paidout cashout'],
  ['ein eingang zahlungseingang einzahlung einnahme zugang', 'aus ausgang zahlungsausgang auszahlung ausgabe abgang'],
  ['bij', 'af'],
  ['entrada entrata ingreso encaissement recette', 'salida saida uscita egreso gasto decaissement depense'],
  ['deposit income', 'withdrawal expense'],
  [
    [
      'charge payment sale sales purchase invoice invoices bill zahlung verkauf rechnung ausgangsrechnung paiement vente facture',
      'pago venta factura pagamento vendita fattura venda fatura betaling verkoop factuur płatnosc sprzedaz faktura',
    ].join(' '),
    [
      'refund payout payouts return returns creditnote creditnotes creditmemo creditinvoice erstattung ruckerstattung ruckzahlung retoure rucksendung',
      'gutschrift rechnungskorrektur stornorechnung remboursement retour avoir facturedavoir reembolso devolucion abono notadecredito',
      'facturarectificativa rimborso reso notadicredito notacredito devolucao terugbetaling retour creditnota creditfactuur zwrot korekta fakturakorygujaca',
    ].join(' '),
  ],
]
/** In a value: it tells kinds of movements of money apart, whichever they are. */
export const MONEY_KINDS = new RegExp(
  [
    'pay|paid|refund|charge|sale|sold|transf|wire|withdraw|deposit|fee|commission|payout|adjust|revers|disput|credit|debit|invoice|bill|note|memo',
    'return|void|cancel|captur|auth|settl|purchas|order|transact|income|expens|tax|tip|bonus|interest|cash|buy|sell|trade|dividend|loan|hold|top.?up',
    'gutschr|rechnung|zahl|erstatt|storno|gebuhr|uberweis|lastschr|abbuch|einzug|umsatz|kauf|belast|retoure|buchung|soll|haben|spesen|steuer|provision',
    'paiem|rembours|vente|achat|frais|virement|factur|avoir|retrait|prelev|versem|depot|annul|credit|retour|taxe|pourboire',
    'pago|reembols|venta|compra|devoluc|cargo|abono|transfer|comision|retir|ingreso|gasto|anul|impuest|propina',
    'pagam|rimbors|vendit|acquist|bonific|fattur|accredit|addebit|commission|prelie|stipend|reso|impost|mancia|entrat|uscit',
    'betal|terug|verkoop|aankoop|factuur|storting|opname|zwrot|sprzeda|zakup|wplat|wyplat|faktur|oplat|prowiz|korekt|retur|kop|salg|kjop|betaln',
  ].join('|'),
)
/** In a name, wherever in a word: the column is about what is paid back. */
export const REFUND_STEMS = /refund|erstatt|ruckzahl|gutschrift|rembours|reembols|devoluc|rimbors|terugbetal|zwrot/
/** What was done to a sale, or may be done to it: it is told of the sale. */
export const REFUND_STATES = wordOf(
  'refunded refundable nonrefundable erstattet erstattbar rembourse rembourses remboursee remboursable reembolsado reembolsada rimborsato rimborsata rimborsabile terugbetaald zwrocono',
)

/** In a name with one of those stems: where a refund would go, or whether there may be one. */
export const NO_REFUNDS = wordOf(
  'address currency policy window deadline flag over allowed count adresse wahrung devise',
)
/** Of what may be less than the amount. */
export const DUE_AMOUNT_NAMES = nameOf(
  '(?:amount|amt|sum|total|value) (?:(?:still )?(?:due|open|outstanding)|to(?: be)? \\w+)',
  '(?:new|corrected|revised|correct|final|agreed|adjusted|updated) (?:amount|amt|sum|total|value)|(?:amount|amt)(?: (?:x|y|new|corrected|revised))?',
  'neuer betrag|betrag neu|korrigierter betrag|nouveau montant|montant corrige|nuevo importe|importe corregido|nuovo importo|importo corretto',
)
/** Of a column, with the number of the note or without. */
export const CREDIT_NOTE_NAMES = nameOf(
  '(?:credit (?:note|memo|invoice)|creditnote|gutschrift|gutschriften|gutschriftsnummer|avoir|nota (?:di|de) credito|creditnota|korekta)s?(?: (?:id|no|nr|num|number|nummer|numero|ref|reference))?',
)
/** A whole cell: the row pays money back or out. */
export const CREDITED = setOf(
  'refund refunds creditnote creditnotes creditmemo creditinvoice payout payouts payouttoseller sellerpayout withdrawal',
  'erstattung ruckerstattung ruckzahlung gutschrift auszahlung remboursement facturedavoir versement reembolso devolucion notadecredito rimborso notadicredito terugbetaling creditnota uitbetaling zwrot wypłata',
)

/** Without currencies: what the order came to of which a row is a part. The gross and net amounts of a row are something else. */
export const ORDER_SUM_NAMES = nameOf(
  '(?:original )?(?:order|sale|sales|invoice|purchase|booking|basket|cart)(?: grand)? (?:total|amount|amt|value|sum)|grand total|order total (?:amount|value|sum)',
  '(?:amount|total) authori[sz]ed|(?:authori[sz]ed|original) (?:amount|total|sum)|(?:remaining )?refundable(?: (?:amount|balance))?|total (?:order|sale|invoice|purchase|booking)(?: (?:amount|value|sum))?',
  '(?:bestell|auftrags|rechnungs|kauf|verkaufs|ursprungs)(?:summe|wert|betrag)|ursprunglicher betrag|gesamtbetrag der bestellung',
  '(?:montant|total|importe|importo|totale) (?:(?:de la|del|de|di|dell) )?(?:commande|facture|vente|pedido|factura|venta|ordine|fattura|vendita)',
)

/** What was paid so far: no refund is more, and a capture is beside it. */
export const PAID_SUM_NAMES = nameOf(
  '(?:amount|total) (?:paid|charged|captured)|(?:paid|charged|captured) (?:amount|total|sum)',
)

// ───────────────────────────────────────────────────────────── Decisions

/** Of a sale: a whole cell, or its beginning or end. */
const NO_REFUND =
  '(?:non|not|no|nicht)[^\\p{L}\\p{N}]*(?:refundable|refunds?|erstattbar|remboursable|reembolsable|rimborsabile)'
export const NOT_REFUNDABLE = new RegExp(`^${NO_REFUND}|${NO_REFUND}[^\\p{L}\\p{N}]*$`, 'iu')
export const REFUNDABLE_NAMES = /(?<!\p{L})(?:refundable|erstattbar|remboursable|reembolsable|rimborsabile)(?!\p{L})/u
export const NOT_REFUNDABLE_NAMES =
  /(?<!\p{L})(?:non|not|no|nicht) ?(?:refundable|erstattbar|remboursable|reembolsable|rimborsabile)(?!\p{L})/u

export type Pair = readonly [ReadonlySet<string>, ReadonlySet<string>]

export const TESTS = setOf('test sandbox testing staging demo')

/** Whatever the column is called. What is still open is not decided for. */
export const DECISIONS: readonly Pair[] = [
  [
    setOf(
      'approve approved accept accepted allow allowed grant granted release released proceed',
      'genehmigt freigegeben angenommen zugesagt bewilligt approuve accepte valide aprobado aprobada aceptado aceptada',
      'approvato approvata accettato accettata goedgekeurd zatwierdzone 承認 批准',
    ),
    setOf(
      'reject rejected deny denied decline declined refuse refused disallow disallowed disapprove disapproved notapproved hold onhold pending review open',
      'abgelehnt nichtgenehmigt gesperrt offen rejete refuse enattente rechazado rechazada denegado pendiente',
      'rifiutato rifiutata respinto insospeso afgekeurd geweigerd odrzucone 却下 拒绝',
    ),
  ],
  [
    setOf('active enabled aktiv actif active activo activa attivo attiva actief aktywny 有効'),
    setOf(
      'inactive disabled suspended inaktiv deaktiviert inactif inactive inactivo inactiva inattivo inattiva inactief nieaktywny 無効',
    ),
  ],
  [setOf('live production prod'), TESTS],
  [
    setOf('refund torefund fullrefund partialrefund upheld erstatten erstattung rembourser reembolsar rimborsare'),
    setOf(
      'norefund keep exchange replace replacement repair voucher storecredit dismissed notupheld',
      'umtausch ersatz gutschein echange remplacement cambio sostituzione',
    ),
  ],
]
/** Where the column's name speaks of a decision. */
export const ANSWERS: Pair = [
  setOf('yes y true t x xx 1 ok okay ja j wahr oui o vrai si s sim verdadero vero tak da ✓ ✔ ☑ ✅ √ ○ はい 是 go'),
  setOf('no n false f 0 nein falsch non faux nao falso nee nie niet ✗ ✘ ❌ × ☐ いいえ 否 notok nok'),
]
export const DECISION_NAMES = wordOf(
  'ok okay pay payable send go charge include included release released active enabled eligible authorized authorised confirmed valid',
  'bill billable chargeable collect decision entscheidung hold paused blocked skip stop exclude excluded waived gesperrt pausiert',
  'aktiv zahlen auszahlen senden actif payer envoyer actif activo pagar enviar attivo pagare inviare betalen actief 承認 批准',
)
export const DECISION_STEMS =
  /approv|approuv|aprob|aprov|eligib|refund|genehm|freigab|freigegeb|bewillig|erstatt|rembours|reembols|rimbors|autoris|autoriz|goedgekeurd|zatwierdz/

// ───────────────────────────────────────────────────────────── Ways of payment

/** Words of a name, side by side. */
export const METHOD_NAMES = nameOf(
  '(?:\\w+ )?(?:payment|pay|refund|tender|settlement) (?:method|type|mode|gateway|provider|processor|channel|source|via)(?: name| title)?|(?:paid|refund|refunded|pay) (?:to|via|with|through)|(?:payment )?gateway|psp|processor',
  'zahlungs?(?:art|methode|weg|mittel|anbieter)|erstattung (?:an|auf|uber)|erstattungsart|(?:mode|moyen|methode) de (?:paiement|remboursement)',
  '(?:metodo|forma|medio) (?:de|di) (?:pago|pagamento|reembolso|rimborso)|betaal(?:methode|wijze)|metoda płatnosci|支払方法|支付方式',
)
/** Of a refund: how much of the sale it is, and no way. */
export const EXTENTS = setOf(
  'full partial fullrefund partialrefund complete total parcial partielle totale parziale vollstandig teilweise',
)
/** A whole cell, or its first word. */
export const CARDS = setOf(
  'card cards creditcard debitcard credit debit visa mastercard master amex americanexpress discover diners dinersclub jcb maestro unionpay cb cartebancaire',
  'karte kreditkarte debitkarte carte tarjeta carta cartadicredito tarjetadecredito kaart creditcards karta クレジットカード 信用卡 vault card_on_file cardonfile',
)
/** `credit` may be that of a shop. */
export const CARD_WORDS = new RegExp(
  `(?<!\\p{L})(?:${[...CARDS].filter((word) => !['credit', 'debit'].includes(word)).join('|')})(?!\\p{L})`,
  'iu',
)
export const OTHER_METHODS = setOf(
  'paypal klarna sepa banktransfer wire wiretransfer ach cash cheque check voucher giftcard storecredit sofort giropay ideal bancontact',
  'invoice directdebit uberweisung bankuberweisung lastschrift barzahlung rechnung gutschein vorkasse virement especes bonifico contanti',
  'transferencia efectivo overboeking applepay googlepay alipay wechatpay stripe adyen braintree',
)

// ───────────────────────────────────────────────────────────── Cells that say no

const NOT_TO_SEND = new RegExp(
  [
    String.raw`\b(?:do not|don['’]?t|never) (?:pay|send|charge|refund|process|release|execute|transfer|bill|collect|debit|invoice|reimburse)\b`,
    String.raw`\b(?:not to|(?:must|should|can) ?not) be (?:paid|sent|charged|refunded|processed|released|billed|collected|debited)\b`,
    String.raw`\b(?:already|previously) (?:been )?(?:refunded|paid|sent|done|processed|charged|credited|reimbursed|settled|billed|collected|captured)\b`,
    String.raw`\b(?:on hold|not (?:yet )?approved|not eligible|stop payment|a?waiting (?:for )?approval|skip this)\b`,
    String.raw`\bnicht (?:[a-zäöüß]+ ){0,2}(?:be|aus|über|ein)?(?:zahlen|erstatten|senden|buchen|ausführen|überweisen|einziehen|belasten)\b`,
    String.raw`\b(?:bereits|schon) (?:[a-zäöüß]+ ){0,2}(?:erstattet|bezahlt|gezahlt|überwiesen|erledigt|gutgeschrieben|eingezogen|storniert)\b|\bzurückgestellt\b`,
    String.raw`\bne pas (?:payer|rembourser|envoyer|débiter|traiter)|\bdéjà (?:remboursée?|payée?|traitée?|réglée?|débitée?)|\ben attente\b`,
    String.raw`\bno (?:pagar|reembolsar|enviar|cobrar)\b|\bya (?:reembolsad|pagad|cobrad|enviad)[oa]\b|\ben espera\b`,
    String.raw`\bnon (?:pagare|rimborsare|inviare|addebitare)\b|\bgià (?:rimborsat|pagat|addebitat|inviat)[oa]\b|\bin sospeso\b`,
    String.raw`\bniet (?:betalen|terugbetalen|versturen|incasseren)\b|\b(?:al|reeds) (?:terugbetaald|betaald)\b`,
    String.raw`\bnie (?:płacić|wysyłać|zwracać)\b|\bjuż (?:zwrócono|zapłacono)\b|返金済|支払済|已退款|不要付款`,
  ].join('|'),
  'i',
)
/** Those of them that are one word: most cells are, and to look for the others in each takes longer than all else. */
const NOT_TO_SEND_WORD =
  /^(?:duplicate|hold|skip|doppelt|doublon)\W*$|^zurückgestellt|^(?:返金済|支払済|已退款|不要付款)/i

/** Of a note, that is looked through. */
const NOTE_CHARACTERS = 500

export function saysNotToSend(cell: string): boolean {
  const text = cell.slice(0, NOTE_CHARACTERS).trim()
  return (text.includes(' ') ? NOT_TO_SEND : NOT_TO_SEND_WORD).test(text)
}

/** Why a row is there is no word against it. */
export const REASONS = wordOf('reason reasons grund grunde raison motif motivo reden powod cause causa 理由 原因')

// ───────────────────────────────────────────────────────────── Days

/** The words of a name, side by side: when the money of a sale is due. */
export const DUE_NAMES = nameOf(
  '(?:payment |invoice )?due(?: (?:date|on|at|day|by))?|fallig(?:keit|keitsdatum|keitstag)?(?: (?:am|ab|zum))?',
  'echeance|date d echeance|fecha de vencimiento|vencimiento|(?:data (?:di )?)?scadenza|vervaldatum|期日|到期日',
)
/** Of which month a row is. */
export const MONTH_NAMES = nameOf(
  '(?:billing |service |invoice |run )?(?:month|period|cycle)|(?:abrechnungs|leistungs)?(?:monat|zeitraum|periode)|mois|periode|mes|periodo|mese|maand|miesiac|月|对账月',
)
/** When the money of a row is to move. */
export const LATER_NAMES = nameOf(
  '(?:charge|payment|pay|debit|collection|execution|send|sending|process|processing|release|scheduled|refund) (?:date|on|from|at|after)',
  'scheduled(?: for)?|not before|(?:zahlbar|einzug|abbuchung|ausfuhrung|zahlung) (?:am|ab|zum)|(?:einzugs|abbuchungs|zahlungs|ausfuhrungs|lastschrift)(?:datum|termin|tag)',
  'date (?:de|du) (?:paiement|prelevement)|fecha de (?:pago|cobro)|data (?:di )?(?:pagamento|addebito)',
  'incassodatum|betaaldatum|termin płatnosci|data płatnosci|支払日',
)
/** When it begins that a row is charged for. */
export const BEGIN_NAMES = nameOf(
  '(?:next )?(?:billing|bill|renewal|subscription|contract) (?:date|on|day|from)|next (?:charge|billing|payment|renewal|bill|debit|invoice)(?: (?:date|on|at))?',
  '(?:valid|active|effective|starts?|begins?) (?:from|on|date)|(?:subscription|contract|membership )?(?:starts?|begins?)|(?:gultig|start|beginn|vertragsbeginn|aktiv)(?: (?:am|ab|zum))?|startdatum|startermin',
  'first (?:charge|billing|payment|debit)(?: (?:date|on|at))?|(?:paused|frozen|trial|free|suspended)(?: period)? until|(?:pausiert|kostenfrei|beitragsfrei|ruht|probezeit) bis',
  'date de debut|debut|a partir du|fecha de inicio|data (?:di )?inizio|inizio|ingangsdatum|data rozpoczecia|开始日期|開始日',
)
/** It has ended: nothing of it is to be charged any more. */
export const ENDED_NAMES = nameOf(
  '(?:subscription |contract |membership )?(?:cancel(?:l?ed|lation)|terminat(?:ed|ion)|ended|churned|unsubscribed|left)(?: (?:on|at|date|effective))?|gekundigt(?: (?:am|zum))?|kundigung(?:sdatum| zum)?|kundigungsdatum|beendet(?: am)?',
  'resiliee?(?: le)?|date de resiliation|fecha de (?:baja|cancelacion)|cancelad[oa] el|disdett[oa] il|data (?:di )?disdetta|opgezegd(?: (?:op|per))?|解約日',
)

/** Of what may be charged for afterwards, unless it has ended in some rows only. */
export const END_NAMES = nameOf(
  '(?:contract |subscription |membership |plan |mandate )?(?:ends?(?: (?:date|on|at))?|until)|valid (?:to|until|through)|(?:laufzeit|gultig|vertrag) bis|austritt(?:sdatum)?|ende|enddatum|vertragsende|laufzeitende|(?:date de )?fin|fecha (?:de )?fin|data (?:di )?fine|einddatum|终止日期|終了日',
)

/** Mostly the day of an order. Days to come in all rows are none of orders. */
export const BARE_NAMES = nameOf(
  'when|date|day|wann|datum|tag|quand|jour|cuando|fecha|dia|quando|data|giorno|wanneer|kiedy|日付|日期',
)
