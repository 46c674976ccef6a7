// Below every page: how it looks, what the keys of the keyboard do, and which version this is.

import { createRequire } from 'node:module'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from '../present/html.ts'
import { THEMES, type Theme } from './cookie.ts'
import { pathIn } from './paths.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** Somebody who is not signed in has nowhere to go by keys; and where they were refused, there is no form. Nor on what answers a form: it may
 * show a secret that is shown once. */
export function footerOf({ request, statusCode }: FastifyReply, theme: Theme): Html {
  const isIn = request.visitor !== null
  const themes = request.method === 'GET' && (isIn || statusCode < 400) ? themesOf(request, theme) : ''
  return html`<footer>${isIn ? KEYS_SHOWN : ''}${themes}<p>Tranche ${version}</p></footer>`
}

const THEME_NAMES = { system: 'As the system', light: 'Light', dark: 'Dark' } as const satisfies Record<Theme, string>

function themesOf(request: FastifyRequest, chosen: Theme): Html {
  const buttons = THEMES.map((theme) => {
    const isChosen = theme === chosen ? 'true' : 'false'
    return html`<button class="small other" name="theme" value="${theme}" aria-pressed="${isChosen}">${THEME_NAMES[theme]}</button>`
  })
  return html`<form id="themes" method="post" action="/theme"><input type="hidden" name="to" value="${pathIn(request.url)}">Theme: ${buttons}</form>`
}

/** The script acts by these. Nothing that moves money has a key. */
const KEYS = [
  ['/', 'to the search'],
  ['g o', 'go to the overview'],
  ['g n', 'go to a new batch'],
  ['g d', 'go to the doubts'],
  ['g m', 'go to the merchants'],
  ['j', 'to the next row'],
  ['k', 'to the row before'],
  ['t', 'another theme'],
  ['?', 'this list'],
] as const

const KEYS_SHOWN = html`<details id="shortcuts"><summary>Shortcuts</summary><dl>${KEYS.map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl><p>They work where scripts run, and never while a field has the focus.</p></details>`
