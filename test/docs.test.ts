// What the documents name must be there.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { settingsTable } from '../src/domain/settings.ts'
import { SCHEMA_VERSION as ON_POSTGRES } from '../src/ledger/postgres/schema.ts'
import { SCHEMA_VERSION as IN_FILE } from '../src/ledger/sqlite/schema.ts'
import { SEARCHES } from './search/searches.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8')
const DOCUMENTS = globSync(['*.md', 'docs/*.md', 'docs/adr/*.md', 'docs/guides/*.md'], { cwd: ROOT })

test.each([
  ['docs/FAILURES.md', 30],
  ['docs/SECURITY.md', 8],
] as const)('every test that a table of %s names exists', (document, atLeast) => {
  const cells = read(document)
    .split(/\n(?!\|)/)
    .flatMap(lastCellsOfTestTables)
  const named = cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name))
  expect(named.length).toBeGreaterThan(atLeast)
  const missing = named.filter((name) => globSync(`test/${name}*.ts`, { cwd: ROOT }).length === 0)
  expect(missing).toEqual([])
})

/** Of the lines of a table whose last column has tests. */
function lastCellsOfTestTables(table: string): string[] {
  const [head = '', ...rows] = table.split('\n').filter((line) => line.startsWith('|'))
  return /\| Test \|$/.test(head) ? rows.map((row) => row.split('|').at(-2) ?? '') : []
}

test('what TESTING says is proven by a tier is a test of that tier', () => {
  const [, table = ''] = read('docs/TESTING.md').split('## What is proven where')
  const rows = table.split('\n').filter((line) => /^\| [A-Z]/.test(line) && !line.startsWith('| Property |'))
  const tiers = [/^(?!.*\.(ci|search)\.test\.ts$)/, /(?<!\.search\.test\.ts)$/, /\.search\.test\.ts$/]
  const wrong = rows.flatMap((row) =>
    tiers.flatMap((tier, at) => {
      const named = Array.from(
        row
          .split('|')
          .at(at + 2)!
          .matchAll(/`([^`]+)`/g),
        ([, name]) => name as string,
      )
      const isThere = (name: string) =>
        globSync([`test/${name}*.test.ts`, `test/${name}**/*.test.ts`], { cwd: ROOT }).some((file) => tier.test(file))
      return named.filter((name) => !isThere(name) && !(at === 2 && SEARCHES.some((search) => search.name === name)))
    }),
  )
  expect(rows.length).toBeGreaterThan(15)
  expect(wrong).toEqual([])
})

test.each(DOCUMENTS)('%s names no source file that is not there', (document) => {
  const sources = globSync('{src,test,bench,scripts,examples}/**/*.ts', { cwd: ROOT })
  const named = [...read(document).matchAll(/`((?!x\.)[\w./-]+\.ts)`/g)].map(([, name]) => name as string)
  expect(named.filter((name) => !sources.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})

test.each(DOCUMENTS)('%s links to nothing that is not there', (document) => {
  const folder = document.includes('/') ? document.slice(0, document.lastIndexOf('/') + 1) : ''
  const links = [...read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) => path)
  expect(links.filter((path) => !existsSync(`${ROOT}${folder}${path}`))).toEqual([])
})

test('every picture is shown by a document, is carried by the package, and is small', () => {
  const pictures = globSync('docs/pictures/*', { cwd: ROOT })
  const shown = DOCUMENTS.flatMap((document) =>
    [...read(document).matchAll(/!\[[^\]]+\]\((?:\.\.\/|docs\/)(pictures\/[^)]+)\)/g)].map(
      ([, path]) => `docs/${path}`,
    ),
  )
  expect([...new Set(shown)].toSorted()).toEqual(pictures.toSorted())
  expect(pictures.length).toBeLessThanOrEqual(5)
  for (const picture of pictures) expect(statSync(`${ROOT}${picture}`).size, picture).toBeLessThanOrEqual(60_000)
  expect(JSON.parse(read('package.json')).files).toContain('docs')
})

test('GLOSSARY has each word once', () => {
  const words = [...read('docs/GLOSSARY.md').matchAll(/^\| \*\*(.+?)\*\*/gm)].map(([, word]) => word)
  expect(words.filter((word, i) => words.indexOf(word) !== i)).toEqual([])
  expect(words.length).toBeGreaterThan(50)
})

test('CONFIGURATION has the settings as the program reads them', () => {
  expect(read('docs/CONFIGURATION.md')).toContain(settingsTable())
})

test('CHANGELOG says which tables this version has', () => {
  const [, newest = ''] = read('CHANGELOG.md').split('\n## ')
  expect(newest).toContain(`version ${IN_FILE} in a SQLite file, version ${ON_POSTGRES} on PostgreSQL.`)
})

test('README is a door: 120 lines and 900 words at most', () => {
  const readme = read('README.md')
  expect(readme.split('\n').length).toBeLessThanOrEqual(121)
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(900)
})
