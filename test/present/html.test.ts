// The one place where text becomes markup.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visible } from '../../src/domain/visible.ts'
import { html } from '../../src/present/html.ts'
import { codePoint } from '../fixtures/code-points.ts'

const mean = fc.constantFrom(
  '<script>',
  '</style>',
  '"',
  "'",
  '&',
  '&lt;',
  '-->',
  ']]>',
  '<!--',
  '\0',
  '\u202e',
  '\ud800',
  '`',
  '\n',
)
const text = fc.array(fc.oneof(mean, fc.string({ unit: codePoint })), { maxLength: 8 }).map((parts) => parts.join(''))

const ENTITY = /&(amp|lt|gt|quot|#39);/g
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** As a browser reads it. */
const decoded = (markup: string) => markup.replace(ENTITY, (_, name: string) => CHARACTERS[name] as string)

test('no text ends an element, an attribute or itself, and a browser reads it as it was', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const markup = html`<i title="${one}">${other}</i>`.toString()
      const parts = /^<i title="([^"<>]*)">([^<>"']*)<\/i>$/.exec(markup)
      expect(parts).not.toBeNull()
      for (const part of parts?.slice(1) ?? []) expect(part.replace(ENTITY, '')).not.toContain('&')
      expect(parts?.slice(1).map(decoded)).toEqual([one, other].map((said) => visible(said).toWellFormed()))
    }),
    { numRuns: 1000 },
  )
})

test('only a template makes markup: what looks like one, or is put in twice, stays text', () => {
  const inner = html`<b>${'<i>'}</b>`
  expect(html`${inner}${[inner, html`!`]}${3}`.toString()).toBe('<b>&lt;i&gt;</b><b>&lt;i&gt;</b>!3')
  const pretender = { toString: () => '<script>' }
  expect(html`${pretender as unknown as string}`.toString()).not.toContain('<script>')
})
