// Whoever hands a file in and is asked about it. Of an original, a clerk knows which payments are meant, and trusts the program with
// which rows earlier files hold.

import { contentOf } from '../../src/domain/instruction.ts'
import type { Reviewed } from '../../src/domain/submission.ts'
import { listOf } from '../fixtures/ledgers.ts'
import { instructionsOf, isOfOriginal, type KeptFile } from './files.ts'
import type { Payment } from './originals.ts'
import type { SimulatedRecord } from './record.ts'

/** A file as it is handed in this time. */
export interface Handed {
  readonly file: KeptFile
  readonly allowLookalikes: number
  /** Absent: none. */
  readonly allowAboveLimit?: number
}

export function textOf({ file, allowLookalikes }: Handed): string {
  const rows = instructionsOf(file).map((instruction, i) => {
    const { bad = false } = file.rows[i] ?? {}
    return `${instruction.reference} ${contentOf(instruction)}${bad ? ' (bad)' : ''}`
  })
  return `${file.onlyNew ? 'what is new of ' : ''}${file.name}, ${allowLookalikes} look-alikes: ${rows.join('; ')}`
}

/** A row that is recorded and was sent, or will be. */
export interface Recorded extends Asked {
  readonly payment: Payment | null
}

/** What a row asks for. */
interface Asked {
  /** As the file has it; '': none of its own. */
  readonly named: string
  readonly content: string
}

/** Of a file that was refused: how it is handed in again; null: it is left. */
export async function answer(
  { file, allowLookalikes }: Handed,
  { draft, review }: Reviewed,
  recorded: () => readonly Recorded[],
): Promise<Handed | null> {
  const asked = await listOf(draft.lookalikes())
  const allowed = asked.length === allowLookalikes ? null : { file, allowLookalikes: asked.length }
  if (!isOfOriginal(file)) return allowed
  if (file.fedBack) return null
  const knowsEarlier = review.correction !== null || asked.some(({ like }) => like.batchId !== null)
  if (!file.onlyNew && knowsEarlier) return { file: { ...file, onlyNew: true }, allowLookalikes: 0 }
  const over = asked.map(({ rowNo }) => rowNo - 1).findLast((i) => isTooMuch(file, file.rows[i]?.payment, recorded()))
  if (over === undefined) return allowed
  const rows = file.rows.toSpliced(enteredTwice(file, file.rows[over]?.payment) ?? over, 1)
  return rows.length === 0 ? null : { file: { ...file, rows }, allowLookalikes: 0 }
}

/** Where a payment of that target stands that an earlier row is for; null: there is none. */
function enteredTwice({ rows }: KeptFile, of: Payment | null | undefined): number | null {
  const at = rows.findIndex(
    ({ payment }, i) => payment?.target === of?.target && rows.slice(0, i).some((row) => row.payment === payment),
  )
  return at < 0 ? null : at
}

/**
 * Whether more would be paid of a target than is meant: a row was entered twice, or asks for another amount than the one which is
 * recorded. Recorded rows that ask for the same as rows of the file are those, as the program says.
 */
function isTooMuch(file: KeptFile, of: Payment | null | undefined, recorded: readonly Recorded[]): boolean {
  const asked = file.rows.flatMap(({ payment, instruction, bad }) =>
    bad ? [] : [{ payment, named: instruction.reference, content: contentOf(instruction) }],
  )
  const [rows = [], others = []] = [asked, recorded].map((all) =>
    all.filter(({ payment }) => payment?.target === of?.target),
  )
  const meant = new Set([...rows, ...others].map(({ payment }) => payment))
  return rows.length + others.length - inBoth(rows, others) > meant.size
}

/** How many of the first ask for what the others ask for, one for one. Two references are two payments. */
function inBoth(some: readonly Asked[], others: readonly Asked[]): number {
  const left = [...others]
  const takes = ({ content }: Asked, isIt: (named: string) => boolean): boolean => {
    const at = left.findIndex((other) => other.content === content && isIt(other.named))
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  }
  // The narrower first, so that none takes what only another could have taken.
  const sameName = some.filter((row) => row.named !== '' && takes(row, (named) => named === row.named))
  const rest = some.filter((row) => !sameName.includes(row))
  const nameless = rest.filter((row) => row.named !== '' && takes(row, (named) => named === ''))
  const any = rest.filter((row) => row.named === '' && takes(row, () => true))
  return sameName.length + nameless.length + any.length
}

/** What is said of earlier files is in them; each violation in words. */
export function lookAtCorrection(file: KeptFile, { review }: Reviewed, record: SimulatedRecord): string[] {
  const asked = file.rows.map(({ instruction }) => ({ named: '', content: contentOf(instruction) }))
  return (review.correction?.batches ?? []).flatMap(({ batchId, rows }) => {
    const recorded = record.all<Asked>(
      `SELECT '' AS named, content FROM instruction WHERE batch_id = ? AND state NOT IN ('INVALID', 'DUPLICATE')`,
      batchId,
    )
    const held = inBoth(asked, recorded)
    return rows <= held ? [] : [`${file.name} is said to have ${rows} rows of ${batchId}, and has ${held}`]
  })
}
