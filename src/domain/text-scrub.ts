// Takes card data and our own credentials out of a text that is logged or shown.

import { maskCardData } from './card-secrets.ts'
import { shortUsername } from './username.ts'

export interface Hidden {
  /** Texts that must never be written, such as the gateway password. Shorter ones than four characters are let be. */
  readonly secrets: readonly string[]
  /** Words of which no more than the beginning is written, such as the gateway username. */
  readonly usernames: readonly string[]
}

/** For what is said beside the log: unexpected failures. */
export function openTextScrub(hidden: Hidden): (text: string) => string {
  const words = secretWords(hidden)
  return (text) => maskCardData(words.reduce((rest, [word, instead]) => rest.replaceAll(word, () => instead), text))
}

/** Shorter ones are parts of many words. */
const SECRET_MIN_LENGTH = 4

/** As given and as a form writes it; the longest first, lest a part of one be replaced and the rest be left standing. */
export function secretWords({ secrets, usernames }: Hidden): [word: string, instead: string][] {
  const told: [string, string][] = [
    ...usernames.map((username): [string, string] => [username, shortUsername(username)]),
    ...secrets.map((secret): [string, string] => [secret, '[secret]']),
  ]
  const forms = told
    .filter(([word]) => word.length >= SECRET_MIN_LENGTH)
    .flatMap(([word, instead]) => spellingsOf(word).map((spelling): [string, string] => [spelling, instead]))
  return [...new Map(forms)].sort(([a], [b]) => b.length - a.length)
}

function spellingsOf(word: string): string[] {
  const form = new URLSearchParams([['', word]]).toString().slice(1)
  return [word, JSON.stringify(word).slice(1, -1), encodeURIComponent(word), form]
}
