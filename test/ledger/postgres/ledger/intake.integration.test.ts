import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { describeIntake } from '../../conformance/ledger.ts'

describeIntake('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer()
