import fs from 'node:fs/promises'
import { expect, test } from 'vitest'
import { instructionMessageJsonSchema } from '../../src/ingest/message.ts'

test('the published schema is the one that messages are checked by', async () => {
  const published = await fs.readFile(new URL('../../docs/schemas/instruction.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(published)).toEqual(instructionMessageJsonSchema())
})
