// From when on a row in doubt may be called not executed.

import type { App } from '../app.ts'
import type { DoubtRow } from '../domain/doubt.ts'

export function restUntilMsOf({ leftByMs, restMs }: DoubtRow, { config }: Pick<App, 'config'>): number {
  return leftByMs + Math.max(restMs, config.doubtRestMs)
}
