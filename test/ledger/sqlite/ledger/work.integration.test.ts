import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { describeWork } from '../../conformance/ledger.ts'

describeWork('a ledger in a SQLite file', sqlitePlaceInMemory)
