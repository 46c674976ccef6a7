import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { testPlans } from '../../../fixtures/plans.ts'
import { describeIntake } from '../../conformance/ledger.ts'

describeIntake('a ledger in a SQLite file', sqlitePlaceInMemory)
testPlans()
