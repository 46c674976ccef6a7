// An office whose gateway is the raw one.

import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, toCsv } from '../fixtures/files.ts'
import { answerTruly, openRawGateway, type RawGateway, type Script } from './gateway.ts'
import { lies, type Reported } from './truth.ts'

export interface Place extends AsyncDisposable {
  readonly office: Office
  readonly gateway: RawGateway
  /** Writes the rows into a file, whose results have a place as well. */
  file(name: string, rows: readonly FileRow[]): Promise<{ input: string; out: string }>
  /** How the gateway's log, the ledger and these reconciliations differ. */
  lies(...reports: readonly Reported[]): string[]
  /** How many moves in the ledger had that cause. */
  moves(cause: string): number
}

export async function openPlace(env: NodeJS.ProcessEnv = {}, script: Script = takingMs(10)): Promise<Place> {
  const gateway = await openRawGateway()
  gateway.play(script)
  const office = await openOffice({ apart: true, env: { TRANCHE_GATEWAY_URL: gateway.url, ...env } })
  return {
    office,
    gateway,
    file: async (name, rows) => ({
      input: await office.put(`${name}.csv`, toCsv(rows)),
      out: office.path(`${name}.out.csv`),
    }),
    lies: (...reports) => lies(office.ledgerPath, gateway, ...reports),
    moves: (cause) =>
      query<{ n: number }>(office, `SELECT count(*) AS n FROM move WHERE cause = '${cause}'`)[0]?.n ?? 0,
    async [Symbol.asyncDispose]() {
      await office.close()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

/** Executes at once and says so a little later. */
export function takingMs(ms: number): Script {
  return async (asked, line) => {
    const entry = line.execute()
    await sleep(ms)
    answerTruly(asked, line, entry)
  }
}
