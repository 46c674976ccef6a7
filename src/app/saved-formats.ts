// How files of a merchant are read, as saved under a name in the data directory.

import type { App } from '../app.ts'
import type { Format } from '../ingest/format.ts'

/** How files of a merchant are read, as saved under a name in the data directory. */
export async function readFormat(app: App, merchant: string, name: string) {
  const { readFormat: read } = await import('../ingest/format.ts')
  return read(app.config.dataDir, merchant, name)
}

export async function assertFormatName(app: App, merchant: string, name: string): Promise<void> {
  const { assertFormatName: assertName } = await import('../ingest/format.ts')
  assertName(app.config.dataDir, merchant, name)
}

export async function saveFormat(app: App, merchant: string, name: string, format: Format) {
  const { writeFormat } = await import('../ingest/format.ts')
  return writeFormat(app.config.dataDir, merchant, name, format)
}
