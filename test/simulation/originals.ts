// Originals: files of payments, most without references, that clerks mend and hand in again. Each version is a file of its own.

import { toXtlOrderId } from '../../src/ingest/fields/xtl-order-id.ts'
import { EUR } from '../fixtures/ledgers.ts'
import type { PlannedFile, PlannedRow } from './plan.ts'
import type { Random } from './random.ts'

/** A payment as people mean it, in however many rows and versions it stands. Its amount may change, its target does not. */
export interface Payment {
  readonly target: string
}

interface HandedIn {
  readonly atMs: number
  readonly file: PlannedFile
}

/** The first version, and what one clerk or two made of it, each without the other. */
export function drawOriginal(random: Random, accounts: number, endsAtMs: number): HandedIn[] {
  const references = random.chance(0.25) ? 0.5 : 0
  const draw = (others: readonly PlannedRow[]) => drawRow(random, others, random.chance(references))
  const rows: PlannedRow[] = []
  for (let left = random.whole(2, 8); left > 0; left -= 1) rows.push({ ...draw(rows), bad: random.chance(0.2) })
  const about = {
    name: 'original.csv',
    account: random.whole(0, accounts - 1),
    runKey: random.chance(0.3) ? 'original' : null,
    canaryRows: null,
    maxDeclinedPercent: null,
    ofCards: false,
  }
  let atMs = random.between(0, 800)
  const cutAfter = random.chance(0.3) ? random.whole(1, rows.length) : rows.length
  // Who changes amounts says what the file is: a plain file may charge a card once more.
  const changes = random.chance(0.5)
  const first = { ...about, rows: rows.slice(0, cutAfter), skipInvalid: true, onlyNew: changes }
  const versions: HandedIn[] = [{ atMs, file: first }]
  const clerks = Array.from({ length: random.whole(1, 2) }, (): readonly PlannedRow[] => rows)
  for (let left = random.whole(1, 4); left > 0; left -= 1) {
    const clerk = left % clerks.length
    const mended = mend(random, clerks[clerk] ?? rows, draw, changes)
    clerks[clerk] = mended
    if (versions.length === 1 || random.chance(0.7)) atMs = random.between(300, endsAtMs) // else both at once
    const file = { ...about, rows: mended, skipInvalid: random.chance(0.5), onlyNew: changes || random.chance(0.5) }
    versions.push({ atMs, file })
  }
  return versions
}

const OWN = 'own-'

/** Of a row of an original: its file has the reference, the program has not made it. */
export const isOwnName = (reference: string) => reference.startsWith(OWN)

/** A payment of a target of its own, or one more of the target of another row. */
function drawRow(random: Random, others: readonly PlannedRow[], named: boolean): PlannedRow {
  const reference = named ? `${OWN}${random.whole(1, 1_000_000_000)}` : ''
  const alike = others.length > 0 && random.chance(0.2) ? random.pick(others) : null
  const isSale = alike === null ? random.chance(0.5) : alike.instruction.operation === 'CAPTURE'
  const id = alike?.payment?.target ?? String(random.whole(90_000, 99_999))
  return {
    instruction: {
      reference,
      operation: isSale ? 'CAPTURE' : 'REFUND',
      money: alike !== null && random.chance(0.7) ? alike.instruction.money : drawMoney(random),
      orderId: isSale ? null : id,
      vaultId: isSale ? id : null,
      card: null,
      saveCardOnFile: false,
      xtlOrderId: isSale && named ? toXtlOrderId('', reference) : null,
      details: {},
      executeAtMs: null,
      expiresAtMs: null,
    },
    bad: false,
    payment: { target: id },
  }
}

function drawMoney(random: Random) {
  return { amountMinor: BigInt(random.whole(1, 20) * 100), currency: EUR }
}

function mend(
  random: Random,
  original: readonly PlannedRow[],
  draw: (others: readonly PlannedRow[]) => PlannedRow,
  changes: boolean,
): PlannedRow[] {
  const rows = original.map((row) => ({ ...row, bad: row.bad && random.chance(0.2) }))
  const take = () => rows.splice(random.whole(0, rows.length - 1), 1)
  const put = (...taken: PlannedRow[]) => rows.splice(random.whole(0, rows.length), 0, ...taken)
  if (random.chance(0.3)) put(...take())
  if (random.chance(0.3)) put(withoutReference(random.pick(rows)))
  if (changes && random.chance(0.5)) put(...take().map((row) => changed(random, row, rows)))
  if (random.chance(0.3)) put(draw(rows))
  if (random.chance(0.2) && rows.length > 1) take()
  return random.chance(0.1) ? rows.map(withoutReference) : rows
}

function withoutReference(row: PlannedRow): PlannedRow {
  return { ...row, instruction: { ...row.instruction, reference: '' } }
}

/** Another amount in place of the first; or beside it, and beside others of its target: then it is a payment of its own. */
function changed(random: Random, row: PlannedRow, others: readonly PlannedRow[]): PlannedRow {
  const { payment } = row
  const other = { ...row, instruction: { ...row.instruction, money: drawMoney(random) } }
  const isBeside = random.chance(0.3) || others.some((one) => one.payment?.target === payment?.target)
  return isBeside && payment !== null ? { ...withoutReference(other), payment: { ...payment } } : other
}
