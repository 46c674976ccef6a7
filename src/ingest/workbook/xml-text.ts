// The characters of an XML part as they are meant: bytes decoded, lines ended, entities and escapes resolved.

import { damaged } from './zip.ts'

/** No part of a workbook has a longer text or tag: a cell holds 32,767 characters. Longer ones would be joined without end. */
export const TOKEN_CHARACTERS_MOST = 1024 * 1024
/** A text may come in many pieces, with tags between them. */
export function joined(text: string, piece: string): string {
  if (text.length + piece.length > TOKEN_CHARACTERS_MOST) throw damaged()
  return text + piece
}

/** By its mark or its first character, which is a <. */
export function decoderFor(start: Uint8Array): InstanceType<typeof TextDecoder> {
  const [a, b] = start
  const isLittle = (a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)
  const isBig = (a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8', { fatal: true })
}

/** Without bytes: what is left of the last ones. */
export function decodeBytes(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array): string {
  let text: string
  try {
    text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch (error) {
    throw damaged(error)
  }
  if (text.includes('\0')) throw damaged()
  return text
}

/** For XML every line ends with \n, however it is written (XML 1.0, 2.11). A \r at the end of a piece waits for the next. */
export class LineEnds {
  #waiting = ''

  take(text: string): string {
    if (this.#waiting === '' && !text.includes('\r')) return text
    const all = this.#waiting + text
    this.#waiting = all.endsWith('\r') ? '\r' : ''
    return all.slice(0, all.length - this.#waiting.length).replace(/\r\n?/g, '\n')
  }

  rest(): string {
    return this.#waiting === '' ? '' : '\n'
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-fA-F]+);|#(\d+);|([a-z]{2,4});)?/g,
    (_, hex?: string, decimal?: string, name = '') => {
      const character = hex ?? decimal
      if (character === undefined) return ENTITIES[name] ?? refuseEntity()
      const code = Number.parseInt(character, hex === undefined ? 10 : 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : refuseEntity()
    },
  )
}

function refuseEntity(): never {
  throw damaged()
}

/**
 * `_x000D_` is how a workbook writes a character that XML cannot hold, and `_x005F_` the underscore before such a form. No
 * text has the character zero, so that its form stays as it is.
 */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (form, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code === 0 ? form : String.fromCharCode(code)
  })
}

/** As an attribute says it. */
export function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/** Of an element that means yes by being there: `<strike/>`. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || isTrue(value)
}
