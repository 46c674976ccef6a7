// How a secret is written wherever a text repeats it: one list, for answers, the log and the screen.

/** As given, and as JSON, forms, addresses and web pages write it; the longest first, so that none leaves its rest behind. */
export function spellingsOf(secret: string): string[] {
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const spellings = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    form,
    form.replaceAll('+', '%20'),
    asHtml(secret),
  ]
  return [...new Set(spellings)].filter((spelling) => spelling !== '').toSorted((a, b) => b.length - a.length)
}

function asHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => HTML[char] as string)
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Puts something else in the place of words, however they are spelled and whatever their letter case. */
export function createReplacer(words: readonly { readonly word: string; readonly instead: string }[]) {
  const spelled = words.flatMap(({ word, instead }) => spellingsOf(word).map((spelling) => ({ spelling, instead })))
  spelled.sort((a, b) => b.spelling.length - a.spelling.length)
  if (spelled.length === 0) return (text: string) => text
  const insteadOf = new Map(spelled.toReversed().map(({ spelling, instead }) => [spelling.toLowerCase(), instead]))
  const pattern = new RegExp(spelled.map(({ spelling }) => RegExp.escape(spelling)).join('|'), 'gi')
  return (text: string) => text.replace(pattern, (found) => insteadOf.get(found.toLowerCase()) ?? '[secret]')
}

/** Of the environment. A password may stand in a wrong variable as well. */
export function passwordsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    name.startsWith('TRANCHE_') && name.endsWith('PASSWORD') && value !== undefined ? [value] : [],
  )
}
