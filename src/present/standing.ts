// Why a batch does not move, and what to do: in words. What a person can do is spelled by the door.

import { type BatchState, isoOf, type LeftOpen, type Why } from '../domain/batch-status.ts'
import { directionText, type LimitReached } from '../domain/daily-limit.ts'
import { REDIS_UNUSABLE } from '../domain/health.ts'
import type { GatewayHealth } from '../domain/window.ts'
import { atTerminal, joined, type Spelling, spell, type Text, words } from '../domain/words.ts'
import { approvalsText } from './approval.ts'
import { commandLine } from './command-line.ts'
import { amountText, durationText, plural } from './text.ts'

/** null: there is nothing to say. */
export function whyWords(why: readonly Why[]): Text | null {
  return why.length === 0 ? null : joined(why.map(wordsOf), '; ')
}

export function whyText(why: readonly Why[], spelling: Spelling = commandLine): string | null {
  const said = whyWords(why)
  return said === null ? null : spell(said, spelling)
}

/** Of a batch that cannot go on there is always something to say. */
export function stuckText({ state, why }: { readonly state: BatchState; readonly why: readonly Why[] }): string {
  return whyText(why) ?? state
}

/** What lets a batch go on that somebody or something paused, once a person has looked. */
export function resumeLine(batchId: string): string {
  return `When you have looked: ${spell(words`${{ act: 'resume-batch', batchId }}`, commandLine)}`
}

/** A sentence; nothing where nothing was left open. */
export function leftOpenLines(left: LeftOpen | null): string[] {
  return left === null ? [] : [`${spell(wordsOf(left), commandLine)}.`]
}

const LIST_DOUBTS = { act: 'list-doubts', toFile: false } as const
const START_WORKER = { act: 'start-worker', untilIdle: false } as const
/** Where the command is at hand that hands a file in and sends it; elsewhere a worker does. */
const OR_AGAIN = (what: 'file' | 'command', lead: string) => ({ act: 'run-again', what, lead }) as const

function wordsOf(why: Why): Text {
  switch (why.code) {
    case 'being-cancelled':
      return 'being cancelled'
    case 'as-said':
      return why.reason
    case 'account-stopped':
      return words`${why.reason}. The rows that wait were not executed. ${atTerminal`Correct it`}: with other credentials the account goes on by itself, and a running worker reads a password file again. Otherwise: ${{ act: 'resume-merchant', merchant: why.merchant }}`
    case 'left-open': {
      const them = why.rows === 1 ? 'it' : 'them'
      return words`${plural(why.rows, 'row was', 'rows were')} being sent when the worker ended and may have been executed. No worker is running: ${atTerminal`start one (${START_WORKER})`}${OR_AGAIN('file', ', or ')}, to bring ${them} into doubt`
    }
    case 'gateway-trouble':
      return troubleText(why.health, why.nextTryAtMs)
    case 'unserved':
      return words`the running worker was started without merchant ${why.merchant} and sends none of its rows. ${atTerminal`Restart that worker with the configuration that names ${why.merchant}`}; it sends them then`
    case 'other-run':
      return words`a run is working on this ledger, and a run sends no batch but its own. When it has ended, ${atTerminal`start a worker (${START_WORKER})`}${OR_AGAIN('file', '; or, to wait for its turn, ')}`
    case 'not-configured':
      return `merchant ${why.merchant} is not configured here`
    case 'awaiting-approval':
      return `nothing of it is sent before it has ${approvalsText(why)}, by ${isoOf(why.untilMs)} at the latest; then it is cancelled`
    case 'behind':
      return words`${plural(why.rows, 'row waits', 'rows wait')} behind a row of the same order that is in doubt (${LIST_DOUBTS}), held, or in need of its file`
    case 'asked-to-wait':
      return words`the gateway asked to wait until ${isoOf(why.untilMs)}; a worker goes on then${OR_AGAIN('command', '; or ')}`
    case 'due-later':
      return why.isAll
        ? `the next row is due at ${isoOf(why.atMs)}`
        : `what else is left is due later, the next row at ${isoOf(why.atMs)}`
    case 'daily-limit':
      return limitText(why)
    case 'clock':
      return clockWords(why)
    case 'no-worker':
      return words`no worker is running. ${atTerminal`Start one: ${START_WORKER}`}`
    case 'without-redis':
      return `${REDIS_UNUSABLE}, and without it nothing is sent from a ledger in a file. It goes on by itself once Redis can be used`
    case 'needs-file':
      return words`its rows have card details, which are nowhere but in its file. ${atTerminal`Run ${why.fileName ?? 'that file'} again as before`}: it goes on with them`
    case 'in-doubt': {
      const them = why.rows === 1 ? 'it' : 'them'
      return words`${plural(why.rows, 'row is', 'rows are')} in doubt: look ${them} up at the gateway (${LIST_DOUBTS})`
    }
    case 'late-answers':
      return words`${plural(why.answers, 'answer')} came after the row had been settled otherwise: see result_warning; when you have looked: ${{ act: 'resume-batch', batchId: why.batchId }}`
    case 'no-progress':
      return words`no row was settled for ${durationText(why.seconds)}${why.trouble === null ? '' : ` (${why.trouble})`}, so this command stopped waiting${{ set: 'give-up-after', to: null, lead: '; the limit is set with ' }}. What is left stays PENDING; a worker goes on with it${OR_AGAIN('command', '; or ')}`
    case 'waits-for-batch':
      return words`they wait for earlier rows of the same orders in batch ${why.batchId}, which this run does not work off. ${atTerminal`Finish that one first (${{ act: 'start-worker', untilIdle: true }})`}, or cancel it`
  }
}

