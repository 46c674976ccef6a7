// A month of orders at the gateway: what it executed, held against what was authorized, what was paid, and what was meant.

import type { Books, RecordedMove, RecordedRow } from './books.ts'
import { firstReference } from './files.ts'
import { type Execution, orderIdOf } from './gateway.ts'
import { type Month, plainOrder } from './month.ts'

/** A sale without a reference may be charged once more after 30 days; by a clock that was set, somewhat earlier. */
const SALE_COUNTS_MS = 29.8 * 86_400_000

/** `isUnknowable`: of a declined row, whether nobody can know that it was executed. Whoever hands it in again does it twice. */
export function orders(
  books: Books,
  rows: readonly RecordedRow[],
  moves: readonly RecordedMove[],
  isUnknowable: (row: RecordedRow) => boolean,
): string[] {
  const { month, truth, plan } = books
  if (month === undefined || month === null) return []
  const unknown = new Set(rows.filter((row) => row.state === 'DECLINED' && isUnknowable(row)).map(({ id }) => id))
  const approved = truth.executions.filter(({ status, rowId }) => status === 'APPROVED' && !unknown.has(rowId))
  return [
    ...doneOnce(books, month, approved),
    ...Map.groupBy(approved, ({ accountId }) => accountId)
      .entries()
      .flatMap(([accountId, ofAccount]) => {
        const own = rows.filter((row) => row.accountId === Number(accountId))
        return Array.from(Map.groupBy(ofAccount, orderOf)).flatMap(([order, ofOrder]) =>
          order === '' ? [] : limits(order, ofOrder, knowledgeOf(books, order, own, moves), plan.captureTolerance),
        )
      }),
  ]
}

const orderOf = ({ instruction }: Execution) => plainOrder(instruction.orderId)
const amountOf = ({ instruction }: Execution) => instruction.money?.amountMinor ?? 0n

/** Nothing is done more often than it is meant, and somebody said by a number, or ordered to be sent again. */
function doneOnce({ truth }: Books, month: Month, approved: readonly Execution[]): string[] {
  return Array.from(Map.groupBy(approved, ({ instruction }) => month.deedOf(instruction))).flatMap(([deed, done]) => {
    const meant = month.meantOf(deed)
    if (meant === undefined) return []
    const keys = new Set(done.map(({ accountId, reference }) => `${accountId}/${firstReference(reference)}`))
    const again = [...truth.sendAgains].reduce((sum, [key, n]) => sum + (keys.has(firstReference(key)) ? n : 0), 0)
    const most = meant.times + again + (month.allowed.get(deed)?.size ?? 0)
    const isSale = done.every(({ instruction }) => instruction.orderId === null)
    const counted =
      isSale && !meant.forEver
        ? Math.max(
            ...done.map(
              ({ atMs }) => done.filter((one) => one.atMs <= atMs && one.atMs > atMs - SALE_COUNTS_MS).length,
            ),
          )
        : done.length
    return counted <= most ? [] : [`${deed} was done ${counted} times, and ${most} are meant: ${[...keys].join(', ')}`]
  })
}

/** What the ledger knew of an order when it claimed an attempt: only that limits it. */
interface Knowledge {
  /** What the gateway executed of each of these is no fault of the program. */
  isExcused(execution: Execution): boolean
  /** By the authorizations that were answered by then; null: none was. */
  authorized(execution: Execution): bigint | null
  /** By then a sale, a capture or an authorization was known, and no answer differed about money. */
  isMeasured(execution: Execution): boolean
  /** All that was ever paid, before the execution. */
  paid(execution: Execution): bigint
}

