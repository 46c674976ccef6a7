// A row that is left out because it is recorded, though its other cells differ: a second purchase of the same price looks so. Pure.

/** Cells by the names of their columns, as a file has them. */
export interface NamedCells {
  readonly columns: readonly string[]
  readonly cells: readonly string[]
}

/** With which the reason of such a row begins. */
export const OTHER_CELLS = 'other cells: '

/** Of the columns that are only carried through, those in which the row differs from the recorded one. A column that one of them lacks tells nothing. */
export function otherCells(row: NamedCells, recorded: NamedCells, carried: readonly string[]): readonly string[] {
  return carried.filter((name) => {
    const [now, before] = [cellIn(row, name), cellIn(recorded, name)]
    return now !== undefined && before !== undefined && now.trim() !== before.trim()
  })
}

function cellIn({ columns, cells }: NamedCells, name: string): string | undefined {
  const place = columns.indexOf(name)
  return place === -1 ? undefined : cells[place]
}
