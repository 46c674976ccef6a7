// Rows that are above the limit of a whole day, in words.

import { type AboveLimit, directionText } from '../domain/daily-limit.ts'
import type { AboveLimitRefused } from '../domain/submission.ts'
import { amountText, plural } from './text.ts'

export function aboveLimitLine({ direction, currency, limitMinor, rows, firstLine, largestMinor }: AboveLimit): string {
  const limit = `${amountText(limitMinor, currency)} ${currency}`
  const where = rows === 1 ? `line ${firstLine}` : `the first in line ${firstLine}`
  return `${plural(rows, 'row is', 'rows are')} above the limit of ${limit} a day for ${directionText(direction)} (${where}, the largest ${amountText(largestMinor, currency)} ${currency})`
}

export function aboveLimitRefusal({ found, above }: AboveLimitRefused): string {
  const [it, one] = found === 1 ? ['it is', 'it is sent'] : ['every one of them is', 'each is sent']
  return `${above.map(aboveLimitLine).join('; ')}. Check the amounts. Only if ${it} meant, add --allow-above-limit ${found}: ${one} alone, on a day on which nothing else of the kind was.`
}
