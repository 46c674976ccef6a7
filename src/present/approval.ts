// What an approval is of, for whoever decides: everything in the digest, nothing folded away.

import { type Approval, type ApprovalSheet, type AskedSum, isAwaiting, type Unfit } from '../domain/approval.ts'
import { type BatchView, sourceOf, type Total } from '../domain/batch.ts'
import { isoOf } from '../domain/batch-status.ts'
import { type Currency, exponentOf, type Money } from '../domain/money.ts'
import { accountWords } from '../domain/person.ts'
import { type State, statusOf } from '../domain/states.ts'
import { shortUsername } from '../domain/username.ts'
import { parseWrittenTotal } from '../domain/written-amount.ts'
import { askedText, nounsOf, sumsOf } from './asked.ts'
import { commandText } from './command-line.ts'
import { interpretationText } from './interpretation.ts'
import { amountText, plural, toTable } from './text.ts'

/** `1 approval`, `1 more approval (1 of 2 given)`. */
export function approvalsText({ needed, given }: Pick<Approval, 'needed' | 'given'>): string {
  const left = needed - given
  return given === 0 ? plural(left, 'approval') : `${plural(left, 'more approval')} (${given} of ${needed} given)`
}

/** Short enough to be compared by telephone. */
function fingerprintOf(digest: string): string {
  return digest.slice(0, 16).replaceAll(/(.{4})(?=.)/g, '$1 ')
}

/** In one column. `readingOf`: what a file was read with, as the door calls it. */
export function sheetLines(sheet: ApprovalSheet, readingOf: (fingerprint: string) => string): string[] {
  const { merchant, url, username, runKey, canaryRows, maxDeclinedPercent } = sheet
  return [
    `Submitted ${isoOf(sheet.submittedAtMs)} by ${sheet.submittedBy}`,
    fromLine(sheet),
    ...sheet.keys.map(({ id, name, createdBy }) => `By key ${name} (${id}), made by ${createdBy}`),
    ...sheet.accounts.map(accountWords),
    ...(runKey === null ? [] : [`Run key ${runKey}`]),
    ...readingLines(sheet.fingerprint === '' ? '' : readingOf(sheet.fingerprint)),
    `To ${url} as ${shortUsername(username)} (merchant ${merchant})`,
    ...totalsTable(sheet),
    ...sheet.largest.map(
      ({ amountMinor, currency, rowNo, reference }) =>
        `Largest: ${amountText(amountMinor, currency)} ${currency} (row ${rowNo}, ${reference})`,
    ),
    ...lookalikeLines(sheet),
    ...(canaryRows === null ? [] : [`Stops after the first ${plural(canaryRows, 'row')} until a person has looked`]),
    ...(maxDeclinedPercent === null ? [] : [`Pauses when more than ${maxDeclinedPercent} % are declined`]),
    ...earlierLines(sheet.earlier),
    ...sheet.by.map((who) => `Approved by ${who}`),
    `Rows ${sheet.rowsDigest}`,
    `Digest ${sheet.digest}, in short ${fingerprintOf(sheet.digest)}`,
  ]
}

/** Messages one by one, under a name or of a day, have no content of their own. */
function fromLine({ source, fileName, fileSha256 }: ApprovalSheet): string {
  const content = fileSha256 === null ? '' : `, SHA-256 ${fileSha256}`
  if (source === 'file') return `From ${fileName}${content}`
  return `From messages of other services${fileName === null ? '' : `, batch "${fileName}"`}${content}`
}

/** Without amounts, which are typed. */
function lookalikeLines({ lookalikesAllowed: allowed, lookalikes, batchId }: ApprovalSheet): string[] {
  if (allowed === 0) return []
  const [each, its] = allowed === 1 ? ['it looks', 'it'] : ['each looks', 'each of them']
  const left = allowed - lookalikes.length
  return [
    `${plural(allowed, 'look-alike')} allowed by the submitter: ${each} like another row and would be executed beside it. What was entered twice is executed twice: look at ${its}.`,
    ...lookalikes.map(({ rowNo, reference, like }) => {
      const where = like.batchId === batchId ? 'this batch' : `batch ${like.batchId}`
      return `  row ${rowNo} (${reference}) looks like row ${like.rowNo} (${like.reference}) of ${where}, which is ${statusOf(like.state)}`
    }),
    ...(lookalikes.length === 0 || left <= 0 ? [] : [`  and ${left} more`]),
  ]
}

function readingLines(text: string): string[] {
  return text === '' ? [] : [`Read with ${text}`]
}

