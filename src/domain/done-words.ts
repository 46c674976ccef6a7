// How gateways say that a request was executed before: words only, to be added to. A merchant adds its own under `reason_categories`.

const LEADS = ['already', 'already been', 'already fully', 'already been fully', 'already partially', 'previously']
const VERBS = [
  ...['refund', 'captur', 'void', 'revers', 'cancel', 'charged', 'credited', 'debited', 'paid', 'approved', 'process'],
  ...['execut', 'complet', 'submit', 'receiv', 'post', 'done', 'exist', 'used', 'in progress', 'in process', 'being'],
]

/** Beginnings of words, as `reason-categories.ts` compares them. */
export const DONE_WORDS: readonly string[] = [
  ...LEADS.flatMap((lead) => VERBS.map((verb) => `${lead} ${verb}`)),
  ...['duplicat', 'dup tran', 'double payment', 'double charge', 'double refund', 'double submission'],
  ...['repeated transaction', 'repeat transaction', 'same transaction'],
  ...['duplikat', 'doppelt', 'bereits erstattet', 'bereits storniert', 'bereits gebucht', 'bereits ausgeführt'],
  ...['bereits verarbeitet', 'bereits bezahlt', 'doublon', 'déjà rembours', 'déjà annul', 'déjà captur'],
  ...['déjà effectu', 'déjà trait', 'déjà pay', 'ya reembols', 'ya anulad', 'ya capturad', 'ya procesad', 'ya pagad'],
  ...['già rimborsat', 'già annullat', 'già eseguit', 'già pagat', 'dubbel', 'reeds terugbetaald', 'reeds verwerkt'],
]
