// What waits for a person, in words, and what the shell is told of it.

import { sayAlarm } from '../domain/alarm.ts'
import type { Attention } from '../domain/attention.ts'
import { diskCheck, redisAwayText } from '../domain/health.ts'
import type { IntakeTrouble, WaitingJobs } from '../domain/intake-queue.ts'
import { atTerminal, spell, type Text, words } from '../domain/words.ts'
import { approvalsText } from './approval.ts'
import { countedText } from './asked.ts'
import { commandLine } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import { clockWords, limitText, whyWords } from './standing.ts'
import { durationText, plural } from './text.ts'
import { healthText } from './webhooks.ts'
import { workerWords } from './workers.ts'

/** 6 cannot go on · 5 in doubt · 4 approvals are missing · 3 something was refused or declined, and nobody has looked · 0 nothing needs a person. */
export function exitCodeOfAttention(all: readonly Attention[]): 0 | 3 | 4 | 5 | 6 {
  return all.reduce<0 | 3 | 4 | 5 | 6>(
    (worst, one) => (exitCodeOf(one) > worst ? exitCodeOf(one) : worst),
    EXIT.approved,
  )
}

function exitCodeOf({ code }: Attention): 3 | 4 | 5 | 6 {
  switch (code) {
    case 'in-doubt':
    case 'left-open':
    case 'late-answers':
      return EXIT.inDoubt
    case 'bad-rows':
    case 'left-out':
    case 'expired':
    case 'short-refunds':
    case 'other-money':
    case 'refused-files':
      return EXIT.notAllApproved
    case 'awaiting-approval':
    case 'proposals':
      return EXIT.awaitingApproval
    case 'alarm':
    case 'clock':
    case 'stopped':
    case 'held':
    case 'paused':
    case 'silent':
    case 'disk':
    case 'redis':
    case 'unsent':
    case 'daily-limit':
    case 'endpoint-disabled':
    case 'intake':
    case 'outcomes':
      return EXIT.stopped
  }
}

export function toJsonAttention(one: Attention, ledgerPath: string): object {
  const { what, says } = attentionText(one, ledgerPath)
  return { code: one.code.replaceAll('-', '_'), what, says }
}

/** What it is about, and the rest of the line, at the command line. */
export function attentionText(one: Attention, ledgerPath: string): { readonly what: string; readonly says: string } {
  const { what, says } = attentionWords(one, ledgerPath)
  return { what, says: spell(says, commandLine) }
}

