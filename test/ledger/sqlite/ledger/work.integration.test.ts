import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { testPlans } from '../../../fixtures/plans.ts'
import { describeCardLimits, describeWork } from '../../conformance/ledger.ts'
import { describeOneConnection } from '../../conformance/one-connection.ts'

describeWork('a ledger in a SQLite file', sqlitePlaceInMemory, describeOneConnection)
describeCardLimits('a ledger in a SQLite file', sqlitePlaceInMemory)
testPlans()
