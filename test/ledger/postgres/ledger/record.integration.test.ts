import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { describeRecord } from '../../conformance/ledger.ts'

describeRecord('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer()
