// Card data in files that cannot be read as instructions: it is found wherever it stands, or nobody claims that it is not there.

import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCards } from '../../src/ingest/card-scan.ts'

const PAN = '4111 1111 1111 1111'
const PIECE_BYTES = 64 * 1024

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-scan-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function kindOf(bytes: string | Uint8Array): Promise<string> {
  const path = join(dir, 'file')
  await writeFile(path, bytes)
  const file = await open(path, 'r')
  return (await findCards(file).finally(() => file.close())).kind
}

test('a card number is found in whichever piece of the file it stands, also across two', async () => {
  const around = fc.integer({ min: PIECE_BYTES - 40, max: PIECE_BYTES + 40 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.nat(3 * PIECE_BYTES), around), fc.boolean(), async (at, grouped) => {
      const text = `${'x,'.repeat(at / 2)}${at % 2 === 1 ? 'y' : ''}"${grouped ? PAN : PAN.replaceAll(' ', '')}`
      expect(await kindOf(`${text}", half a row`)).toBe('cards')
      expect(await kindOf(text)).toBe('cards')
    }),
    { numRuns: 40 },
  )
})

test('a long number that holds one is none, wherever the pieces part', async () => {
  for (let before = PIECE_BYTES - 24; before < PIECE_BYTES + 2; before++)
    expect(await kindOf(`${'x'.repeat(before)},94111111111111111999,`)).toBe('none')
})

test.each([
  ['UTF-16', Buffer.from(`\ufeffa,b\n1,${PAN}\n`, 'utf16le'), 'cards'],
  ['Windows-1252', Buffer.from(`Stra\u00dfe,b\n1,${PAN}\n`, 'latin1'), 'cards'],
  ['a column for it below a title', 'Refunds of May\n\nreference;"CVV";amount\nR-1;;3\n', 'cards'],
  ['a few NULs, which make it look like UTF-16', `a\0,\0b\0\n${'\0'.repeat(9)}${PAN}\n`, 'cards'],
  ['a workbook', Buffer.from('504b030400', 'hex'), 'unseen'],
  ['bytes that are no text', Buffer.from('a,b\n1,\x81\x8d\x90\n', 'latin1'), 'unseen'],
  ['plain nonsense', 'x,y\n1,"2\n', 'none'],
])('%s', async (_, bytes, kind) => {
  expect(await kindOf(bytes)).toBe(kind)
})
