import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { tryFewer } from '../../../fixtures/tries.ts'
import { describeCardLimits, describeRecord } from '../../conformance/ledger.ts'

tryFewer(0.5)
describeCardLimits('a ledger in PostgreSQL', postgresPlace)
describeRecord('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer({ rows: 50_000 })
