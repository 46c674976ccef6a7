// A file that a person uploads: how soon after its last byte its first rows stand on the page of its check, and its verdict.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Case, Line } from '../parts/case.ts'
import { signIn } from '../parts/visitors.ts'

const ROWS = 100_000
const FIRST_ROWS_MS = 800
const VERDICT_MS = 3_000
const LOOKED_EVERY_MS = 20

interface Seen {
  readonly firstRowsMs: number
  readonly verdictMs: number
}

export const upload: Case = {
  name: 'upload',
  async run(bench: Bench): Promise<readonly Line[]> {
    const office = await bench.office()
    try {
      const [cookie = ''] = await signIn(office, 1, ['submitter'])
      const server = office.start('serve', '--port', '0', '--json')
      const { url } = await server.said('listening')
      const file = new File([readFileSync(bench.refunds(ROWS))], 'refunds.csv')
      const seen: Seen[] = []
      // The first one compiles what the others find compiled.
      for (let n = 0; n <= bench.sizes.rounds; n++) seen.push(await uploadOnce(url, cookie, file))
      server.kill('SIGTERM')
      await server.ended
      const warm = seen.slice(1)
      const what = `${ROWS} rows, from the answer to the upload`
      return [
        {
          ...{ what: `${what} to the first rows on the page`, unit: 'ms', ours: warm.map((one) => one.firstRowsMs) },
          goal: { atMost: FIRST_ROWS_MS },
        },
        {
          ...{ what: `${what} to the verdict`, unit: 'ms', ours: warm.map((one) => one.verdictMs) },
          goal: { atMost: VERDICT_MS },
        },
      ]
    } finally {
      office.close()
    }
  },
}

async function uploadOnce(url: string, cookie: string, file: File): Promise<Seen> {
  const page = await (await fetch(`${url}/new`, { headers: { cookie } })).text()
  const body = new FormData()
  body.append('form', /name="form" value="([^"]+)"/.exec(page.slice(page.indexOf('action="/new"')))?.[1] ?? '')
  body.append('merchant', /name="merchant" id="[^"]*" value="([^"]+)"/.exec(page)?.[1] ?? '')
  body.append('operation', 'REFUND')
  body.append('file', file)
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${url}/new`, { method: 'POST', headers, body, redirect: 'manual' })
  const at = answer.headers.get('location')
  if (answer.status !== 303 || at === null) throw new Error(`the upload was answered with ${answer.status}`)
  const begun = performance.now()
  let firstRowsMs = 0
  for (;;) {
    const shown = await (await fetch(`${url}${at}`, { headers: { cookie } })).text()
    const nowMs = performance.now() - begun
    if (firstRowsMs === 0 && shown.includes('id="rows"')) firstRowsMs = nowMs
    if (shown.includes(`${ROWS} of ${ROWS} rows can be sent`)) return { firstRowsMs, verdictMs: nowMs }
    if (nowMs > 60_000) throw new Error(`the check has no verdict:\n${shown}`)
    await sleep(LOOKED_EVERY_MS)
  }
}
