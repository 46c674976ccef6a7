import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../../fixtures/postgres-plans.ts'
import { describeRecord } from '../../conformance/ledger.ts'
import { tryFewer } from '../../conformance/tries.ts'

tryFewer(0.5)
describeRecord('a ledger in PostgreSQL', postgresPlace)
testPlansOnServer()