function limits(order: string, own: readonly Execution[], knows: Knowledge, captureTolerance: number): string[] {
  const sums = { CAUTH: 0n, REFUND: 0n, CANCEL: 0n }
  const met = new Set<string>()
  return own.flatMap((one) => {
    const { operation } = one.instruction
    const wrong: string[] = []
    if (operation === 'CANCEL' && sums.REFUND > 0n)
      wrong.push(`order ${order} was voided after a refund of ${sums.REFUND}`)
    if (operation !== 'CAUTH' && operation !== 'REFUND' && operation !== 'CANCEL') return wrong
    const name = firstReference(one.reference)
    if (knows.isExcused(one) || met.has(name)) return wrong
    met.add(name)
    sums[operation] += amountOf(one)
    const authorized = knows.authorized(one)
    const most = authorized === null ? null : authorized + (authorized * BigInt(captureTolerance)) / 100n - sums.CANCEL
    if (operation === 'CAUTH' && most !== null && sums.CAUTH > most)
      wrong.push(`${sums.CAUTH} of order ${order} were captured with ${name}, and ${most} may be`)
    const paid = knows.paid(one)
    const left = (authorized !== null && authorized > paid ? authorized : paid) - sums.CANCEL
    if (operation === 'REFUND' && knows.isMeasured(one) && (sums.REFUND > paid || sums.REFUND > left))
      wrong.push(
        `${sums.REFUND} of order ${order} were refunded with ${name}, and ${paid} were paid, ${left} not voided`,
      )
    return wrong
  })
}

function knowledgeOf(
  { truth }: Books,
  order: string,
  rows: readonly RecordedRow[],
  moves: readonly RecordedMove[],
): Knowledge {
  const amounts = new Map(truth.executions.map((one) => [one.rowId, amountOf(one)]))
  const answeredAs = rows.filter(({ answeredOrderId }) => plainOrder(answeredOrderId) === order)
  const ofOrder = rows.filter(({ operation, orderKey }) => operation === 'CAUTH' && orderKey === order)
  const sales = [...answeredAs.filter(({ operation }) => operation === 'CAPTURE' || operation === 'CAUTH'), ...ofOrder]
  const auths = answeredAs.filter(({ operation }) => operation === 'AUTH')
  const claimOf = ({ rowId, attempt }: Execution) =>
    moves.findIndex((move) => move.rowId === rowId && move.attempt === attempt && move.cause === 'claim')
  const approvedAt = ({ id }: RecordedRow, causes: readonly string[]) => {
    const at = moves.findIndex(
      ({ rowId, toState, cause }) => rowId === id && toState === 'APPROVED' && causes.includes(cause),
    )
    return at < 0 ? Number.POSITIVE_INFINITY : at
  }
  const knownBy = (claim: number, of: readonly RecordedRow[], causes = ANSWERS) =>
    of.filter((row) => approvedAt(row, causes) < claim)
  const isUnsure = (of: readonly RecordedRow[]) => of.some(({ moneyWarning }) => moneyWarning !== 0)
  return {
    isExcused: ({ accountId, reference }) => truth.misjudged.has(`${accountId}/${reference}`),
    authorized(one) {
      const known = knownBy(claimOf(one), auths)
      if (known.length === 0 || isUnsure(auths)) return null
      return known.reduce((sum, { id }) => sum + (amounts.get(id) ?? 0n), 0n)
    },
    isMeasured(one) {
      const claim = claimOf(one)
      const known = [...knownBy(claim, sales), ...knownBy(claim, ofOrder, FOUND)]
      return (known.length > 0 || (knownBy(claim, auths).length > 0 && !isUnsure(auths))) && !isUnsure(sales)
    },
    paid: (one) =>
      truth.executions
        .slice(0, truth.executions.indexOf(one))
        .filter(({ accountId, instruction: { operation, orderId }, transactionId, status }) => {
          if (
            accountId !== one.accountId ||
            status !== 'APPROVED' ||
            (operation !== 'CAPTURE' && operation !== 'CAUTH')
          )
            return false
          return plainOrder(orderId) === order || orderIdOf(transactionId) === order
        })
        .reduce((sum, paid) => sum + amountOf(paid), 0n),
  }
}

const ANSWERS = ['answer', 'late-answer']
const FOUND = ['resolve']
