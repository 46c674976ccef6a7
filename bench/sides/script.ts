// Another side of the worker: the plain script that people write in an afternoon. It parses the file, keeps so many
// requests open over kept-alive connections, and looks at each answer. It keeps nothing; with a ledger of its own it commits before each
// request and after each answer, as people do once they have paid twice.
//
//   script.ts FILE URL OPEN [LEDGER]

import { createReadStream } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'csv-parse'
import { Pool } from 'undici'
import { momentMs } from '../parts/moment.ts'
import { refund } from './refund.ts'

const [file, url, open, path] = process.argv.slice(2) as [string, string, string, string | undefined]
const pool = new Pool(url, { connections: Number(open), pipelining: 1 })
const ledger = path === undefined ? { before() {}, after() {} } : openLedger(path)
const records = createReadStream(file)
  .pipe(parse({ columns: true }))
  [Symbol.asyncIterator]()
let approved = 0

function openLedger(path: string) {
  const db = new DatabaseSync(path)
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE sent (reference TEXT PRIMARY KEY, state TEXT)',
  )
  const insert = db.prepare("INSERT INTO sent VALUES (?, 'SENDING')")
  const update = db.prepare("UPDATE sent SET state = 'APPROVED' WHERE reference = ?")
  return {
    before: (reference: string) => void insert.run(reference),
    after: (reference: string) => void update.run(reference),
  }
}

async function sendOnByOne(): Promise<void> {
  for (;;) {
    const { done, value } = await records.next()
    if (done === true) return
    ledger.before(value.reference)
    await refund(pool, value.amount, value.request_ref_po_id)
    ledger.after(value.reference)
    approved += 1
  }
}

await Promise.all(Array.from({ length: Number(open) }, sendOnByOne))
console.log(JSON.stringify({ approved, endMs: momentMs() }))
process.exit()
