// Writes man/tranche.1 from the help of the commands. Needs the Node that the program needs.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { manPage } from '../src/cli/man.ts'
import { toProgram } from '../src/cli.ts'

const root = new URL('../', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
mkdirSync(new URL('man/', root), { recursive: true })
writeFileSync(fileURLToPath(new URL('man/tranche.1', root)), manPage(toProgram(), version))
