// Holds originals and their corrections against the record and the gateway: no payment twice, no row lost, nothing called known
// that no earlier file has.

import type { BatchId } from '../../src/domain/ids.ts'
import type { Books, RecordedRow } from './books.ts'
import { firstReference, instructionsOf, type KeptFile, sha256Of } from './files.ts'

export function payments(books: Books, rows: readonly RecordedRow[]): string[] {
  const files = books.recorded.batches.filter(({ source }) => source === 'file')
  const ofFiles = new Set<string>(files.map(({ id }) => id))
  const sent = rows.filter(({ state, batchId }) => state !== 'INVALID' && state !== 'DUPLICATE' && ofFiles.has(batchId))
  const originals = new Map(books.originals.map((file) => [sha256Of(file), file]))
  return [
    ...paidOnce(books),
    ...files.flatMap(({ id: batchId, bytes }) => {
      const file = originals.get(bytes)
      if (file === undefined) return []
      const own = rows.filter((row) => row.batchId === batchId)
      const earlier = sent.filter(({ id }) => id < (own[0]?.id ?? 0))
      const onlyNew = books.onlyNew.has(batchId as BatchId)
      return [...noneLost(file, own), ...knownOnce(own, earlier), ...(onlyNew ? newOnly(file, own, earlier) : [])]
    }),
  ]
}

/** Of one target no more is executed than there are payments of it, and orders to send one again. */
function paidOnce({ truth, originals }: Books): string[] {
  const rows = originals.flatMap((file) =>
    instructionsOf(file).map(({ reference }, i) => {
      const payment = file.rows[i]?.payment
      return { key: `${file.account + 1}/${reference}`, payment, target: payment?.target }
    }),
  )
  return Array.from(Map.groupBy(rows, ({ target }) => target)).flatMap(([target, own]) => {
    const keys = new Set(own.map(({ key }) => key))
    const executed = truth.executions.filter(
      ({ accountId, reference, status }) =>
        status === 'APPROVED' && keys.has(`${accountId}/${firstReference(reference)}`),
    ).length
    const meant = new Set(own.map(({ payment }) => payment)).size
    const again = [...truth.sendAgains].reduce(
      (sum, [key, times]) => sum + (keys.has(firstReference(key)) ? times : 0),
      0,
    )
    return executed <= meant + again
      ? []
      : [`${target} was paid ${executed} times; ${meant} payments of it are meant, ${again} to be sent again`]
  })
}

const isDerived = (file: KeptFile, { rowNo }: RecordedRow) => file.rows[rowNo - 1]?.instruction.reference === ''

/** Only bad rows are left out. */
function noneLost(file: KeptFile, own: readonly RecordedRow[]): string[] {
  const lost = own.filter((row) => row.state === 'INVALID' && isDerived(file, row) && !file.rows[row.rowNo - 1]?.bad)
  return lost.map(({ rowNo, batchId }) => `row ${rowNo} of ${batchId} is INVALID, and nothing is wrong with it`)
}

/** Each row that is not sent is one row of an earlier file: of the same content, or left out because its own reference has another. */
function knownOnce(own: readonly RecordedRow[], earlier: readonly RecordedRow[]): string[] {
  const taken = new Set<string>()
  return own
    .filter(({ state }) => state === 'DUPLICATE')
    .flatMap((row) => {
      const name = `row ${row.rowNo} of ${row.batchId}`
      const known = earlier.find(({ id }) => id === row.duplicateOf)
      if (known === undefined) return [`${name} is told to be recorded, and no earlier file has it`]
      if (known.content !== row.content)
        return known.reference === row.reference ? [] : [`${name} is told to be ${known.reference}, which is another`]
      const first = firstReference(known.reference)
      if (taken.has(first)) return [`${name} is told to be ${first}, which another row of its file is`]
      taken.add(first)
      return []
    })
}

/** A row that is sent as new, with no reference of its own, is none that an earlier file has and no other row of this one is. */
function newOnly(file: KeptFile, own: readonly RecordedRow[], earlier: readonly RecordedRow[]): string[] {
  const nameOf = new Map(earlier.map(({ id, reference }) => [id, firstReference(reference)]))
  const met = new Set(own.map(({ duplicateOf, supersedes }) => nameOf.get(duplicateOf ?? supersedes ?? 0)))
  const left = new Map(earlier.filter(({ id }) => !met.has(nameOf.get(id))).map((row) => [row.content, row.reference]))
  return own
    .filter(
      (row) => row.state !== 'INVALID' && row.state !== 'DUPLICATE' && row.supersedes === null && isDerived(file, row),
    )
    .filter(({ content }) => left.has(content))
    .map(({ rowNo, batchId, content }) => `row ${rowNo} of ${batchId} is sent as new, and is ${left.get(content)}`)
}
