import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { describeWork } from '../../conformance/ledger.ts'

describeWork('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer({ rows: 50_000 })
