import { sqlitePlaceInMemory } from '../../../fixtures/ledgers.ts'
import { testPlans } from '../../../fixtures/plans.ts'
import { describeSharedWork, describeWork } from '../../conformance/ledger.ts'
import { describeOneConnection } from '../../conformance/one-connection.ts'

describeWork('a ledger in a SQLite file', sqlitePlaceInMemory, describeOneConnection)
describeSharedWork('a ledger in a SQLite file', sqlitePlaceInMemory)
testPlans()
