// How far a batch is: a bar for a screen, a line elsewhere. While nothing moves both say why, and until when.

import type { BatchView } from '../domain/batch.ts'
import { countIn, isoOf, settledIn } from '../domain/batch-status.ts'
import type { Stillness } from '../domain/stillness.ts'
import { durationText, plural } from './text.ts'

export interface Motion {
  /** null: too early to tell. */
  readonly perSecond: number | null
  /** Why nothing moves; null: it does, or nothing is known. */
  readonly still: Stillness | null
}

/** `short` is for a narrow screen. What is in doubt is never shortened. */
const WORDS = [
  { state: 'IN_DOUBT', long: 'in doubt', short: 'in doubt' },
  { state: 'APPROVED', long: 'approved', short: 'ok' },
  { state: 'DECLINED', long: 'declined', short: 'decl.' },
  { state: 'FAILED', long: 'failed', short: 'fail.' },
  { state: 'CANCELLED', long: 'cancelled', short: 'canc.' },
] as const

/** For a log: nothing is cut, and moments are moments. */
export function progressLine(batch: BatchView, motion: Motion): string {
  return [
    `${workIn(batch).done} of ${workIn(batch).all}`,
    ...countsIn(batch, 'long').map(({ text }) => text),
    ...(motion.still === null ? [...speedOf(motion), ...timeLeftIn(batch, motion)] : [stillText(motion.still)]),
  ].join(' · ')
}

const BAR_WIDTHS = [20, 10, 0] as const

/** At most so many columns. What a person needs most comes first and is kept longest: time left, or the wait; then doubts. */
export function progressBar(batch: BatchView, motion: Motion, nowMs: number, columns: number): string {
  const { done, all } = workIn(batch)
  const counted = `${done}/${all}`
  const next = motion.still === null ? timeLeftIn(batch, motion) : [stillShort(motion.still, nowMs)]
  const speed = motion.still === null ? speedOf(motion) : []
  const long = countsIn(batch, 'long').map(({ text }) => text)
  const short = countsIn(batch, 'short').map(({ text }) => text)
  const doubts = countsIn(batch, 'short').flatMap(({ state, text }) => (state === 'IN_DOUBT' ? [text] : []))
  const forms = [
    ...BAR_WIDTHS.map((width) => [width, [counted, ...next, ...long, ...speed]] as const),
    ...BAR_WIDTHS.map((width) => [width, [counted, ...next, ...short]] as const),
    [0, [counted, ...next, ...doubts]] as const,
    [0, [counted, ...doubts]] as const,
  ]
  const lines = forms.map(([width, parts]) => `${barOf(batch, width)}${parts.join(' · ')}`)
  return lines.find((line) => line.length <= columns) ?? (lines.at(-1) as string)
}

/** Of the rows that this batch sends: one that was recorded before, or is bad, was over before it began. */
function workIn(batch: BatchView): { readonly done: number; readonly all: number } {
  const aside = countIn(batch, 'DUPLICATE') + countIn(batch, 'INVALID')
  return { done: settledIn(batch) - aside, all: batch.rows - aside }
}

function barOf(batch: BatchView, width: number): string {
  if (width === 0) return ''
  const { done, all } = workIn(batch)
  const filled = all === 0 ? width : Math.floor((done / all) * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} `
}

function countsIn(batch: BatchView, form: 'long' | 'short') {
  return WORDS.filter(({ state }) => countIn(batch, state) > 0).map((word) => ({
    state: word.state,
    text: `${countIn(batch, word.state)} ${word[form]}`,
  }))
}

function speedOf({ perSecond }: Motion): string[] {
  return perSecond === null || perSecond === 0 ? [] : [`${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`]
}

function timeLeftIn(batch: BatchView, { perSecond }: Motion): string[] {
  const { done, all } = workIn(batch)
  const left = all - done
  return perSecond === null || perSecond === 0 || left === 0 ? [] : [`${durationText(left / perSecond)} left`]
}

/** For a sentence or a line of a log. */
export function stillText(still: Stillness): string {
  switch (still.code) {
    case 'gateway':
      return still.untilMs === null
        ? `waiting for the gateway (${still.why}): one row at a time is tried`
        : `waiting until ${isoOf(still.untilMs)}: ${still.why}`
    case 'answers':
      return `waiting for ${plural(still.requests, 'answer')}`
    case 'due':
      return `waiting until ${isoOf(still.untilMs)}, when the next row is due${still.why === null ? '' : `: ${still.why}`}`
    case 'order':
      return `${plural(still.rows, 'row waits', 'rows wait')} for an earlier row of the same order`
    case 'rate':
      return `kept to the rate of ${rateText(still.perSecond)}`
  }
}

/** For the bar: the time that is left, and in a few words what for. */
function stillShort(still: Stillness, nowMs: number): string {
  const left = (untilMs: number) => durationText(Math.max(1, (untilMs - nowMs) / 1000))
  switch (still.code) {
    case 'gateway': {
      const code = /HTTP (\d{3})/.exec(still.why)?.[1]
      const who = code === undefined ? 'gateway' : `gateway ${code}`
      return still.untilMs === null ? `trying again (${who})` : `waiting ${left(still.untilMs)} (${who})`
    }
    case 'answers':
      return `waiting for ${plural(still.requests, 'answer')}`
    case 'due':
      return `next row in ${left(still.untilMs)}`
    case 'order':
      return `${plural(still.rows, 'row')} behind another`
    case 'rate':
      return `at ${rateText(still.perSecond)}`
  }
}

function rateText(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond}/s` : `one in ${durationText(1 / perSecond)}`
}
