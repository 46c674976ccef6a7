// Batches that a purge or an archive leaves as they are, and why.

import type { PurgePlan } from '../domain/purge.ts'
import type { Terminal } from './terminal.ts'

const WHY = {
  open: 'rows of it are open or in doubt (tranche status, tranche in-doubt list)',
  'late-answers':
    'an answer came after its row had been settled otherwise, and it has not been looked at (tranche in-doubt list)',
  results:
    'its results were not written since it last changed; they would have no cells (tranche results BATCH --out FILE)',
}

export function sayLeft({ left }: Pick<PurgePlan, 'left'>, terminal: Terminal): void {
  for (const { batchId, why } of left) terminal.say(`Batch ${batchId} stays as it is: ${WHY[why]}.`)
}
