import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { testPlans } from '../../../fixtures/plans.ts'
import { describeRecord } from '../../conformance/ledger.ts'

describeRecord('a ledger in a SQLite file', sqlitePlaceInMemory)
testPlans()
