// What an approval is of, for whoever decides: everything in the digest, nothing folded away.

import type { Approval, ApprovalSheet, AskedSum, Unfit } from '../domain/approval.ts'
import { isoOf } from '../domain/batch-status.ts'
import { statusOf } from '../domain/states.ts'
import { shortUsername } from '../domain/username.ts'
import { askedText } from './asked.ts'
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
  const { merchant, url, username, runKey, canaryRows, maxDeclinedPercent, lookalikesAllowed } = sheet
  return [
    `Submitted ${isoOf(sheet.submittedAtMs)} by ${sheet.submittedBy}`,
    fromLine(sheet),
    ...(runKey === null ? [] : [`Run key ${runKey}`]),
    ...readingLines(sheet.fingerprint === '' ? '' : readingOf(sheet.fingerprint)),
    `To ${url} as ${shortUsername(username)} (merchant ${merchant})`,
    ...totalsTable(sheet),
    ...sheet.largest.map(
      ({ amountMinor, currency, rowNo, reference }) =>
        `Largest: ${amountText(amountMinor, currency)} ${currency} (row ${rowNo}, ${reference})`,
    ),
    ...(lookalikesAllowed === 0 ? [] : [`${plural(lookalikesAllowed, 'look-alike')} allowed by the submitter`]),
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
export function meaningText({ totals, merchant, needed, given, digest }: ApprovalSheet): string {
  const others = needed - given - 1
  const begins =
    others > 0
      ? `Nothing is sent before ${others === 1 ? 'one more person has' : `${others} more people have`} approved it as well.`
      : 'Unless something else holds it, sending begins at once. What was executed cannot be called back.'
  return `By approving you let ${toBeSent(totals)} be sent to ${merchant}. ${begins} You approve these rows and no others: ${fingerprintOf(digest)}.`
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
export function toBeSent(totals: ApprovalSheet['totals']): string {
  return askedText(totals.filter(({ state }) => state === 'READY'))
}

/** What a person types who has looked at the sum: of one operation and currency the amount, else how many rows there are. */
export function totalToType(sheet: Pick<ApprovalSheet, 'totals'>): string {
  return waysToType(sheet)[0]
}

/** As it is asked for, without the answer: what is copied from the page shows nothing. */
export function totalAsked(sheet: Pick<ApprovalSheet, 'totals'>): string {
  const currency = onlyCurrencyOf(sheet)
  return currency === null ? 'how many rows are to be sent' : `the total in ${currency}`
}

export const TOTAL_HINT = 'Take it from your own list, not from this page: that is how a wrong batch is noticed.'

export function isTotalTyped(typed: string, sheet: Pick<ApprovalSheet, 'totals'>): boolean {
  return waysToType(sheet).includes(typed.trim().replaceAll(/\s+/g, ' '))
}

/** Of rows that one sum tells of; null: it takes several. */
function onlyCurrencyOf({ totals }: Pick<ApprovalSheet, 'totals'>): ApprovalSheet['totals'][number]['currency'] | null {
  const [first, ...others] = totals.filter(({ state }) => state === 'READY')
  if (first === undefined || first.currency === '') return null
  const isLike = ({ currency, operation }: typeof first) => currency === first.currency && operation === first.operation
  return others.every(isLike) ? first.currency : null
}

/** As it is asked for, then how else people write it. */
function waysToType({ totals }: Pick<ApprovalSheet, 'totals'>): readonly [string, ...string[]] {
  const sent = totals.filter(({ state }) => state === 'READY')
  const currency = onlyCurrencyOf({ totals })
  if (currency === null) {
    const rows = sent.reduce((sum, { count }) => sum + count, 0)
    return [plural(rows, 'row'), `${rows}`]
  }
  const sum = amountText(
    sent.reduce((total, { amountMinor }) => total + amountMinor, 0n),
    currency,
  )
  return [sum, `${currency} ${sum}`, `${sum} ${currency}`]
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
    source: sheet.source,
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
    submitted_at: isoOf(sheet.submittedAtMs),
    earlier: sheet.earlier.map(({ operation, currency, amountMinor }) => ({
      ...{ operation, currency, amount: amountText(amountMinor, currency) },
    })),
    rows_digest: sheet.rowsDigest,
  }
}
