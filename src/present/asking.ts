// How doors without a terminal say what is done at one: whoever runs the server is asked.

import { partsOf, type Text, type Way, Words, words } from '../domain/words.ts'

const WHO = 'ask whoever runs this server'

/** An order, as what somebody else is asked for. What is a way in it is a command. */
export function asking(order: Text): Words {
  const [first, ...rest] = partsOf(order)
  if (typeof first !== 'string') return words`${WHO}: ${order}`
  const who = /^\p{Lu}/u.test(first) ? `A${WHO.slice(1)}` : WHO
  return new Words([`${who} to ${first.charAt(0).toLowerCase()}${first.slice(1)}`, ...rest])
}

/** A command, wherever in a sentence it stands. */
export function askedFor(way: Way): Words {
  return words`${withoutLead(way)} (${WHO})`
}

/** The sentence has the words before it already. */
function withoutLead<W extends Way>(way: W): W {
  const { lead: _, ...bare } = way as W & { readonly lead?: string }
  return bare as W
}
