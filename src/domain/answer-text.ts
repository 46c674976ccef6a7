// What an answer says in words, as it may be shown: one line, of bounded length, nothing twice.

import type { Answer } from './outcome.ts'

/** Longer texts of one advice are cut: an answer must not be able to fill results and histories. */
const LONGEST_ADVICE = 300

/** All that the four advices say, in this order and nothing twice: mostly they agree, and where they do not, each may matter. */
export function declineReasonOf(answer: Answer): string {
  const advices = [answer.API_ADVICE, answer.SERVICE_ADVICE, answer.PROCESSOR_ADVICE, answer.ERROR_MESSAGE]
  const texts = advices.flatMap((advice) => {
    const text = present(advice?.replace(/\p{Cc}/gu, ' '))
    return text === null ? [] : [{ text: cut(text), key: keyOf(cut(text)) }]
  })
  const said = texts.filter(
    ({ key }, i) => !texts.some((other, at) => (other.key === key ? at < i : other.key.includes(key))),
  )
  return said.length === 0 ? 'declined without a reason' : said.map(({ text }) => text).join(' / ')
}

/** Letter case, and where blanks stand, make no other text. */
function keyOf(text: string): string {
  return text.toLowerCase().replaceAll(' ', '')
}

export function cut(text: string): string {
  const letters = [...text]
  return letters.length <= LONGEST_ADVICE
    ? text
    : `${letters
        .slice(0, LONGEST_ADVICE - 1)
        .join('')
        .trimEnd()}…`
}

export function present(text: string | undefined): string | null {
  const trimmed = text?.replace(/\s+/g, ' ').trim() ?? ''
  return trimmed === '' ? null : trimmed
}
