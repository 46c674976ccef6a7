// What people wrote beside the cells of a sheet.

import { posix } from 'node:path'
import { type Address, parseAddress } from './address.ts'
import { type PartsByName, readRelations } from './book.ts'
import { type AttributeOf, readXml, type Shape, TEXT_OR_RUNS } from './xml.ts'
import { unescapeText } from './xml-text.ts'
import { type Entry, inflationBudget, Unreadable } from './zip.ts'

export interface Comment extends Address {
  readonly text: string
}

/** Of a comment, and of all that are kept. */
const CHARACTERS_MOST = 1_000
const THREAD_CHARACTERS_MOST = 10_000
const COMMENTS_MOST = 1_000

const COMMENTS: Shape = {
  comments: { commentList: { comment: { text: TEXT_OR_RUNS } } },
  ThreadedComments: { threadedComment: { text: 'text' } },
}

/** Those that `keeps` tells, in the order of the sheet. Of a part that cannot be read there are none: the rows do not depend on it. */
export async function readComments(
  bytes: Buffer,
  parts: PartsByName,
  sheet: Entry,
  keeps: (comment: Comment) => boolean,
): Promise<readonly Comment[]> {
  const name = sheet.name.toLowerCase()
  const folder = posix.dirname(name)
  const relations = parts.get(`${folder}/_rels/${posix.basename(name)}.rels`)
  if (relations === undefined) return []
  const found = new Map<string, Comment>()
  const budget = inflationBudget(bytes.length)
  try {
    const listed = [...(await readRelations(bytes, relations, `${folder}/`, budget)).values()]
    // A thread has a plain comment as well, for programs that know no threads: it comes first, and gives way.
    for (const wanted of ['comments', 'threadedComment'])
      for (const { kind, path } of listed) {
        const part = kind === wanted ? parts.get(path) : undefined
        if (part === undefined) continue
        for await (const _ of readXml(bytes, part, budget, COMMENTS, gathering(found, keeps)));
      }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
  }
  return [...found.values()].toSorted((a, b) => a.line - b.line || a.column - b.column)
}

function gathering(found: Map<string, Comment>, keeps: (comment: Comment) => boolean) {
  let address: Address | null = null
  let text = ''
  /** Of this part: a thread may have replies. */
  const thread = new Map<string, string>()
  return {
    open(element: string, attribute: AttributeOf) {
      if (element !== 'comment' && element !== 'threadedComment') return
      address = parseAddress(attribute('ref') ?? '')
      text = ''
    },
    text(piece: string) {
      if (text.length < CHARACTERS_MOST) text += piece
    },
    close(element: string) {
      if ((element !== 'comment' && element !== 'threadedComment') || address === null) return
      const key = `${address.line}/${address.column}`
      const written = `${thread.get(key) ?? ''}${unescapeText(text)}\n`.slice(0, THREAD_CHARACTERS_MOST)
      thread.set(key, written)
      const comment = { ...address, text: written }
      if (found.has(key) || (found.size < COMMENTS_MOST && keeps(comment))) found.set(key, comment)
    },
  }
}
