// What must never be kept of a card beside its number: security codes and magnetic tracks in any text. A code alone is three or
// four digits like any others, so that the word in front of it decides. Pure; every pattern is linear.

import { codeBehindName } from './card-words.ts'
import { holdsPan, maskPans } from './pan.ts'
import { unescaped, withBlanks } from './unescaped.ts'

/** Zeros alone are what a mask leaves. */
const CODE = codeBehindName(String.raw`(?!0+(?!\p{Nd}))\p{Nd}{3,4}(?!\p{Nd})`)

/**
 * Every code needs both: in ASCII its name has three letters in a row. Most cells and texts lack one, and this is looked for quickly;
 * the pattern alone takes 50 ms to compile.
 */
const LETTERS = /[A-Za-z]{3}|[^\0-\x7f]/
const DIGITS = /\p{Nd}{3}/u

function mayHoldCode(text: string): boolean {
  return LETTERS.test(text) && DIGITS.test(text)
}

/** As ISO/IEC 7813 writes them. The beginning of the second may be lost where it parts cells; then a month and a service code tell. */
const TRACKS = [
  /%B ?(?!(?:0 ?)+\^)(?:\d ?){12,19}\^[^?\r\n]{0,80}\??/gi,
  /;(?!0+=)\d{12,19}=\d{0,24}\??/g,
  /(?<!\d)(?!0+=)\d{12,19}=\d\d(?:0[1-9]|1[0-2])\d{3,20}\??/g,
]
const IN_TRACKS = /[\^=]/

/** Whether the text holds a security code under its name, or a magnetic track. */
export function holdsCardSecret(text: string): boolean {
  return showsCardSecret(text) || showsCardSecret(asItReads(text))
}

function showsCardSecret(text: string): boolean {
  return (
    (mayHoldCode(text) && text.search(CODE()) !== -1) ||
    (IN_TRACKS.test(text) && TRACKS.some((pattern) => text.search(pattern) !== -1))
  )
}

const ESCAPED = /[\\%&+]/

/** Without escapes and the blanks of forms: `security%20code+737`. */
function asItReads(text: string): string {
  return ESCAPED.test(text) ? withBlanks(unescaped(text) ?? text) : ''
}

/** The digits of every such code and track made zeros, so that JSON stays JSON. */
export function maskCardSecrets(text: string): string {
  const zeroed = (match: string) => match.replace(/\p{Nd}/gu, '0')
  const withoutTracks = TRACKS.reduce((rest, track) => rest.replace(track, zeroed), text)
  const masked = mayHoldCode(withoutTracks)
    ? withoutTracks.replace(CODE(), (match) => match.replace(/\p{Nd}{3,4}$/u, zeroed))
    : withoutTracks
  return showsCardSecret(asItReads(masked)) ? withoutDigits(masked) : masked
}

/** A name is not longer, nor a track. */
const BEFORE_ESCAPE = 60

/** The digits hide in escapes: none is left from where the first escape may belong to them. JSON stays JSON. */
function withoutDigits(text: string): string {
  const from = Math.max(0, text.search(ESCAPED) - BEFORE_ESCAPE)
  return (
    text.slice(0, from) +
    text.slice(from).replace(/\\u[\da-f]{4}|\p{Nd}+/giu, (found) => (found.startsWith('\\') ? ' ' : '0'))
  )
}

/** Anything in a text that may not be kept: a card number, a security code, a track. */
export function holdsCardData(text: string): boolean {
  return holdsPan(text) || holdsCardSecret(text)
}

/** The text as it may be kept and shown. Tracks first: of a masked number their pattern would be blind. */
export function maskCardData(text: string): string {
  const masked = maskPans(maskCardSecrets(text))
  // A masked number has no blanks, and what was none before may look like a track then.
  return showsCardSecret(masked) ? maskCardSecrets(masked) : masked
}
