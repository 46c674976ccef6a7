import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { tryFewer } from '../../../fixtures/tries.ts'
import { describeIntake } from '../../conformance/ledger.ts'

tryFewer(0.5)
describeIntake('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer({ rows: 50_000 })
