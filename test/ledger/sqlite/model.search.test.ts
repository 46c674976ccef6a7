// The model of every ledger, held against SQLite for longer than the conformance suite does.

import { sqlitePlace } from '../../fixtures/ledgers.ts'
import { describeModel } from '../conformance/model.ts'

describeModel(sqlitePlace, 100)
