// A form that was refused: its page is shown again as it is now, with the reason above it and what was typed in its fields.

import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { holdsCardData } from '../domain/card-secrets.ts'
import { type Html, html } from '../present/html.ts'
import type { Pages } from './door.ts'
import { type Fields, fieldsOf } from './forms.ts'
import { formPage, type PageName, pageEntry, pageOfForm } from './pages-table.ts'

export interface Refused {
  readonly status: number
  /** Why, in sentences. */
  readonly text: string
  /** Where the form was sent to. */
  readonly action: string
  /** Where the form stands. */
  readonly page: string
  readonly typed: Fields
}

declare module 'fastify' {
  interface FastifyRequest {
    /** null: it was not, or not so that its page can be shown. */
    refused: Refused | null
  }
}

/** What was typed into the form of that action; nothing where it is not the one that was refused. A choice that was made of something
 * else than what is shown now is to be left out by whoever asks. */
export function typedIn({ refused }: Pick<FastifyRequest, 'refused'>, action: string): Fields {
  return refused?.action === action ? refused.typed : {}
}

/** Shows the page of the form that was refused. */
export type ShowRefused = (
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: { readonly status: number; readonly text: string },
) => Promise<boolean>

/** Before the routes are added. What it makes resolves to false, and sends nothing, where the page cannot be shown. */
export function showsRefused(pages: Pages): ShowRefused {
  const shows = new Map<PageName, RouteHandlerMethod>()
  pages.decorateRequest('refused', null)
  pages.addHook('onRoute', ({ config, handler }) => {
    if (config?.page !== undefined) shows.set(config.page as PageName, handler as RouteHandlerMethod)
  })
  return async (request, reply, { status, text }) => {
    const { method, routeOptions, visitor, formKey } = request
    // Nothing is shown again that comes from another site, or from an earlier session.
    if (method !== 'POST' || visitor === null || formKey === null || (status !== 409 && status !== 422)) return false
    const entry = pageEntry(routeOptions.config.page as PageName)
    const name = formPage(entry)
    const show = name === null ? undefined : shows.get(name)
    if (name === null || show === undefined) return false
    const { permission } = pageEntry(name)
    if (permission === 'anybody' || !visitor.may(permission)) return false
    const action = request.url.split('?')[0] ?? ''
    const page = pageOfForm(entry, request.url)
    request.refused = { status, text, action, page, typed: keptOf(fieldsOf(request)) }
    try {
      reply.code(status)
      await show.call(pages as never, request as never, reply as never)
      return true
    } catch {
      // The row was resolved, the batch is gone: there is no such page any more.
      request.refused = null
      return false
    }
  }
}

/** Typed to show that somebody looked, or known to nobody else. */
const NEVER = /^(form|password|new_password|total(_\d+)?)$/
/** An address with a password in it, as leniently as addresses are read. */
const WITH_PASSWORD = /:[/\\]+\S*@/

function keptOf(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value = '']) => mayBeShown(name, value)))
}

function mayBeShown(name: string, value: string): boolean {
  const isOfPassword = name === 'url' && value.includes('@')
  return !NEVER.test(name) && !isOfPassword && !WITH_PASSWORD.test(value) && !holdsCardData(value)
}

const HIDDEN: readonly string[] = ['attempt', 'batch', 'digest', 'number', 'proposed', 'proposes', 'reference', 'shown']

/** Whether something that was typed is in a field again. */
export function isKept({ status, typed }: Refused): boolean {
  // Of a row that has changed nothing is filled in.
  if (status === 409 && typed.attempt !== undefined) return false
  return Object.entries(typed).some(([name, value = '']) => !HIDDEN.includes(name) && value.trim() !== '')
}

/** To be copied from where the page has changed, so that no field takes it. */
export function writtenIn({ reason = '' }: Fields): Html {
  return reason.trim() === '' || holdsCardData(reason) ? html`` : html`<p>You had written: “${reason}”</p>`
}
