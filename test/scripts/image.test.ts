// What the container image is built from is what its context lets in. No engine runs in the tests: a copy that finds nothing ends the build.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the context of the image has all that the Dockerfile copies from it', () => {
  const copies = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
  const copied = copies.flatMap(([, sources = '']) => sources.split(' '))
  expect(copied).toContain('src')
  const allowed = readFileSync('.dockerignore', 'utf8').split('\n')
  expect(copied.filter((path) => !allowed.includes(`!${path}`))).toEqual([])
})
