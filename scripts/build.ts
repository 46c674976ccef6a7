// npm run build: `dist`, which is published and goes into the container image. The client is a program of its own, and its types come from tsc.

import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'rolldown'
import { bundleProgram, ROOT, SRC } from './bundle.ts'

const DIST = join(ROOT, 'dist')

rmSync(DIST, { recursive: true, force: true })
// All files of the bundle lie in `dist` itself, which stands where `src` stood.
await bundleProgram(DIST, (source) => `new URL(${JSON.stringify(`./${relative(SRC, source)}`)}, import.meta.url).href`)
await build({
  input: join(SRC, 'client/client.ts'),
  platform: 'node',
  external: /^[@a-z]/,
  output: { file: join(DIST, 'client/client.js'), format: 'esm' },
})
cpSync(join(SRC, 'console/assets'), join(DIST, 'console/assets'), { recursive: true })
