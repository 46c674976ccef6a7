// What pages are made of: moments, states, tables, facts and forms.

import type { FastifyRequest } from 'fastify'
import type { BatchState } from '../domain/batch-status.ts'
import { isoOf } from '../domain/batch-status.ts'
import type { ResultStatus } from '../domain/states.ts'
import { type Html, html } from '../present/html.ts'
import { secretIn } from './cookie.ts'
import type { ConsoleDoor } from './door.ts'
import { type Fields, newFormToken, REASON_LONGEST } from './forms.ts'
import { stepUpPath } from './paths.ts'
import { visitorOf } from './visit.ts'

export const NOTHING = html``

/** In UTC; a browser that runs scripts shows the reader's own zone. null: it did not come to that. */
export function moment(atMs: number | null): Html {
  if (atMs === null) return html`–`
  const iso = isoOf(atMs)
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

/** Whole, with a button that copies it. */
export function idText(id: string | null): Html {
  return id === null || id === '' ? html`–` : html`<code data-copy>${id}</code>`
}

/** A mark, a word and a colour: never the colour alone. */
export function stateText(state: BatchState | ResultStatus | 'SENDING'): Html {
  const word = state.replaceAll('_', ' ')
  return html`<span class="state ${state.toLowerCase().replaceAll('_', '-')}">${word}</span>`
}

export interface Column {
  readonly name: string
  readonly kind?: 'number' | 'text' | 'word'
}

/** With more columns, and not only numbers to compare, the rows stand below each other where the window is narrow: each cell then says of which column it is. */
const BESIDE_MOST = 3

/** The first cell of a row names it. */
export function table(caption: string, columns: readonly Column[], rows: readonly (readonly Html[])[]): Html {
  const isOfNumbers = columns.slice(1).every(({ kind }) => kind === 'number')
  if (columns.length > BESIDE_MOST && !isOfNumbers) return wideTable(caption, columns, rows)
  const classOf = (kind: Column['kind']) => (kind === undefined ? '' : kind)
  const head = columns.map(({ name, kind }) => html`<th scope="col" class="${classOf(kind)}">${name}</th>`)
  const cell = (value: Html, i: number) =>
    i === 0
      ? html`<th scope="row" class="${classOf(columns[i]?.kind)}">${value}</th>`
      : html`<td class="${classOf(columns[i]?.kind)}">${value}</td>`
  const body = rows.map((row) => html`<tr>${row.map(cell)}</tr>`)
  // It scrolls in itself, also by keys.
  return html`<div class="table" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}

/** The same. What is no table to the eye any more stays one to whoever hears it: browsers are told by roles. */
function wideTable(caption: string, columns: readonly Column[], rows: readonly (readonly Html[])[]): Html {
  const head = columns.map(
    ({ name, kind = '' }) => html`<th scope="col" role="columnheader" class="${kind}">${name}</th>`,
  )
  const cell = (value: Html, i: number) => {
    const { name, kind = '' } = columns[i] ?? { name: '' }
    return i === 0
      ? html`<th scope="row" role="rowheader" class="${kind}">${value}</th>`
      : html`<td role="cell" class="${kind}" data-label="${name}">${value}</td>`
  }
  const body = rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>`)
  return html`<div class="table wide" tabindex="0" role="region" aria-label="${caption}"><table role="table"><caption>${caption}</caption><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body}</tbody></table></div>`
}

/** Names and what they are; null is left out. */
export function facts(pairs: readonly (readonly [name: string, value: Html | null])[]): Html {
  const shown = pairs.flatMap(([name, value]) => (value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))
  return html`<dl>${shown}</dl>`
}

export type NoteKind = 'warn' | 'doubt' | 'refused' | 'plain'

export function note(kind: NoteKind, what: Html): Html {
  return html`<div class="note ${kind}">${what}</div>`
}

/** Forms that need a step-up of the last minutes; else the link to it. `to`: where to go on. `act`: what they are for. */
export function freshly(request: FastifyRequest, to: string, forms: () => Html, act = 'do that'): Html {
  if (visitorOf(request).isFresh) return forms()
  return note('plain', html`<p>Before you can ${act}, ${stepUpLink(request, to)}.</p>`)
}

/** In the words of a sentence, by what the visitor signs in with. */
function stepUpLink(request: FastifyRequest, to: string): Html {
  const again = visitorOf(request).person.issuer === null ? 'show your password again' : 'sign in again'
  return html`<a href="${stepUpPath(to)}">${again}</a>`
}

/** `typed`: into the form, where it was refused. */
export function reasonField(hint: string, { reason = '' }: Fields, label = 'Reason'): Html {
  const value = reason === '' ? NOTHING : html` value="${reason}"`
  return html`<div class="field"><label>${label}<span class="hint"> ${hint} </span><input name="reason" required autocomplete="off" maxlength="${REASON_LONGEST}"${value}></label></div>`
}

export interface Form {
  readonly action: string
  readonly fields: Html
  /** Says the act, the number and the money. */
  readonly button: string
  readonly kind?: 'other'
  /** A file comes with it. */
  readonly hasFile?: boolean
}

/** Sealed for the session of who looks. Whatever it does is done once, however often it is sent. */
export function form(
  request: FastifyRequest,
  door: ConsoleDoor,
  { action, fields, button, kind, hasFile }: Form,
): Html {
  const token = newFormToken(secretIn(request, door) ?? '')
  // Of a form with a file the token comes first: before it nothing is read.
  const how = hasFile === true ? html` enctype="multipart/form-data"` : NOTHING
  return html`<form method="post" action="${action}"${how}><input type="hidden" name="form" value="${token}">${fields}<p><button class="${kind ?? ''}">${button}</button></p></form>`
}
