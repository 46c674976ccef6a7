// All that the ledger asks of PostgreSQL, beside two million rows.

import { postgresPlace } from '../../fixtures/postgres-places.ts'
import { testPlansOnServer } from '../../fixtures/postgres-plans.ts'
import { describeIntake, describeRecord, describeWork } from '../conformance/ledger.ts'
import { tryFewer } from '../conformance/tries.ts'

tryFewer(0.1)
describeWork('work in PostgreSQL', postgresPlace)
describeIntake('intake in PostgreSQL', postgresPlace)
describeRecord('the record in PostgreSQL', postgresPlace)
testPlansOnServer()
