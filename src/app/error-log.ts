// The log of a service that could not be opened: it ends with a line of it.

import { createLog, type Log, linesTo } from '../log.ts'
import type { Output } from '../ports/io.ts'

export function openErrorLog(secrets: readonly string[], stderr: Output): Log {
  return createLog({ level: 'error', hidden: { secrets, usernames: [] }, destination: linesTo(stderr) })
}
