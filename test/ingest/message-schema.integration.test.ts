import fs from 'node:fs/promises'
import { expect, test } from 'vitest'
import { eventJsonSchema } from '../../src/events/schema.ts'
import { batchMessageJsonSchema } from '../../src/ingest/batch-message.ts'
import { cancelMessageJsonSchema } from '../../src/ingest/cancel-message.ts'
import { instructionMessageJsonSchema } from '../../src/ingest/message.ts'

test.each([
  ['instruction', instructionMessageJsonSchema],
  ['batch', batchMessageJsonSchema],
  ['cancel', cancelMessageJsonSchema],
  ['event', eventJsonSchema],
] as const)('the published schema of %s is the one that it is checked by', async (name, schema) => {
  const published = await fs.readFile(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8')
  expect(JSON.parse(published)).toEqual(schema())
})
