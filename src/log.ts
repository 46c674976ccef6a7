// The log: pino to stderr, one JSON object per line. No card number and no credential gets past the finished line.

import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino'
import { maskCardData } from './domain/card-secrets.ts'
import { createTextScrub, type Hidden } from './domain/text-scrub.ts'
import { visibleJson } from './domain/visible.ts'
import type { Output } from './ports/io.ts'

export type Log = Logger

export interface LogRequest {
  /** One of pino's levels, or `silent`. */
  readonly level: string
  readonly hidden?: Hidden
  readonly destination: DestinationStream
}

const NOTHING_HIDDEN: Hidden = { secrets: [], usernames: [] }

export function createLog(request: LogRequest): Log {
  const scrub = createScrub(request.hidden ?? NOTHING_HIDDEN)
  return pino(
    {
      level: request.level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      // A name: log shippers know no numbers.
      formatters: { log: withPlainErrors, level: (level) => ({ level }) },
      // Pino's own would take the plain errors apart again.
      serializers: { err: (value) => (value instanceof Error ? toPlainError(value, CAUSES_MAX) : value) },
      hooks: { streamWrite: (line) => visibleJson(scrub(line)) },
    },
    request.destination,
  )
}

/** To a stream of the process synchronously, so that the last line before an exit is not lost. */
export function linesTo(stderr: Output): DestinationStream {
  return stderr.fd === undefined ? stderr : destination({ fd: stderr.fd, sync: true })
}

/** Causes deeper than this are a loop or of no use to a reader. */
const CAUSES_MAX = 8

interface PlainError {
  readonly type: string
  readonly code?: unknown
  readonly message: string
  readonly stack?: string | undefined
  readonly cause?: unknown
}

/** An Error has no enumerable fields: without this, one under any key but `err` would be logged as `{}`. */
function withPlainErrors(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Error ? toPlainError(value, CAUSES_MAX) : value,
    ]),
  )
}

function toPlainError(error: Error, causesLeft: number): PlainError {
  const { cause, message, stack } = error
  return {
    type: error.name,
    ...('code' in error ? { code: error.code } : {}),
    message,
    stack,
    ...(cause === undefined || causesLeft === 0 ? {} : { cause: toPlainCause(cause, causesLeft - 1) }),
  }
}

function toPlainCause(cause: unknown, causesLeft: number): unknown {
  return cause instanceof Error ? toPlainError(cause, causesLeft) : cause
}

/** A JSON string, or a run of anything else. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[^"]+/g
const NUMBER = /-?\d[\d.eE+-]*/g

/**
 * A scrub of finished lines. Strings are looked at as they read, not as JSON writes them (`\u00004111…` hides a card
 * number from a search of the line), and each is put back as a whole string, so that the line stays JSON.
 */
function createScrub(hidden: Hidden): (line: string) => string {
  const scrubText = createTextScrub(hidden)
  const scrubRest = (text: string) =>
    maskCardData(text).replace(NUMBER, (number) => {
      const scrubbed = scrubText(number)
      return scrubbed === number ? number : JSON.stringify(scrubbed)
    })
  const scrubString = (token: string) => {
    const text: string = JSON.parse(token)
    const scrubbed = scrubText(text)
    return scrubbed === text ? token : JSON.stringify(scrubbed)
  }
  return (line) => line.replace(TOKEN, (token) => (token.startsWith('"') ? scrubString(token) : scrubRest(token)))
}
