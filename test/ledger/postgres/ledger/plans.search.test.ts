// The whole conformance suite, and then the plans of all its statements beside as many rows as some years leave.

import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { describeIntake, describeRecord, describeSharedWork, describeWork } from '../../conformance/ledger.ts'

describeIntake('a ledger in PostgreSQL', postgresPlace)
describeSharedWork('a ledger in PostgreSQL', postgresPlace)
describeRecord('a ledger in PostgreSQL', postgresPlace)
describeWork('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer({ rows: 2_000_000 })
