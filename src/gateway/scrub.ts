// Makes text that came from outside fit to be kept: one line, no card number, none of our credentials.

import { maskPans } from '../domain/pan.ts'

/** A function that cleans text of the secrets, in every spelling in which a server might echo them. */
export function scrubOf(secrets: readonly string[]): (text: string) => string {
  const spellings = [...new Set(secrets.flatMap(spellingsOf))].filter((spelling) => spelling !== '')
  // The longest first: a password that begins with the username must not leave its tail behind.
  spellings.sort((a, b) => b.length - a.length)
  const secret = spellings.length === 0 ? null : new RegExp(spellings.map(escaped).join('|'), 'g')
  return (text) => {
    const clean = secret === null ? text : text.replace(secret, '***')
    // One line first: a card number broken over two lines is one after that.
    return maskPans(clean.replace(/[\s\p{Cc}]+/gu, ' ').trim())
  }
}

function spellingsOf(secret: string): string[] {
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const json = JSON.stringify(secret).slice(1, -1)
  const html = secret.replace(/[&<>"']/g, (char) => HTML[char] as string)
  return [secret, form, form.replaceAll('+', '%20'), json, html]
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
