// Text without quotation marks is parted without csv-parse, and comes out as csv-parse would part it.

import { createHash } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRecords } from '../../src/ingest/csv/records.ts'
import { withFile } from './table.ts'

/** A piece of text ends behind so many characters. */
const PIECE = 4 * 1024

const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ',', ',', ' ', '\r', '\n', '\r\n'), maxLength: 60 })
/** Around the end of a piece, so that any of its characters may be the last one. */
const filler = fc.integer({ min: PIECE - 40, max: PIECE }).map((length) => `${'x'.repeat(length - 1)}\n`)

async function cellsOf(bytes: Buffer): Promise<readonly (readonly [line: number, cells: readonly string[]])[]> {
  const layout = { delimiter: ',', skippedCharacters: 0, firstLine: 1, encoding: 'utf-8', patient: false } as const
  return withFile(bytes, async (file) => {
    const found: [number, readonly string[]][] = []
    for await (const group of readRecords(file, layout, createHash('sha256')))
      for (const read of group) if (read.kind === 'record') found.push([read.line, read.cells])
    return found
  })
}

test('text without quotation marks has the records, cells and lines that csv-parse finds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(filler, { nil: '' }), text, fc.boolean(), async (before, plain, isQuotedBehind) => {
      const whole = `${before}${plain}${isQuotedBehind ? '\n"q"\n' : ''}`
      const options = { record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true }
      const records = parse(whole, options) as string[][]
      const wanted = records.flatMap((cells, i) =>
        cells.every((cell) => cell.trim() === '') ? [] : [[i + 1, cells] as const],
      )
      expect(await cellsOf(Buffer.from(whole))).toEqual(wanted)
    }),
    { numRuns: 500 },
  )
})
