// What waits for a person, in words, and what the shell is told of it.

import { sayAlarm } from '../domain/alarm.ts'
import type { Attention } from '../domain/attention.ts'
import { spell } from '../domain/words.ts'
import { approvalsText } from './approval.ts'
import { commandLine } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import { whyText } from './standing.ts'
import { plural } from './text.ts'
import { healthText } from './webhooks.ts'
import { workerText } from './workers.ts'

/** 6 cannot go on · 5 in doubt · 4 approvals are missing · 0 nothing needs a person. */
export function exitCodeOfAttention(all: readonly Attention[]): 0 | 4 | 5 | 6 {
  return all.reduce<0 | 4 | 5 | 6>((worst, one) => (exitCodeOf(one) > worst ? exitCodeOf(one) : worst), EXIT.approved)
}

function exitCodeOf({ code }: Attention): 4 | 5 | 6 {
  switch (code) {
    case 'in-doubt':
    case 'left-open':
    case 'late-answers':
      return EXIT.inDoubt
    case 'awaiting-approval':
      return EXIT.awaitingApproval
    case 'alarm':
    case 'stopped':
    case 'held':
    case 'paused':
    case 'silent':
    case 'unsent':
    case 'endpoint-disabled':
      return EXIT.stopped
  }
}

export function toJsonAttention(one: Attention, ledgerPath: string): object {
  const { what, says } = attentionText(one, ledgerPath)
  return { code: one.code.replaceAll('-', '_'), what, says }
}

/** What it is about, and the rest of the line. */
export function attentionText(one: Attention, ledgerPath: string): { readonly what: string; readonly says: string } {
  switch (one.code) {
    case 'alarm':
      return { what: 'ledger', says: spell(sayAlarm(one.alarm, ledgerPath), commandLine) }
    case 'in-doubt':
      return {
        what: 'doubts',
        says: `${plural(one.rows, 'row', 'rows')} in doubt: the gateway may have executed ${one.rows === 1 ? 'it' : 'them'}. Look ${one.rows === 1 ? 'it' : 'them'} up at the gateway (tranche in-doubt list)`,
      }
    case 'left-open':
      return {
        what: 'doubts',
        says: `${plural(one.rows, 'row was', 'rows were')} being sent when the worker ended, and may have been executed. Start a worker (tranche worker): it brings ${one.rows === 1 ? 'it' : 'them'} into doubt`,
      }
    case 'late-answers':
      return {
        what: `batch ${one.batchId}`,
        says: `${plural(one.answers, 'answer')} came after the row had been settled otherwise: see tranche status ${one.batchId}`,
      }
    case 'stopped':
      return {
        what: `merchant ${one.merchant}`,
        says: `merchant ${one.merchant} is stopped (${one.reason}). Correct it, restart a running worker, then: tranche resume --merchant ${one.merchant} --reason TEXT`,
      }
    case 'held':
      return {
        what: `merchant ${one.merchant}`,
        says: `merchant ${one.merchant} is paused (${one.reason}). When you have looked: tranche resume --merchant ${one.merchant} --reason TEXT`,
      }
    case 'paused': {
      const why = one.reason === null ? '' : ` (${one.reason})`
      return {
        what: `batch ${one.batchId}`,
        says: `batch ${one.batchId} is paused${why}. When you have looked: tranche resume ${one.batchId} --reason TEXT`,
      }
    }
    case 'awaiting-approval':
      return {
        what: `batch ${one.batchId}`,
        says: `batch ${one.batchId} waits for ${approvalsText(one)}. See what it would send: tranche approve ${one.batchId}`,
      }
    case 'unsent':
      return {
        what: `batch ${one.batchId}`,
        says: `batch ${one.batchId} has rows that are due and that nobody sends: ${whyText([one.why])}`,
      }
    case 'endpoint-disabled':
      return {
        what: `endpoint ${one.endpoint.id}`,
        says: `${one.endpoint.url} is ${healthText(one.endpoint)}. It is told nothing more, and nothing of it is lost. When it is mended: tranche webhooks enable ${one.endpoint.id}`,
      }
    case 'silent':
      return { what: 'worker', says: workerText(one.worker) }
  }
}
