// The other side of `results`: csv-stringify alone writes as many records of the same columns, with the cells of a row that
// the program wrote; one of them is the record's own number.
//
//   stringify.ts FILE ROWS MODEL      MODEL: JSON, {"header":[…],"cells":[…],"own":"name of that column"}

import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'

const [file, rows, model] = process.argv.slice(2) as [string, string, string]
const { header, cells, own } = JSON.parse(model) as { header: string[]; cells: string[]; own: string }
const place = header.indexOf(own)

function* records(): Generator<string[]> {
  yield header
  for (let i = 1; i <= Number(rows); i++) yield cells.with(place, String(i))
}

await pipeline(Readable.from(records()), stringify(), createWriteStream(file))
console.log(JSON.stringify({ records: Number(rows) }))
