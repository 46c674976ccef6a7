// The SQLite ledger: the suite that every ledger must pass, and what only a file can show.

import { sqlitePlace } from '../fixtures/ledgers.ts'
import { describeLedger } from './conformance.ts'

describeLedger('a ledger in a SQLite file', sqlitePlace)
