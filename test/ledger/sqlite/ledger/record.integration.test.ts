import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { describeRecord } from '../../conformance/ledger.ts'

describeRecord('a ledger in a SQLite file', sqlitePlaceInMemory)
