// What reaches a screen of what a command shows.

import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTerminal, type Terminal } from '../../src/commands/terminal.ts'
import { toTable } from '../../src/present/text.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { ioOf } from '../fixtures/io.ts'

function shownBy(json: boolean, show: (terminal: Terminal) => void): { stdout: string; stderr: string } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  for (const stream of [stdout, stderr]) Object.assign(stream, { isTTY: true, columns: 200 })
  show(createTerminal(json, ioOf(process.env, { stdout, stderr })))
  return { stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

/** What the program itself puts in: the line taken away again, and bold. */
const OWN = ['\r\u001b[K', '\u001b[1m', '\u001b[22m']
const withoutOwn = (text: string) => OWN.reduce((rest, code) => rest.replaceAll(code, ''), text)
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u

const odd = fc.constantFrom(
  '\x1b[1m',
  '\x1b]52;c;AAAA\x07',
  '\n',
  '\r',
  '\r\x1b[K',
  '\t',
  '\x9b',
  '\u2028',
  '\u202e',
  '\x1b[22m',
)
const text = fc.array(fc.oneof(odd, fc.string({ unit: codePoint })), { maxLength: 6 }).map((parts) => parts.join(''))

test('any text is one line on either stream, and nothing of it is obeyed', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const { stdout, stderr } = shownBy(false, (terminal) => {
        terminal.data(one)
        terminal.title(one, other)
        for (const line of toTable([[one, other]])) terminal.data(line)
        terminal.say(one)
        terminal.redraw(other)
        terminal.redraw(null)
      })
      for (const [shown, lines] of [
        [stdout, 3],
        [stderr, 1],
      ] as const) {
        const parts = withoutOwn(shown).split('\n')
        expect(parts).toHaveLength(lines + 1)
        for (const part of parts) expect(part).not.toMatch(OBEYED)
      }
    }),
    { numRuns: 1000 },
  )
})

test('an object of any text is one line of JSON that says the same, and nothing of it is obeyed', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const { stdout } = shownBy(true, (terminal) => terminal.object({ [one]: [other] }))
      expect(stdout).toMatch(/^[^\n]*\n$/)
      expect(stdout.slice(0, -1)).not.toMatch(OBEYED)
      expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify({ [one]: [other] })))
    }),
    { numRuns: 1000 },
  )
})

test('columns of a table line up though a name is shown longer than it is', () => {
  const [first = '', second = ''] = toTable([
    ['a\u202eb', 'x'],
    ['c', 'y'],
  ])
  expect(first.indexOf('x')).toBe(second.indexOf('y'))
})

describe('on a terminal', () => {
  const long = 'Only if every one of them is meant, add --allow-lookalikes 390: 2 rows are IN DOUBT.'
  const RED = '\u001b[31m'

  function shown(as: { readonly isTTY: boolean; readonly json?: boolean }, env: Record<string, string>): string {
    const stderr = Object.assign(new PassThrough(), { isTTY: as.isTTY, columns: 60 })
    createTerminal(as.json ?? false, ioOf({ TERM: 'xterm', ...env }, { stderr })).say(long)
    return String(stderr.read())
  }

  test('a message is wrapped at words to its columns, and doubts are red', () => {
    const text = shown({ isTTY: true }, {})
    expect(text.split('\n')).toHaveLength(3)
    expect(text).toContain('--allow-lookalikes')
    expect(text).toContain(`${RED}IN DOUBT`)
  })

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('%j takes the colours away, and nothing else', (env) => {
    const text = shown({ isTTY: true }, env)
    expect(text.split('\n')).toHaveLength(3)
    expect(text).not.toContain('\u001b')
  })

  test('a pipe and a program get one line, without colour', () => {
    expect(shown({ isTTY: false }, {})).toBe(`${long}\n`)
    expect(shown({ isTTY: true, json: true }, {})).toBe(`${long}\n`)
  })
})
