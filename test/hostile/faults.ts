// The raw gateway on a bad day: a fault now and then, as a seed has it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from '../nemesis/schedule.ts'
import { type Asked, answerTruly, httpAnswer, type Line, type Script, toJson } from './gateway.ts'

type Fault = (asked: Asked, line: Line, dice: Dice) => void | Promise<void>

const FAULTS: Readonly<Record<string, Fault>> = {
  'executes and falls silent': (_, line) => void line.execute(),
  'falls silent': () => {},
  'executes and resets': (_, line) => {
    line.execute()
    line.reset()
  },
  resets: (_, line) => line.reset(),
  'executes and says 503': (_, line) => {
    line.execute()
    line.end(httpAnswer(503, '{"ERROR_MESSAGE":"later"}', { 'retry-after': '0' }))
  },
  'says 503': (_, line) => line.end(httpAnswer(503, 'later')),
  'says 429': (_, line) => line.end(httpAnswer(429, 'later', { 'retry-after': '1' })),
  'executes and says half of it': (_, line) => {
    const answer = httpAnswer(200, toJson(line.execute()))
    line.end(answer.subarray(0, answer.length - 30))
  },
  'executes and shows a web page': (_, line) => {
    line.execute()
    line.end(httpAnswer(200, '<!doctype html><title>We will be right back</title>'))
  },
  'executes and names another order': (_, line) => {
    const json = toJson(line.execute())
    line.end(httpAnswer(200, json.replace(/_ORDER_ID":(\d)/, '_ORDER_ID":9$1')))
  },
  declines: (asked, line) => answerTruly(asked, line, line.execute('DECLINED')),
  'declines and falls silent': (_, line) => void line.execute('DECLINED'),
  'refuses as wrong': (_, line) => line.end(httpAnswer(400, '{"ERROR_MESSAGE":"no such field"}')),
  'takes its time': async (asked, line, dice) => {
    const entry = line.execute()
    await sleep(200 + dice.below(1_000))
    answerTruly(asked, line, entry)
  },
}

/** One request in so many meets a fault, the others are treated well. */
export function faulty(dice: Dice, oneIn: number, well: Script): Script {
  const faults = Object.values(FAULTS)
  return (asked, line) => {
    if (dice.below(oneIn) > 0) return well(asked, line)
    return faults[dice.below(faults.length)]?.(asked, line, dice)
  }
}
