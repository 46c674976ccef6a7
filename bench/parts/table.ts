// The table that a person reads, in Markdown: minimum / median / maximum of the rounds, and whether the goal is reached.

import type { Goal, Line } from './case.ts'
import { spreadOf } from './figures.ts'

const HEAD = ['case', 'what', 'unit', 'ours', 'other side', 'ratio', 'goal', 'reached', 'rounds']

export interface Told {
  readonly name: string
  readonly lines: readonly Line[]
}

export function tableOf(told: readonly Told[]): string {
  const rows = [HEAD, ...told.flatMap(({ name, lines }) => lines.map((line) => cellsOf(name, line)))]
  const widths = HEAD.map((_, i) => Math.max(...rows.map((cells) => (cells[i] as string).length)))
  const text = rows.map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`)
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [text[0], rule, ...text.slice(1)].join('\n')
}

function cellsOf(name: string, line: Line): string[] {
  const { what, unit, ours, other, ratios, goal } = line
  return [
    name,
    what,
    unit,
    threeOf(ours),
    other === undefined ? '' : `${other.name}: ${threeOf(other.figures)}`,
    ratios === undefined ? '' : threeOf(ratios),
    goal === undefined ? '' : goalText(goal, unit, ratios !== undefined),
    goal === undefined ? '' : isReached(line) ? 'yes' : 'no',
    String(ours.length),
  ]
}

/** By the median. A line without a goal reaches it. */
export function isReached({ ours, ratios, goal }: Line): boolean {
  if (goal === undefined) return true
  const { median } = spreadOf(isAboutOurs(goal, ratios !== undefined) ? ours : (ratios as readonly number[]))
  return 'atLeast' in goal ? median >= goal.atLeast : median <= goal.atMost
}

function isAboutOurs(goal: Goal, hasRatios: boolean): boolean {
  return goal.of === 'ours' || !hasRatios
}

function goalText(goal: Goal, unit: string, hasRatios: boolean): string {
  const number = 'atLeast' in goal ? `≥ ${short(goal.atLeast)}` : `≤ ${short(goal.atMost)}`
  return isAboutOurs(goal, hasRatios) ? `${number} ${unit}` : `${number} ×`
}

function threeOf(figures: readonly number[]): string {
  const { min, median, max } = spreadOf(figures)
  return figures.length === 1 ? short(median) : `${short(min)} / ${short(median)} / ${short(max)}`
}

/** Three digits that count. */
function short(figure: number): string {
  const size = Math.abs(figure)
  if (size >= 100) return figure.toFixed(0)
  if (size >= 10) return figure.toFixed(1)
  return size >= 1 ? figure.toFixed(2) : String(Number(figure.toPrecision(3)))
}
