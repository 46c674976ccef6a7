import { expect, test } from 'vitest'
import { troubleText } from '../../src/commands/run.ts'
import { unreachableFault } from '../../src/ledger/postgres/errors.ts'

test('what keeps a run from handing out work is never said to mean that nothing was sent', () => {
  const said = troubleText(unreachableFault(new Error('connect ECONNREFUSED')))
  expect(said).toBe(
    'No work can be handed out (The PostgreSQL server of the ledger cannot be reached (connect ECONNREFUSED). Check that it runs and that TRANCHE_LEDGER_URL (or the file of TRANCHE_LEDGER_URL_FILE) is right, then try again). What was sent is recorded, the rest stays due. It goes on by itself as soon as it can; Ctrl-C ends it, and the same command resumes it.',
  )
})
