// The other side of `check` and `submit`: csv-parse alone, with the options that the program needs, over the same file.
//
//   parse.ts FILE

import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'

let records = 0
const parser = createReadStream(process.argv[2] as string).pipe(parse({ info: true, raw: true }))
parser.on('data', () => {
  records += 1
})
parser.on('end', () => console.log(JSON.stringify({ records })))
