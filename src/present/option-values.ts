// What an option may be given, where a command understands certain words: for the completion of a shell. Other spellings may be
// understood as well.

import { BATCH_STATES } from '../domain/batch-status.ts'
import { TRANSACTION_TYPES } from '../domain/instruction.ts'
import { PASSING } from '../domain/reattempt.ts'
import { FINDINGS } from '../domain/resolution.ts'
import { resultStatusOf, STATES } from '../domain/states.ts'

const STATUSES = [...new Set(STATES.map((state) => resultStatusOf(state).toLowerCase()))]

/** By its flags as help has them: another command may have an option of that name which takes something else. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  '--operation <op>': TRANSACTION_TYPES,
  '--state <state>': BATCH_STATES,
  '--only <statuses>': STATUSES,
  '--found <finding>': FINDINGS,
  '--retry <statuses>': ['failed', 'cancelled', 'invalid', 'declined'],
  '--category <reasons>': PASSING,
}
