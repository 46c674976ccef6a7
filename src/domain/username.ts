// How an account at the gateway is told to people. The username is its API key: half of what authenticates a request.

const MOST_IN_FRONT = 4
const LONG = 12

/** Enough to tell one's own accounts apart, never more than a third in front and two letters of a long one behind. */
export function shortUsername(username: string): string {
  const letters = [...username]
  const front = letters.slice(0, Math.min(MOST_IN_FRONT, Math.floor(letters.length / 3)))
  const behind = letters.length >= LONG ? letters.slice(-2) : []
  return [...front, '…', ...behind].join('')
}
