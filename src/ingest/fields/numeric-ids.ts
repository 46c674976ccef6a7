// Ids of the gateway that a workbook stores as numbers: read as they stand where the column shows that nothing was lost.

import type { CsvRecord } from '../csv/records.ts'
import type { Field } from '../field-names.ts'
import type { Header } from '../header.ts'

/**
 * The gateway's own ids, which are compared without leading zeros. References and merchant order ids are compared as text
 * for ever: `0071` and `71` would be two instructions.
 */
const FIELDS = ['request_ref_po_id', 'customer_vault_id'] as const satisfies readonly Field[]

/** The ids of one column. */
class Ids {
  numbers = 0
  readonly lengths = new Set<number>()
  readonly textLengths = new Set<number>()
  /** A text begins with a zero: zeros matter here. */
  showsZeros: boolean = false
  /** A number is shown otherwise than it is stored, as with zeros in front, or is too long to be whole. */
  isFormatted: boolean = false
}

export class NumericIdEvidence {
  readonly #columns: readonly { readonly field: Field; readonly place: number; readonly ids: Ids }[]

  constructor({ fields }: Header) {
    this.#columns = FIELDS.flatMap((field) => {
      const place = fields[field]
      return place === undefined ? [] : [{ field, place, ids: new Ids() }]
    })
  }

  see({ cells, kinds }: CsvRecord): void {
    if (kinds === undefined) return
    for (const { place, ids } of this.#columns) {
      const text = (cells[place] ?? '').trim()
      const kind = kinds[place]
      if (kind === 'whole') {
        ids.numbers += 1
        ids.lengths.add(text.length)
      } else if (kind === 'number' || kind === 'rescaled') ids.isFormatted = true
      else if (kind === 'text' && text !== '') {
        ids.textLengths.add(text.length)
        ids.showsZeros ||= text.startsWith('0')
      }
    }
  }

  /** The fields whose numbers are ids, and what a person is told of them. */
  decide(): { readonly fields: ReadonlySet<Field>; readonly notes: readonly string[] } {
    const read = this.#columns.filter(
      ({ ids: { numbers, lengths, textLengths, showsZeros, isFormatted } }) =>
        numbers > 0 && !showsZeros && !isFormatted && textLengths.isSubsetOf(lengths),
    )
    return { fields: new Set(read.map(({ field }) => field)), notes: read.map(({ field, ids }) => noteOf(field, ids)) }
  }
}

function noteOf(field: Field, { numbers, lengths }: Ids): string {
  const [fewest, most] = [Math.min(...lengths), Math.max(...lengths)]
  const digits = fewest === most ? `${most} ${most === 1 ? 'digit' : 'digits'}` : `${fewest} to ${most} digits`
  const [are, they] = numbers === 1 ? ['is stored as a number', 'it stands'] : ['are stored as numbers', 'they stand']
  const ids = `${field === 'customer_vault_id' ? 'vault' : 'order'} ${numbers === 1 ? 'id' : 'ids'}`
  return `${numbers} ${ids} ${are} (${digits}) and read as ${they}. If the gateway's ids begin with zeros, format the column as Text and fill it again.`
}
