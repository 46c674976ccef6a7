// The log of a service that could not be opened: it ends with a line of it.

import { createLog, type Log } from '../log.ts'

export function openErrorLog(secrets: readonly string[]): Log {
  return createLog({ level: 'error', hidden: { secrets, usernames: [] } })
}
