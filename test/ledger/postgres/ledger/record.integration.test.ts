import { postgresPlace } from '../../../fixtures/postgres-places.ts'
import { describeRecord } from '../../conformance/ledger.ts'

describeRecord('a ledger in PostgreSQL', postgresPlace)
