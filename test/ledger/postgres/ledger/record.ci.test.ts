import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { tryFewer } from '../../../fixtures/tries.ts'
import { describeRecord, describeSharedWork } from '../../conformance/ledger.ts'

tryFewer(0.5)
describeSharedWork('a ledger in PostgreSQL', postgresPlace)
describeRecord('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer({ rows: 50_000 })
