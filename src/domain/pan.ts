// Whether a text holds card numbers, and the text without them: issuer range, length, check digit and the way they are
// written. Luhn alone hits one number in ten. What it finds, what it takes for something else and what it cannot find: ADR 0015.

import { type Candidate, isCertain, lookAt } from './pan-candidates.ts'

/** Whether the text holds what is written as card numbers are, and would be one. */
export function holdsPan(text: string): boolean {
  return lookAt(text, 'certain').length > 0
}

/** Also card numbers in odd groups: `4111 1111 11111111`. */
export function mayHoldPan(text: string): boolean {
  return lookAt(text, 'fitting').some(({ writing }) => writing !== 'short')
}

/** Masking brings digits together that were apart: what they make is looked at again, this often at most. */
const PASSES_MOST = 4

/**
 * The text with all that may be a card number cut down to its first six and last four digits, in one piece. Only digits
 * are put in, so that a JSON line with an unquoted number stays JSON.
 */
export function maskPans(text: string): string {
  let masked = text
  for (let pass = 0; pass < PASSES_MOST; pass++) {
    const next = maskOnce(masked)
    if (next === masked) break
    masked = next
  }
  return masked
}

function maskOnce(text: string): string {
  const found = lookAt(text, 'fitting')
  if (found.length === 0) return text
  let masked = ''
  let end = 0
  for (const { from, to, digits } of withoutOverlaps(found)) {
    masked += text.slice(end, from) + digits.slice(0, 6) + '0'.repeat(digits.length - 10) + digits.slice(-4)
    end = to
  }
  return masked + text.slice(end)
}

/** In the order of the text; where two overlap, one that is certain goes first, then the one that begins first. */
function withoutOverlaps(found: readonly Candidate[]): Candidate[] {
  const byPlace = found.toSorted((a, b) => a.from - b.from || b.to - a.to)
  const certain = apart(byPlace.filter(isCertain))
  let next = 0
  const doubtful = byPlace.filter((one) => {
    if (isCertain(one)) return false
    while (next < certain.length && (certain[next] as Candidate).to <= one.from) next += 1
    return next === certain.length || (certain[next] as Candidate).from >= one.to
  })
  return [...certain, ...apart(doubtful)].sort((a, b) => a.from - b.from)
}

function apart(found: readonly Candidate[]): Candidate[] {
  let end = 0
  return found.filter(({ from, to }) => {
    if (from < end) return false
    end = to
    return true
  })
}
