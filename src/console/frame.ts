// A page around what a screen has to say: where one is, whose money it is, and whether anything moves now.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AttentionNow } from '../app/attention.ts'
import type { Permission } from '../domain/person.ts'
import { type Html, html } from '../present/html.ts'
import { plural } from '../present/text.ts'
import { assetPath } from './assets.ts'
import { themeIn } from './cookie.ts'
import { takeDone } from './done.ts'
import { doneText } from './done-words.ts'
import type { ConsoleDoor } from './door.ts'
import { footerOf } from './footer.ts'
import { NOTHING } from './parts.ts'
import { isKept, writtenIn } from './refused.ts'
import { attentionFor, shapeWith, statusLine } from './status-line.ts'
import type { Visitor } from './visit.ts'

/** Where pages lead. What somebody may not see is not offered. */
const SECTIONS = [
  { name: 'Overview', href: '/', permission: 'own' },
  { name: 'New batch', href: '/new', permission: 'submit' },
  { name: 'Doubts', href: '/doubts', permission: 'view' },
  { name: 'Merchants', href: '/merchants', permission: 'view' },
  { name: 'Webhooks', href: '/webhooks', permission: 'webhooks' },
  { name: 'Policy', href: '/policy', permission: 'own' },
  { name: 'Health', href: '/health', permission: 'own' },
  { name: 'Audit', href: '/audit', permission: 'audit' },
  { name: 'People', href: '/people', permission: 'administer' },
  { name: 'Keys', href: '/keys', permission: 'administer' },
  { name: 'Sessions', href: '/sessions', permission: 'own' },
] as const satisfies readonly { name: string; href: string; permission: Permission }[]
export type SectionName = (typeof SECTIONS)[number]['name']

export interface Screen {
  readonly title: string
  readonly main: Html
  readonly section?: SectionName
  /** Where it was looked at already; else it is looked at now. */
  readonly now?: AttentionNow
  /** What was done just now, where the page itself answers the form. */
  readonly done?: string
  /** What changes while it is looked at: a batch, or nothing in particular (''); and how the page stands now. */
  readonly live?: { readonly watch: string; readonly shape: string }
  /** It is about to become another: asked for again after so many seconds. */
  readonly againAfterS?: number
}

/** For somebody who is signed in. */
export async function showScreen(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  screen: Screen,
): Promise<FastifyReply> {
  const { visitor } = request
  if (visitor === null) return showBare(door, reply, screen)
  const now = visitor.may('view') ? (screen.now ?? (await attentionFor(door))) : null
  const top = html`${bandOf(door)}${topOf(visitor, screen)}${statusLine(door, now)}`
  // It stands before what is shown anew while it is watched: it stays, and holds nothing up.
  return send(door, reply, html`${top}${await doneOf(door, request, reply, screen, now)}`, screen, now)
}

async function doneOf(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  { done }: Screen,
  now: AttentionNow | null,
): Promise<Html> {
  const told = takeDone(door, request, reply)
  const text = done ?? (told === null ? null : await doneText(door, told, now?.workers ?? []))
  return text === null
    ? NOTHING
    : html`<div class="note done" role="status" tabindex="-1" autofocus><p>${text}</p></div>`
}

/** For whoever comes: it tells nothing of the ledger. */
export function showBare(door: ShownBy, reply: FastifyReply, screen: Pick<Screen, 'title' | 'main'>): FastifyReply {
  return send(door, reply, door.isSandbox ? SANDBOX : NOTHING, screen)
}

type ShownBy = Pick<ConsoleDoor, 'isSandbox' | 'isSecure'>

function send(
  door: ShownBy,
  reply: FastifyReply,
  top: Html,
  { title, main, live, againAfterS: again }: Screen,
  now: AttentionNow | null = null,
): FastifyReply {
  const { refused } = reply.request
  // What answers a form is no page that could be asked for again.
  const againAfterS = refused === null ? again : undefined
  const watched =
    live === undefined || now === null || refused !== null
      ? NOTHING
      : html` data-watch="/live?batch=${encodeURIComponent(live.watch)}" data-shape="${shapeWith(now, live.shape)}"`
  const [refresh, coming] =
    againAfterS === undefined
      ? [NOTHING, NOTHING]
      : [
          html`<noscript><meta http-equiv="refresh" content="${againAfterS}"></noscript>`,
          html` data-again="${againAfterS}"`,
        ]
  const theme = themeIn(reply.request, door)
  const page = html`<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<title>${refused === null ? '' : 'Not done: '}${title} – Tranche</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath('console.css')}">
<script src="${assetPath('console.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${top}
<main id="main" tabindex="-1"${watched}${coming}>
${refusedNote(refused)}<h1>${title}</h1>
${main}
</main>
${footerOf(reply, theme)}
</body>
</html>
`
  return reply.type('text/html; charset=utf-8').send(page.toString())
}

function refusedNote(refused: FastifyRequest['refused']): Html {
  if (refused === null) return NOTHING
  const written = refused.status === 409 ? writtenIn(refused.typed) : NOTHING
  const now = isKept(refused)
    ? html`This is the page as it is now, with what you typed. <a href="${refused.page}">Clear the form</a>`
    : html`This is the page as it is now.`
  return html`<div class="note refused" role="alert" tabindex="-1" autofocus><p><strong>Not done.</strong> ${refused.text}</p>${written}<p>${now}</p></div>`
}

const SANDBOX = html`<p class="band sandbox">SANDBOX – no money moves</p>`

function bandOf({ app, isSandbox }: ConsoleDoor): Html {
  if (isSandbox) return SANDBOX
  const merchants = [...app.config.merchants.values()]
  const [only] = merchants
  const where =
    merchants.length === 1 && only !== undefined
      ? `${only.name} · ${new URL(only.url).host}`
      : plural(merchants.length, 'merchant')
  // A merchant without a label may be live.
  const labels = [...new Set(merchants.map(({ environment }) => environment ?? 'live'))].sort()
  if (labels.join() === 'test') return html`<p class="band sandbox">TEST (as configured) · ${where}</p>`
  return html`<p class="band live">${labels.map((label) => label.toUpperCase()).join(' and ') || 'LIVE'} · ${where}</p>`
}

/** By any id. What was looked for is in no log. */
const SEARCH = html`<form method="get" action="/find" role="search"><input type="search" name="q" aria-label="Find by reference, any id, batch or file" placeholder="Find by any id" maxlength="300" autocomplete="off"></form>`

function topOf(visitor: Visitor, { section }: Screen): Html {
  const { person, roles } = visitor
  const links = SECTIONS.filter(({ permission }) => visitor.may(permission)).map(({ name, href }) =>
    name === section
      ? html`<li><a href="${href}" aria-current="page">${name}</a></li>`
      : html`<li><a href="${href}">${name}</a></li>`,
  )
  const waiting = person.waiting.map((one) => `${one.name} once confirmed`)
  const has = [...roles, ...waiting].join(', ') || 'no roles yet'
  return html`<header class="top"><nav aria-label="Pages"><ul>${links}</ul></nav>${visitor.may('view') ? SEARCH : NOTHING}<p class="who">${person.name} (${has}) · <a href="/sessions">Sign out…</a></p></header>`
}