/** The same, for a door with a spelling of its own. */
export function attentionWords(one: Attention, ledgerPath: string): { readonly what: string; readonly says: Text } {
  switch (one.code) {
    case 'alarm':
      return { what: 'ledger', says: sayAlarm(one.alarm, ledgerPath) }
    case 'in-doubt':
      return {
        what: 'doubts',
        says: words`${plural(one.rows, 'row', 'rows')} in doubt: the gateway may have executed ${one.rows === 1 ? 'it' : 'them'}. Look ${one.rows === 1 ? 'it' : 'them'} up at the gateway (${{ act: 'list-doubts', toFile: false }})`,
      }
    case 'proposals':
      return {
        what: 'doubts',
        says: words`${plural(one.rows, 'proposal')} to send a row in doubt once more ${one.rows === 1 ? 'waits' : 'wait'} for another person to confirm or refuse ${one.rows === 1 ? 'it' : 'them'} (${{ act: 'list-doubts', toFile: false }})`,
      }
    case 'left-open':
      return {
        what: 'doubts',
        says: words`${plural(one.rows, 'row was', 'rows were')} being sent when the worker ended, and may have been executed. ${atTerminal`Start a worker (${{ act: 'start-worker', untilIdle: false }})`}: it brings ${one.rows === 1 ? 'it' : 'them'} into doubt`,
      }
    case 'late-answers':
      return {
        what: `batch ${one.batchId}`,
        says: words`${plural(one.answers, 'answer')} came after the row had been settled otherwise: see ${{ act: 'show-batch', batchId: one.batchId }}`,
      }
    case 'clock':
      return {
        what: 'clock',
        says: words`${clockWords(one)} Rows that look alike are asked about whatever their age meanwhile`,
      }
    case 'stopped':
      return {
        what: `merchant ${one.merchant}`,
        says: words`merchant ${one.merchant} is stopped (${one.reason}). ${atTerminal`Correct it`}: with other credentials it goes on by itself. Otherwise: ${{ act: 'resume-merchant', merchant: one.merchant }}`,
      }
    case 'held':
      return {
        what: `merchant ${one.merchant}`,
        says: words`merchant ${one.merchant} is paused (${one.reason}). When you have looked: ${{ act: 'resume-merchant', merchant: one.merchant }}`,
      }
    case 'paused': {
      const why = one.reason === null ? '' : ` (${one.reason})`
      return {
        what: `batch ${one.batchId}`,
        says: words`batch ${one.batchId} is paused${why}. When you have looked: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    }
    case 'awaiting-approval': {
      // Without sums: whoever approves it takes them from a list of their own.
      const asked = one.totals.length === 0 ? '' : `: ${countedText(one.totals)}`
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} waits for ${approvalsText(one)}${asked}. See what it would send: ${{ act: 'approve-batch', batchId: one.batchId }}`,
      }
    }
    case 'daily-limit':
      return { what: `batch ${one.batchId}`, says: `batch ${one.batchId} waits: ${limitText(one)}` }
    case 'unsent':
      return {
        what: `batch ${one.batchId}`,
        says: words`batch ${one.batchId} has rows that are due and that nobody sends: ${whyWords([one.why]) ?? ''}`,
      }
    case 'endpoint-disabled':
      return {
        what: `endpoint ${one.endpoint.id}`,
        says: words`${one.endpoint.url} is ${healthText(one.endpoint)}. It is told nothing more, and nothing of it is lost. When it is mended: ${{ act: 'enable-endpoint', endpoint: one.endpoint.id }}`,
      }
    case 'bad-rows':
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} left out ${plural(one.rows, 'bad row')}, and nothing was sent for ${one.rows === 1 ? 'it' : 'them'}: mend ${one.rows === 1 ? 'it' : 'them'}, and hand the file in again. If nothing is to be done: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    case 'left-out':
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} left out ${plural(one.rows, 'row')} because batch ${one.by} was to send ${one.rows === 1 ? 'it' : 'them'}; that batch was cancelled, and nothing was sent for ${one.rows === 1 ? 'it' : 'them'}: hand ${one.rows === 1 ? 'it' : 'them'} in again under new references. When that is done, or if nothing is to be done: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    case 'expired':
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} has ${plural(one.rows, 'row')} that expired, and nothing was sent for ${one.rows === 1 ? 'it' : 'them'}: hand ${one.rows === 1 ? 'it' : 'them'} in again under a new reference, with a later expires_at. If nothing is to be done: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    case 'short-refunds':
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} has ${plural(one.rows, 'refund')} declined because the order has too little left: see whether the list is right. When you have looked: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    case 'other-money':
      return {
        what: `batch ${one.batchId}`,
        says: words`${named(one)} has ${plural(one.rows, 'row')} approved with another amount or currency than asked: see result_warning. When you have looked: ${{ act: 'resume-batch', batchId: one.batchId }}`,
      }
    case 'refused-files':
      return {
        what: `inbox ${one.folder}`,
        says: `inbox ${one.folder} has refused ${plural(one.files, 'file')}: see the reports in its folder rejected, and move ${one.files === 1 ? 'the file' : 'the files'} away when that is done`,
      }
    case 'disk':
      return {
        what: 'disk',
        says: `${diskCheck(one.freeBytes).says}. What waits goes on by itself then; leave the workers alone`,
      }
    case 'redis':
      return { what: 'redis', says: `the Redis of TRANCHE_REDIS_URL does not answer. ${redisAwayText(one.stops)}` }
    case 'silent':
      return { what: 'worker', says: workerWords(one.worker) }
    case 'intake':
      return { what: 'messages', says: intakeText(one.trouble) }
    case 'outcomes': {
      const since = durationText(Math.round(one.waitMs / 1_000))
      const says = `services have waited for outcomes in their queues for ${since}. Nothing of them is lost: a worker or tranche serve tells them as soon as it has TRANCHE_REDIS_URL and that Redis takes them`
      return { what: 'outcomes', says }
    }
  }
}

function intakeText(trouble: IntakeTrouble): string {
  const queue = `the queue tranche-intake under the prefix ${trouble.prefix}`
  switch (trouble.kind) {
    case 'other-ledger':
      return `${queue} belongs to another ledger (${trouble.owner}), which takes the messages of every service that uses it. Give this installation a TRANCHE_REDIS_PREFIX of its own, and its services the same`
    case 'paused':
      return `${queue} is paused, and nobody takes its messages. Resume it (resume() of a BullMQ queue)`
    case 'no-concurrency':
      return `${queue} has a global concurrency of 0, and nobody takes its messages. Remove that (removeGlobalConcurrency() of a BullMQ queue)`
    case 'not-taken': {
      const { state, count } = trouble.jobs
      return `${plural(count, 'message waits', 'messages wait')} in ${queue} (${state}), one of them for ${durationText(Math.round(trouble.sinceMs / 1_000))}. ${NOT_TAKEN[state]}`
    }
    case 'other-prefix':
      return `${plural(trouble.count, 'message waits', 'messages wait')} in tranche-intake under the prefix ${trouble.other}, where no ledger takes any; this one looks under ${trouble.prefix}. Correct the prefix of the service, or TRANCHE_REDIS_PREFIX`
  }
}

const NOT_TAKEN: Readonly<Record<WaitingJobs['state'], string>> = {
  waiting: 'See whether a worker runs, and what its log says of messages',
  prioritized: 'See whether a worker runs, and what its log says of messages',
  delayed: 'A worker put them back: its log says why',
  'waiting-children': 'They wait for child jobs: a message has none. Remove them, and hand them in without children',
}

function named({ batchId, fileName }: { readonly batchId: string; readonly fileName: string | null }): string {
  return fileName === null ? `batch ${batchId}` : `batch ${batchId} (${fileName})`
}