function totalsTable({ totals, rows }: Pick<ApprovalSheet, 'totals' | 'rows'>): string[] {
  const lines = totals.map(({ operation, currency, state, count, amountMinor }) => [
    `  ${operation === '' ? '(unread)' : operation}`,
    state === 'READY' ? 'to be sent' : statusOf(state),
    String(count),
    amountText(amountMinor, currency),
    currency,
  ])
  return toTable([['  operation', '', 'rows', 'amount', ''], ...lines, ['  total', '', String(rows), '', '']], [2, 3])
}

function earlierLines(earlier: readonly AskedSum[]): string[] {
  return earlier.map(
    ({ operation, currency, amountMinor }) =>
      `Counted with it, of the 24 hours before: ${amountText(amountMinor, currency)} ${currency} of ${operation}`,
  )
}

/** The sentence before money moves. */
export function meaningText(
  { totals, merchant, needed, given, digest }: ApprovalSheet,
  sent = toBeSent(totals),
): string {
  const others = needed - given - 1
  const begins =
    others > 0
      ? `Nothing is sent before ${others === 1 ? 'one more person has' : `${others} more people have`} approved it as well.`
      : 'Unless something else holds it, sending begins at once. What was executed cannot be called back.'
  return `By approving you let ${sent} be sent to ${merchant}. ${begins} You approve these rows and no others: ${fingerprintOf(digest)}.`
}

/** To whoever it is about, before they try. */
export function unfitText(why: Unfit): string {
  switch (why) {
    case 'no-approver':
      return 'You do not have the role approver, so another person must decide.'
    case 'approver-too-new':
      return 'You have had the role approver for less than 24 hours, so another person must decide until then.'
    case 'made-by-the-submitter':
      return 'Whoever handed it in made you an approver, so another person must decide.'
    case 'made-by-one':
      return 'One person made both your account and that of who handed it in or approved it, and no second person has confirmed either: another administrator does so, or the owner of this machine.'
    case 'other-account':
      return 'You sign in another way than who handed it in or approved it: one by the identity provider, the other by a password or another provider. You may be one person, so somebody who signs in the same way must decide.'
    case 'the-submitter':
      return 'You handed it in, so somebody else must approve it.'
    case 'maker-of-its-key':
      return 'You made the key with which it was handed in, so somebody else must approve it.'
    case 'an-approver-already':
      return 'You approved it already; it needs another person as well.'
    case 'a-key':
      return 'A key is no person, and only people approve.'
    case 'not-by-users':
      return 'The approval policy lets no user of the operating system approve.'
  }
}

/** Of the rows that an approval lets go. */
function toBeSent(totals: ApprovalSheet['totals']): string {
  return askedText(totals.filter(({ state }) => state === 'READY'))
}

/** Of one operation and currency, or of rows that have no amount. */
export interface TotalToType {
  /** Of the form. */
  readonly field: string
  /** As it is asked for, without the answer: what is copied from the page shows nothing. */
  readonly label: string
  readonly total: Total
}

/** What a person types who compared the batch with a list of their own. */
export function totalsToType({ totals }: Pick<ApprovalSheet, 'totals'>): readonly TotalToType[] {
  const sent = totals.filter(({ state }) => state === 'READY')
  const hasSeveral = (currency: Total['currency']) => sent.filter((one) => one.currency === currency).length > 1
  return sent.map((total, i) => {
    const { operation, currency } = total
    const field = i === 0 ? 'total' : `total_${i + 1}`
    const isAlone = sent.every((one) => one === total || one.operation !== operation)
    if (currency === '')
      return {
        field,
        label: `how many ${nounsOf(operation)}${isAlone ? '' : ' without an amount'} are to be sent`,
        total,
      }
    const label = `the total in ${currency}${hasSeveral(currency) ? ` of the ${nounsOf(operation)}` : ''}`
    return { field, label, total }
  })
}

export function totalHint({ totals }: Pick<ApprovalSheet, 'totals'>): string {
  const has = (wanted: State) => totals.some(({ state }) => state === wanted)
  const recorded = has('DUPLICATE')
    ? ' Rows that are recorded already are not sent: subtract what the page says of DUPLICATE.'
    : ''
  // What was read of their amounts may be what is wrong with them.
  const bad = has('INVALID')
    ? ' Bad rows (INVALID) are not sent: find their references under “All its rows”, and subtract what your list says of them.'
    : ''
  return `Take it from your own list, not from this page: that is how a wrong batch is noticed.${recorded}${bad}`
}

