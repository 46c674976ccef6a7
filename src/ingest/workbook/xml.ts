// One XML part of a workbook, as a stream of elements. No entity but the five of XML is known, and no DTD is read. What is
// no XML is refused: two readers that put up with it in two ways would read two workbooks.

import { LIMITS } from '../limits.ts'
import { decodeBytes, decodeEntities, decoderFor, LineEnds } from './xml-text.ts'
import { Tokens } from './xml-tokens.ts'
import { type Budget, damaged, type Entry, inflate, Unreadable } from './zip.ts'

/** The value of an attribute without a prefix, or of one that relates to another part: `r:id`. */
export type AttributeOf = (name: string, kind?: 'relation') => string | undefined

/**
 * The elements that are taken, by where they stand, from the root on. Any other is passed over with all that is in it, and so
 * is one outside the namespace of the root: extensions and other programs may repeat every name. `text` holds text and no
 * element, and stands once in its parent.
 */
export interface Shape {
  readonly [name: string]: Shape | 'text'
}

/** As cells and shared texts hold it: without the readings of Japanese ones. Of fonts only whether they strike the text through. */
export const TEXT_OR_RUNS: Shape = { t: 'text', r: { rPr: { strike: {} }, t: 'text' } }

export interface Elements {
  /** Names come without their prefix. */
  open(name: string, attribute: AttributeOf): void
  close(name: string): void
  /** What stands in an element of this name; it may come in pieces. */
  text(text: string, name: string): void
}

/** A text in a cell in a row stands seven deep. */
const DEPTH_MOST = 100

/**
 * Hands the elements over as they come; yields after every piece, so that what was gathered can be taken away. Throws
 * Unreadable for what is not XML, and for a DTD.
 */
export async function* readXml(
  bytes: Buffer,
  entry: Entry,
  budget: Budget,
  shape: Shape,
  elements: Elements,
): AsyncGenerator<undefined> {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  const lineEnds = new LineEnds()
  const tokens = new Tokens(new ShapedElements(shape, elements, budget))
  for await (const piece of inflate(bytes, entry, budget)) {
    decoder ??= decoderFor(piece)
    tokens.take(lineEnds.take(decodeBytes(decoder, piece)))
    yield
  }
  if (decoder !== null) tokens.take(lineEnds.take(decodeBytes(decoder)) + lineEnds.rest())
  tokens.end()
  yield
}

const RELATIONS =
  /^http:\/\/(?:schemas\.openxmlformats\.org\/officeDocument\/2006|purl\.oclc\.org\/ooxml\/officeDocument)\/relationships$/
/** Its elements wrap others, which count as if they stood without them. */
const ALTERNATIVES = 'http://schemas.openxmlformats.org/markup-compatibility/2006'

/** By prefix, as one element declares them, and what is declared around it. */
interface Namespaces {
  readonly own: ReadonlyMap<string, string>
  readonly outer: Namespaces | null
}
const NAMESPACES: Namespaces = { own: new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]), outer: null }

/** An element that is open. A shape of null: it is passed over with what is in it. */
interface Open {
  readonly name: string
  readonly local: string
  readonly namespaces: Namespaces
  readonly shape: Shape | 'text' | null
  readonly isTaken: boolean
  /** The texts that were in it, by name. */
  readonly texts: string[]
}

/** Follows the elements that are open, and hands over those of the shape. */
class ShapedElements {
  readonly #shape: Shape
  readonly #elements: Elements
  readonly #budget: Budget
  readonly #open: Open[] = []
  #main: string | null = null

  constructor(shape: Shape, elements: Elements, budget: Budget) {
    this.#shape = shape
    this.#elements = elements
    this.#budget = budget
  }

  get innermost(): string | undefined {
    return this.#open.at(-1)?.name
  }

