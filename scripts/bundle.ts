// The program as few files, for `npm run build` and for the tests. A command reads a fifth of the source: most of its time would be looking for
// hundreds of files, one after the other.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

export const ROOT = fileURLToPath(new URL('../', import.meta.url))
export const SRC = join(ROOT, 'src/')
const THREAD = join(SRC, 'ledger/sqlite/thread/')

/** Packages that nearly every command reads. The others stay outside: some find their files by where they lie. */
const BUNDLED = /^(bullmq|commander|csv-parse|csv-stringify|ioredis|pino|undici|zod)(\/|$)/
/** Not what the bundler helps itself with. */
const OF_A_PACKAGE = /^(?!@oxc-project\/)[@a-z]/
/** What so many parts of the program share is read as one file; with less, commands would read what they do not need. */
const SHARED_BY = 16

/** A bundled package takes along what it needs itself. */
function isLeftOutside(id: string, importer = ''): boolean {
  return OF_A_PACKAGE.test(id) && !BUNDLED.test(id) && !importer.includes('/node_modules/')
}

/** Sources look for files from where they lie. The thread alone lies in the bundle, beside what starts it. */
function withPlaces(placeOf: (source: string) => string): Plugin {
  return {
    name: 'places of sources',
    transform(code, id) {
      if (!id.startsWith(SRC) || id.startsWith(THREAD) || !code.includes('import.meta.url')) return null
      return code.replaceAll('import.meta.url', placeOf(id))
    },
  }
}

/** Writes `cli.js`, `thread.js` and what they share. `placeOf`: the expression that is a source's place in the bundle, as `import.meta.url` is. */
export async function bundleProgram(dir: string, placeOf: (source: string) => string): Promise<void> {
  const bundle = await rolldown({
    input: { cli: join(SRC, 'cli.ts'), thread: join(THREAD, 'thread.ts') },
    platform: 'node',
    external: isLeftOutside,
    plugins: [withPlaces(placeOf)],
    preserveEntrySignatures: 'allow-extension',
    checks: { ineffectiveDynamicImport: false },
  })
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'shared', minShareCount: SHARED_BY }] },
  })
  await bundle.close()
}