/** No answer ends it where nothing else is left to send: then only a person does, even after a clock that was late is right. */
export function clockWords({ merchant, aheadMs }: { readonly merchant: string; readonly aheadMs: number }): Text {
  const apart = `${apartText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  return words`this machine’s clock is ${apart} the gateway of merchant ${merchant}, by its last answer, and rows with an execute_at wait. ${atTerminal`Correct the clock`}. If it is right, or they still wait then: ${atTerminal`tell Tranche so (${{ act: 'trust-clock', merchant }})`}.`
}

function apartText(ms: number): string {
  const days = Math.round(ms / 86_400_000)
  return days < 2 ? durationText(ms / 1000) : `${days} days`
}

/** `why.untilMs` is midnight in the zone, where that exists. */
export function limitText(reached: LimitReached): string {
  const { direction, currency, limitMinor, timeZone, untilMs, holdsAbove, holdsExpiring, isAnyLeft } = reached
  const limit = `${amountText(limitMinor, currency)} ${currency}`
  const above = holdsAbove
    ? `; a row above ${limit} by itself, which nobody has accepted for this limit, waits until the limit is raised, or until it is cancelled and handed in again`
    : ''
  const expiring = holdsExpiring ? '; what expires before the next day is not sent, unless the limit is raised' : ''
  const next = isAnyLeft ? `at ${isoOf(untilMs)}, when the next day begins in ${timeZone}, or ` : ''
  return `the limit of ${limit} a day for ${directionText(direction)} is reached${above}${expiring}. It goes on ${next}once daily_limit is raised and the worker or run is started again`
}

/** Since when, why, and what happens next. */
function troubleText(health: GatewayHealth, nextTryAtMs: number | null): string {
  const { sinceMs, why, failures, openMost, backoffUntilMs } = health
  const begun = `trouble at the gateway since ${isoOf(sinceMs)} (${why})`
  if (failures === 0 && backoffUntilMs === null)
    return `${begun}; it answers again, and up to ${plural(openMost, 'request is', 'requests are')} open at a time, more with every answer`
  const next =
    nextTryAtMs === null
      ? 'one row at a time is tried until it answers'
      : `nothing is sent until ${isoOf(nextTryAtMs)}, then one row is tried`
  return `${begun}; ${next}. It goes on by itself`
}
