// Identifiers as people and programs write them: one rule for references, run keys, order ids and vault ids. What a person
// cannot tell apart must not be two.

/** As an identifier is compared and kept. */
export function toIdentifier(text: string): string {
  return text.trim().normalize('NFC')
}

/**
 * What no screen shows, or shows as a blank: control and format characters, lone surrogates, private and unassigned code
 * points, what Unicode says may be ignored, and characters that are assigned and empty. A code point that a later Unicode
 * assigns is refused until this Node knows it. Letters of two scripts that look alike (Latin A, Cyrillic А) are not here: both
 * are seen, and no list of them is complete.
 */
const UNSEEN = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u2d7f\u{1107f}\u{13441}\u{13442}\u{16fe4}\u{1d159}`
const ODD = new RegExp(`[${UNSEEN}]|(?! )\\p{Zs}`, 'u')

/** The first character that a person would not see, as `U+200B`; null: there is none. A blank is U+0020 only. */
export function unseenIn(text: string): string | null {
  const code = ODD.exec(text)?.[0].codePointAt(0)
  return code === undefined ? null : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
