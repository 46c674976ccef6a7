// Lists in pages. A cursor says where the next one begins; it is of one list, one filter and one key.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { isoOf } from '../domain/batch-status.ts'
import type { Pages } from '../domain/pages.ts'
import { callerOf, type Door } from './door.ts'
import { ProblemError } from './problems.ts'

const PAGE_MOST = 200
const PAGE = 50

/** Of every list. */
export const PAGING = {
  limit: z.coerce.number().int().min(1).max(PAGE_MOST).default(PAGE),
  cursor: z.string().max(1_000).optional().describe('Of the page before: where this one begins.'),
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item).describe('May have fewer than `limit` although more follow.'),
    next_cursor: z.string().nullable().describe('null: this is the last page.'),
    as_of: z.string().describe('When it was read.'),
  })
}

export interface Found<Item, Position> {
  readonly data: readonly Item[]
  /** Behind which the next page begins; null: there is none. */
  readonly next: Position | null
}

interface Listed {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** `find` gets the position of the page before; null: from the first. */
export async function answerPage<Item, Position>(
  door: Door,
  request: FastifyRequest,
  { cursor, limit: _, ...filter }: Listed,
  find: (after: Position | null) => Promise<Found<Item, Position>>,
): Promise<object> {
  const list = [door.ledger.ledgerId, callerOf(request).key.id, request.url.split('?')[0], filter]
  const asOf = isoOf(door.app.clock.nowMs())
  const { data, next } = await find(cursor === undefined ? null : (readCursor(cursor, list) as Position))
  return { data, next_cursor: next === null ? null : cursorOf(next, list), as_of: asOf }
}

function cursorOf(position: unknown, list: unknown): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return `${text}.${signatureOf(text, list)}`
}

/** It opens nothing: whatever it says, a key finds what it sees. So it holds over restarts, and for every server of one ledger. */
function signatureOf(text: string, list: unknown): string {
  return createHmac('sha256', JSON.stringify(list)).update(text).digest('base64url')
}

function readCursor(cursor: string, list: unknown): unknown {
  const [text = '', signature = ''] = cursor.split('.')
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(text, list))]
  if (given.length === right.length && timingSafeEqual(given, right))
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  throw new ProblemError('cursor_invalid', 'This cursor is not of this list: begin again without it.')
}

/** Page after page; a short one is the last. */
export async function* onwards<Item, Position>(
  read: (after: Position | null, most: number) => Promise<readonly Item[]>,
  { after, atOnce, positionOf }: OnwardsParts<Item, Position>,
): Pages<Item> {
  for (let last = after; ; ) {
    const page = await read(last, atOnce)
    const item = page.at(-1)
    if (item === undefined) return
    yield page
    if (page.length < atOnce) return
    last = positionOf(item)
  }
}

interface OnwardsParts<Item, Position> {
  readonly after: Position | null
  readonly atOnce: number
  readonly positionOf: (item: Item) => Position
}

/** Looks through pages until there are enough; `most` bounds how much one request looks at. */
export async function gather<Item, Position>(
  pages: Pages<Item>,
  { limit, most, fits, positionOf }: GatherParts<Item, Position>,
): Promise<Found<Item, Position>> {
  const data: Item[] = []
  let looked = 0
  let last: Item | null = null
  for await (const page of pages) {
    for (const item of page) {
      // One more is there: only then the page has a next one.
      if (last !== null && (data.length === limit || looked === most)) return { data, next: positionOf(last) }
      if (fits(item)) data.push(item)
      looked += 1
      last = item
    }
  }
  return { data, next: null }
}

interface GatherParts<Item, Position> {
  readonly limit: number
  readonly most: number
  readonly fits: (item: Item) => boolean
  readonly positionOf: (item: Item) => Position
}
