// The other side of the worker: the plain script that somebody writes for one afternoon. It parses the file, keeps so many
// requests open over kept-alive connections, looks at each answer, and keeps nothing.
//
//   script.ts FILE URL OPEN

import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { Pool } from 'undici'
import { momentMs } from '../parts/moment.ts'
import { refund } from './refund.ts'

const [file, url, open] = process.argv.slice(2) as [string, string, string]
const pool = new Pool(url, { connections: Number(open), pipelining: 1 })
const records = createReadStream(file)
  .pipe(parse({ columns: true }))
  [Symbol.asyncIterator]()
let approved = 0

async function sendOnByOne(): Promise<void> {
  for (;;) {
    const { done, value } = await records.next()
    if (done === true) return
    await refund(pool, value.amount, value.request_ref_po_id)
    approved += 1
  }
}

await Promise.all(Array.from({ length: Number(open) }, sendOnByOne))
console.log(JSON.stringify({ approved, endMs: momentMs() }))
process.exit()
