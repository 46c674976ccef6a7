// XML as tags and the text between them. What is not well-formed is refused.

import { decodeEntities, TOKEN_CHARACTERS_MOST } from './xml-text.ts'
import { damaged, Unreadable } from './zip.ts'

/** Takes the tags of elements that begin and end, and the text in them. */
interface Tagged {
  /** The name of the element that is open and has none open in it. */
  readonly innermost: string | undefined
  open(name: string, tag: string): void
  text(text: string): void
  close(): void
}

const COMMENT = '<!--'
const CDATA = '<![CDATA['

/** Splits the text into tags and the text between them. A token that is cut at the end waits for its rest. */
export class Tokens {
  readonly #elements: Tagged
  #xml = ''
  #hasRoot: boolean = false

  constructor(elements: Tagged) {
    this.#elements = elements
  }

  take(text: string): void {
    const xml = this.#xml + text
    let at = 0
    while (at < xml.length) {
      const end = xml.charCodeAt(at) === 0x3c ? this.#takeMarkup(xml, at) : this.#takeText(xml, at)
      if ((end ?? xml.length) - at > TOKEN_CHARACTERS_MOST) throw damaged()
      if (end === null) break
      at = end
    }
    this.#xml = xml.slice(at)
  }

  end(): void {
    if (!this.#hasRoot || this.#isInside || this.#xml.trim() !== '') throw damaged()
  }

  get #isInside(): boolean {
    return this.#elements.innermost !== undefined
  }

  /** Where it ends; null: not yet. So do the others. */
  #takeText(xml: string, at: number): number | null {
    const end = xml.indexOf('<', at)
    if (end === -1) return null
    const text = xml.slice(at, end)
    if (this.#isInside) this.#elements.text(decodeEntities(text))
    else if (text.trim() !== '') throw damaged()
    return end
  }

  #takeMarkup(xml: string, at: number): number | null {
    if (xml.startsWith('<?', at)) return endOf(xml, '?>', at + 2)
    if (!xml.startsWith('<!', at)) return this.#takeTag(xml, at)
    if (xml.startsWith(COMMENT, at)) return endOf(xml, '-->', at + COMMENT.length)
    const start = xml.slice(at, at + CDATA.length)
    if (start === CDATA && this.#isInside) return this.#takeCdata(xml, at + CDATA.length)
    if (CDATA.startsWith(start) || COMMENT.startsWith(start)) return null
    throw new Unreadable({
      problem: 'the workbook holds a DTD, which no spreadsheet program writes',
      remedy: 'open it in the spreadsheet program, save it again as .xlsx, and use that file',
    })
  }

  #takeCdata(xml: string, at: number): number | null {
    const end = endOf(xml, ']]>', at)
    if (end !== null) this.#elements.text(xml.slice(at, end - 3))
    return end
  }

  #takeTag(xml: string, at: number): number | null {
    const end = endOfTag(xml, at)
    if (end === null) return null
    const tag = xml.slice(at, end)
    if (tag.startsWith('</')) this.#close(tag)
    else this.#openElement(tag)
    return end
  }

  #openElement(tag: string): void {
    const name = TAG_NAME.exec(tag)?.[1]
    if (name === undefined || (!this.#isInside && this.#hasRoot)) throw damaged()
    this.#hasRoot = true
    this.#elements.open(name, tag)
    if (tag.endsWith('/>')) this.#elements.close()
  }

  #close(tag: string): void {
    const name = this.#elements.innermost
    if (name === undefined || tag.slice(2, 2 + name.length) !== name || !/^\s*>$/.test(tag.slice(2 + name.length)))
      throw damaged()
    this.#elements.close()
  }
}

const TAG_NAME = /^<([A-Za-z_:][\w:.-]*)(?=[\s/>])/

function endOf(xml: string, mark: string, from: number): number | null {
  const at = xml.indexOf(mark, from)
  return at === -1 ? null : at + mark.length
}

/** Behind the `>` that ends the tag; one in quotation marks does not. */
function endOfTag(xml: string, at: number): number | null {
  for (let i = at + 1; i < xml.length; i++) {
    const character = xml.charCodeAt(i)
    if (character === 0x3e) return i + 1
    if (character === 0x3c) throw damaged()
    if (character !== 0x22 && character !== 0x27) continue
    const close = xml.indexOf(character === 0x22 ? '"' : "'", i + 1)
    if (close === -1) return null
    i = close
  }
  return null
}
