// Takes card data and our own credentials out of a text that is logged or shown.

import { maskCardData } from './card-secrets.ts'
import { createReplacer } from './secrets.ts'
import { shortUsername } from './username.ts'

export interface Hidden {
  /** Texts that must never be written, such as the gateway password. Shorter ones than four characters are let be. */
  readonly secrets: readonly string[]
  /** Only the beginning of these is written, such as of the gateway username. */
  readonly usernames: readonly string[]
}

/** Shorter ones are parts of many words. */
const SECRET_MIN_LENGTH = 4

/** A secret that is a username as well is hidden whole. */
export function createTextScrub({ secrets, usernames }: Hidden): (text: string) => string {
  const hide = createReplacer(
    [
      ...secrets.map((word) => ({ word, instead: '[secret]' })),
      ...usernames.map((username) => ({ word: username, instead: shortUsername(username) })),
    ].filter(({ word }) => word.length >= SECRET_MIN_LENGTH),
  )
  return (text) => maskCardData(hide(text))
}
