// docs/openapi.json, made of the routes: npm run openapi. Plain JavaScript; runs with the Node of the program.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openLedgerOrNone } from '../src/app/ledger.ts'
import { loadApp } from '../src/app.ts'
import { processIo } from '../src/commands/own-process.ts'
import { publishedApi } from '../src/server/openapi.ts'
import { buildServer } from '../src/server/server.ts'

const env = { TRANCHE_DATA_DIR: '/nonexistent/tranche', TRANCHE_WITNESS_DIR: 'none', TRANCHE_LOG_LEVEL: 'silent' }
const app = await loadApp({
  io: { ...processIo(), env },
  as: null,
  logLevel: 'silent',
  reads: true,
  spelling: () => null,
})
const ledger = await openLedgerOrNone(app) // in memory
const spool = { checks: async () => [] }
const server = await buildServer({ app, ledger, isHost: () => false, trustedProxies: [], requestsPerMinute: 1, spool })
const path = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
writeFileSync(path, `${JSON.stringify(publishedApi(server), null, 2)}\n`)
await server.close()
await ledger.close()
