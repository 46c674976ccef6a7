import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isCardColumn, parseColumnMap } from '../../src/ingest/columns.ts'
import { readFormat, writeFormat } from '../../src/ingest/format.ts'
import { vocabularyOf } from '../../src/ingest/vocabulary.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-format-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function putFormat(text: string): Promise<void> {
  await mkdir(join(dir, 'formats', 'shop'), { recursive: true })
  await writeFile(join(dir, 'formats', 'shop', 'bank.yaml'), text)
}

const FORMAT = {
  operation: 'REFUND',
  currency: 'EUR',
  decimal: ',',
  sign: 'minus',
  scale: 'minor',
  headerRow: '3',
  timezone: 'Europe/Berlin',
  map: ['Betrag=amount', 'Summe: brutto=ignore'],
}

describe('a saved format', () => {
  test('is read as it was saved, from a file that a person may edit', async () => {
    const { path, replaced } = await writeFormat(dir, 'shop', 'bank', FORMAT)
    expect(path).toBe(join(dir, 'formats', 'shop', 'bank.yaml'))
    expect(replaced).toBe(false)
    expect(await readFile(path, 'utf8')).toBe(
      [
        '# How files of the merchant shop are read with the format bank. It may be edited.',
        '',
        'operation: REFUND',
        'currency: EUR',
        'decimal: ","',
        'sign: minus',
        'scale: minor',
        'timezone: Europe/Berlin',
        'header_row: 3',
        'map:',
        '  Betrag: amount',
        '  "Summe: brutto": ignore',
        '',
      ].join('\n'),
    )
    expect(await readFormat(dir, 'shop', 'bank')).toEqual(FORMAT)
  })

  test('may say which columns are the parts of a card; whether they are taken is asked with each file', async () => {
    const map = ['Nummer=pmt_numb', 'Kunde=first_name', 'Monat=card_exp_mm']
    await writeFormat(dir, 'shop', 'bank', { map })
    expect((await readFormat(dir, 'shop', 'bank')).map).toEqual(map)
    const said = map.map((text) => ({ column: text.split('=')[0] ?? '', field: text.split('=')[1] ?? '' }))
    expect(parseColumnMap(said.slice(0, 1))).toMatchObject({ problem: expect.stringContaining('is not taken here') })
    expect(parseColumnMap(said.slice(0, 1), vocabularyOf({ cards: 'taken' }))).toEqual(said.slice(0, 1))
  })

  test('replaces an older one whole, and leaves nothing else behind', async () => {
    await writeFormat(dir, 'shop', 'bank', FORMAT)
    expect(await writeFormat(dir, 'shop', 'bank', { decimal: '.' })).toMatchObject({ replaced: true })
    expect(await readFormat(dir, 'shop', 'bank')).toEqual({ decimal: '.', map: [] })
    expect(await readdir(join(dir, 'formats', 'shop'))).toEqual(['bank.yaml'])
  })

  test('keeps column names of any letters', async () => {
    const column = fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.trim())
    await fc.assert(
      fc.asyncProperty(
        column.filter((text) => /^[^"]*[\p{L}\d][^"]*$/u.test(text) && text !== '__proto__' && !isCardColumn(text)),
        async (name) => {
          await writeFormat(dir, 'shop', 'any', { map: [`${name}=amount`] })
          expect((await readFormat(dir, 'shop', 'any')).map).toEqual([`${name}=amount`])
        },
      ),
      { numRuns: 100 },
    )
  })

  test('that is missing names those that there are', async () => {
    await expect(readFormat(dir, 'shop', 'bank')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('No format is saved for the merchant shop'),
    })
    await writeFormat(dir, 'shop', 'roster', {})
    await writeFormat(dir, 'shop', 'bank', {})
    await expect(readFormat(dir, 'shop', 'bnak')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /no format "bnak" .*has bank, roster\. Tranche has .*sparkasse-camt.*\. Nothing was recorded and nothing was sent/,
      ),
    })
    await expect(readFormat(dir, 'other', 'bank')).rejects.toMatchObject({ code: 'usage' })
  })

  test.each(['../x', '', '.hidden', 'a/b', 'x'.repeat(65), 'a b', 'ä'])('is never called %j', async (name) => {
    await expect(readFormat(dir, 'shop', name)).rejects.toMatchObject({ code: 'usage' })
    await expect(writeFormat(dir, 'shop', name, FORMAT)).rejects.toMatchObject({ code: 'usage' })
    expect(existsSync(join(dir, 'formats'))).toBe(false)
  })

  test('with mistakes names every one of them', async () => {
    await putFormat(
      'operation: PAY\ncurrency: EURO\ndecimal: ";"\ntimezone: Berlin\nsep: ","\nmap:\n  Betrag: ammount\n  x: 5\n',
    )
    const error = await readFormat(dir, 'shop', 'bank').catch(({ message }) => message)
    for (const said of ['operation: write one of', 'currency: write', 'decimal: write', 'timezone: write']) {
      expect(error).toContain(said)
    }
    expect(error).toContain('sep: is not a setting of a format')
    expect(error).toContain('map.x')
    expect(error).toContain('nothing was sent')
    await putFormat('map:\n  Betrag: ammount\n')
    await expect(readFormat(dir, 'shop', 'bank')).rejects.toThrow('"ammount" is not a field')
  })

  test.each([
    ['that is no YAML', 'map: [\n'],
    ['with a setting twice', 'decimal: "."\ndecimal: ","\n'],
    ['that is a list', '- a\n'],
    ['that is empty', ''],
    ['that is too large', `# ${'x'.repeat(70_000)}\n`],
  ])('%s is refused', async (_, text) => {
    await putFormat(text)
    await expect(readFormat(dir, 'shop', 'bank')).rejects.toMatchObject({ code: 'usage' })
  })
})