/** Why not, in sentences that do not tell the total; null: it is the one that would be sent. */
export function faultOfTyped(typed: string, { label, total }: TotalToType): string | null {
  const { currency, count, amountMinor } = total
  if (currency === '')
    return typed.trim() === String(count) ? null : `You typed “${typed.trim()}”. That is not ${label}.`
  const read = parseWrittenTotal(typed, currency)
  if (read === 'unread')
    return `“${typed.trim()}” cannot be read as a total in ${currency}. Write it as in your list, such as ${example(currency)}.`
  if (read === 'ambiguous')
    return `“${typed.trim()}” can be read in two ways. Put a zero in front of a total below a thousand, and write any other with its decimals.`
  const isSame = read.currency === currency && read.amountMinor === amountMinor
  return isSame
    ? null
    : `You typed “${typed.trim()}”. That is another total in ${currency} than the one that would be sent.`
}

function example(currency: Currency): string {
  const decimals = '5678'.slice(0, exponentOf(currency))
  return decimals === '' ? '1.234 or 1,234' : `1.234,${decimals} or 1,234.${decimals}`
}

/** For the person who types the totals: nothing that they could be copied from. What is left out of their list is to be subtracted. */
export function withoutTotals(sheet: ApprovalSheet): ApprovalSheet {
  return {
    ...sheet,
    totals: sheet.totals.map((total) =>
      total.state === 'DUPLICATE' && !isTotalOf(sheet, total) ? total : { ...total, currency: '' },
    ),
    largest: sheet.largest.filter((one) => !isTotalOf(sheet, one)),
  }
}

function isTotalOf(
  { totals }: Pick<ApprovalSheet, 'totals'>,
  { currency, amountMinor }: Omit<Money, 'currency'> & Pick<Total, 'currency'>,
): boolean {
  return totals.some(
    (total) => total.state === 'READY' && total.currency === currency && total.amountMinor === amountMinor,
  )
}

/**
 * What an earlier batch asked for, for a person who types totals. A batch that was never approved shows no sum, because it is approved
 * next or handed in again; nor does any show one that is a total of this sheet.
 */
export function withoutTotalsOf(
  sheet: Pick<ApprovalSheet, 'totals'>,
  { approval }: Pick<BatchView, 'approval'>,
  asked: readonly Total[],
): Total[] {
  return sumsOf(asked).map((sum) => (isAwaiting(approval) || isTotalOf(sheet, sum) ? { ...sum, currency: '' } : sum))
}

export function approveCommand({ batchId, digest }: Pick<ApprovalSheet, 'batchId' | 'digest'>): string {
  return `${commandText('approve', batchId, '--digest', digest)} --reason TEXT`
}

/** `digest` null: it is not asked for any more. */
export function toJsonApproval({ needed, given, untilMs, by }: Approval, digest: string | null): object {
  return { needed, given, until: isoOf(untilMs), by, ...(digest === null ? {} : { digest }) }
}

export function toJsonSheet(sheet: ApprovalSheet): object {
  return {
    batch: sheet.batchId,
    ...toJsonApproval(sheet, sheet.digest),
    merchant: sheet.merchant,
    url: sheet.url,
    username: shortUsername(sheet.username),
    source: sourceOf(sheet),
    file: sheet.fileName,
    file_sha256: sheet.fileSha256,
    run_key: sheet.runKey,
    read_with: sheet.fingerprint === '' ? '' : interpretationText(sheet.fingerprint),
    rows: sheet.rows,
    totals: sheet.totals.map(({ operation, currency, state, count, amountMinor }) => ({
      ...{ operation, currency, status: statusOf(state), count, amount: amountText(amountMinor, currency) },
    })),
    largest: sheet.largest.map(({ currency, amountMinor, rowNo, reference }) => ({
      ...{ currency, amount: amountText(amountMinor, currency), row: rowNo, reference },
    })),
    lookalikes_allowed: sheet.lookalikesAllowed,
    canary_rows: sheet.canaryRows,
    max_declined_percent: sheet.maxDeclinedPercent,
    submitted_by: sheet.submittedBy,
    accounts: sheet.accounts.map(accountWords),
    keys: sheet.keys.map(({ id, name, createdBy }) => ({ id, name, made_by: createdBy })),
    submitted_at: isoOf(sheet.submittedAtMs),
    earlier: sheet.earlier.map(({ operation, currency, amountMinor }) => ({
      ...{ operation, currency, amount: amountText(amountMinor, currency) },
    })),
    rows_digest: sheet.rowsDigest,
  }
}