  open(name: string, tag: string): void {
    if (this.#open.length === DEPTH_MOST) throw damaged()
    this.#budget.leftElements -= 1
    if (this.#budget.leftElements < 0) throw tooManyElements()
    const parent = this.#open.at(-1)
    if (parent?.shape === 'text') throw damaged()
    let attributes: Attributes | null = null
    const parsed = () => {
      attributes ??= parseAttributes(tag, name.length + 1)
      return attributes
    }
    const outer = parent?.namespaces ?? NAMESPACES
    const namespaces = tag.includes('xmlns') ? declared(outer, parsed()) : outer
    const namespace = namespaceOf(name, namespaces)
    if (namespace === undefined) throw damaged()
    this.#main ??= namespace
    const local = localName(name)
    const around = parent === undefined ? this.#shape : (parent.shape as Shape | null)
    const own = around !== null && namespace === this.#main && Object.hasOwn(around, local) ? around[local] : undefined
    const isWrapper = namespace === ALTERNATIVES && parent !== undefined
    const shape = isWrapper ? around : (own ?? null)
    if (own === 'text' && parent !== undefined) takeOnce(parent.texts, local)
    const texts = isWrapper ? parent.texts : []
    this.#open.push({ name, local, namespaces, shape, isTaken: own !== undefined, texts })
    if (own !== undefined) {
      this.#elements.open(local, (wanted, kind) =>
        attributeOf(parsed(), wanted, kind === undefined ? null : namespaces),
      )
    }
  }

  text(text: string): void {
    const at = this.#open.at(-1)
    if (at?.shape === 'text') this.#elements.text(text, at.local)
  }

  close(): void {
    const { local, isTaken } = this.#open.pop() as Open
    if (isTaken) this.#elements.close(local)
  }
}

/** Of two, one reader would take the first and another the last. */
function takeOnce(texts: string[], name: string): void {
  if (texts.includes(name)) throw damaged()
  texts.push(name)
}

function declared(outer: Namespaces, attributes: Attributes): Namespaces {
  const own = new Map<string, string>()
  for (const [name, value] of attributes) {
    if (name === 'xmlns') own.set('', decodeEntities(value))
    else if (name.startsWith('xmlns:')) own.set(name.slice('xmlns:'.length), decodeEntities(value))
  }
  return { own, outer }
}

/** undefined: the prefix is not declared. */
function namespaceOf(name: string, namespaces: Namespaces): string | undefined {
  const colon = name.indexOf(':')
  const prefix = colon === -1 ? '' : name.slice(0, colon)
  for (let at: Namespaces | null = namespaces; at !== null; at = at.outer) {
    const found = at.own.get(prefix)
    if (found !== undefined) return found
  }
  return prefix === '' ? '' : undefined
}

type Attributes = ReadonlyMap<string, string>

const ATTRIBUTE = /\s+([^\s=<>"'/]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y

function parseAttributes(tag: string, from: number): Attributes {
  const attributes = new Map<string, string>()
  let end = from
  for (;;) {
    ATTRIBUTE.lastIndex = end
    const match = ATTRIBUTE.exec(tag)
    if (match === null) break
    const name = match[1] as string
    if (attributes.has(name)) throw damaged()
    if (attributes.size === LIMITS.attributes) throw tooManyAttributes()
    attributes.set(name, match[2] ?? match[3] ?? '')
    end = ATTRIBUTE.lastIndex
  }
  if (!/^\s*\/?>$/.test(tag.slice(end))) throw damaged()
  return attributes
}

function tooManyElements(): Unreadable {
  return new Unreadable({
    problem: 'the workbook has more elements than are read here for a file of its size',
    remedy: 'delete the rows and columns that are formatted and empty, or save the sheet as "CSV UTF-8"',
  })
}

function tooManyAttributes(): Unreadable {
  return new Unreadable({
    problem: `the workbook has a tag with more than ${LIMITS.attributes} attributes, which no spreadsheet program writes`,
    remedy: 'open it in the spreadsheet program, save it again as .xlsx, and use that file',
  })
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** With namespaces: one with a prefix that stands for relations. */
function attributeOf(attributes: Attributes, wanted: string, namespaces: Namespaces | null): string | undefined {
  if (namespaces === null) {
    const plain = attributes.get(wanted)
    return plain === undefined ? undefined : decodeEntities(plain)
  }
  for (const [name, value] of attributes) {
    const isRelation = name.includes(':') && RELATIONS.test(namespaceOf(name, namespaces) ?? '')
    if (isRelation && localName(name) === wanted) return decodeEntities(value)
  }
  return undefined
}
