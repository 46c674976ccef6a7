// The console: pages for people, in a context of its own. It reads no bearer, and the API reads no cookie.

import type { FastifyRequest } from 'fastify'
import { TooManyWait } from '../app/ingest-queue.ts'
import { sha256Of } from '../app/people.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { comesInBy } from '../domain/identity.ts'
import { type Html, html } from '../present/html.ts'
import { addAssets } from './assets.ts'
import { secretIn } from './cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from './door.ts'
import { assertSameSite, type Fields, fieldsIn, fieldsOf, formKeyOf } from './forms.ts'
import { showBare, showScreen } from './frame.ts'
import { addLive } from './live.ts'
import { addApproving } from './pages/approving.ts'
import { addAuditPage } from './pages/audit.ts'
import { addBatchPages } from './pages/batch-page.ts'
import { addCheckPages } from './pages/checks.ts'
import { addDoubtPages } from './pages/doubts.ts'
import { addDownloads } from './pages/downloads.ts'
import { addFinding } from './pages/find.ts'
import { addHealthPage } from './pages/health.ts'
import { addInstructionPages } from './pages/instruction.ts'
import { addKeyPages } from './pages/keys.ts'
import { addMerchantPages } from './pages/merchants.ts'
import { addNewBatchPages } from './pages/new-batch.ts'
import { addOverview } from './pages/overview.ts'
import { addPeople } from './pages/people.ts'
import { addPolicyPage } from './pages/policy.ts'
import { addProviderPages } from './pages/provider.ts'
import { addResolving } from './pages/resolving.ts'
import { addRowPages } from './pages/rows.ts'
import { addSendingAgain } from './pages/sending-again.ts'
import { addSessionPages } from './pages/sessions.ts'
import { addSignInPages } from './pages/sign-in.ts'
import { addSteering } from './pages/steering.ts'
import { addThemes } from './pages/theme.ts'
import { addWebhookPages } from './pages/webhooks.ts'
import { addWorklistPages } from './pages/worklist.ts'
import { PAGES, type PageEntry, type PageName, pageEntry, pageOfForm } from './pages-table.ts'
import { NOTHING, note } from './parts.ts'
import { instructionPath } from './paths.ts'
import { type ShowRefused, showsRefused, writtenIn } from './refused.ts'
import { visitorBy } from './visit.ts'
import { pageWays } from './ways.ts'

const FORM_BYTES_MOST = 64 * 1024
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'",
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types tranche",
].join('; ')

/** To be handed to the server as another door. */
export function consoleOf(door: ConsoleDoor): (server: Pages) => Promise<void> {
  return async (server) => {
    await server.register(async (pages) => {
      refuseUnlisted(pages)
      answerErrors(pages, door, showsRefused(pages))
      takeForms(pages)
      guardPages(pages, door)
      addAssets(pages)
      addThemes(pages, door)
      addSignInPages(pages, door)
      addProviderPages(pages, door)
      addSessionPages(pages, door)
      addLive(pages, door)
      addOverview(pages, door)
      addBatchPages(pages, door)
      addRowPages(pages, door)
      addDownloads(pages, door)
      addSteering(pages, door)
      addApproving(pages, door)
      addPolicyPage(pages, door)
      addHealthPage(pages, door)
      addAuditPage(pages, door)
      addPeople(pages, door)
      addKeyPages(pages, door)
      addFinding(pages, door)
      addInstructionPages(pages, door)
      addDoubtPages(pages, door)
      addResolving(pages, door)
      await addWorklistPages(pages, door)
      addSendingAgain(pages, door)
      addMerchantPages(pages, door)
      addWebhookPages(pages, door)
      await addNewBatchPages(pages, door)
      addCheckPages(pages, door)
    })
  }
}

/** A route without an entry fails at the start, instead of being served unguarded until somebody notices. */
function refuseUnlisted(pages: Pages): void {
  pages.addHook('onRoute', ({ config, method, url }) => {
    const entry = PAGES[config?.page as PageName]
    if (entry === undefined || entry.method !== method || entry.path !== url)
      throw new Error(`bug: ${String(method)} ${url} has no entry in the table of pages`)
  })
}

function takeForms(pages: Pages): void {
  pages.removeAllContentTypeParsers()
  pages.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MOST },
    async (_: unknown, text: string | Buffer) => fieldsIn(String(text)),
  )
}

function guardPages(pages: Pages, door: ConsoleDoor): void {
  const { publicUrl } = door.app.config.serving
  const publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  pages.decorateRequest('visitor', null)
  pages.decorateRequest('formKey', null)
  pages.addHook('onRequest', async (request, reply) => {
    reply.header('content-security-policy', POLICY)
    const entry = pageEntry(request.routeOptions.config.page as PageName)
    if (entry.method === 'POST') assertSameSite(request, publicOrigin)
    const elsewhere = await admit(request, door, entry)
    if (elsewhere !== null) return reply.redirect(elsewhere, 303)
  })
  pages.addHook('preHandler', async (request, reply) => {
    const entry = pageEntry(request.routeOptions.config.page as PageName)
    if (entry.method !== 'POST' || entry.permission === 'anybody') return
    // Its body may have been on the way for minutes.
    const elsewhere = await admit(request, door, entry)
    if (elsewhere !== null) return reply.redirect(elsewhere, 303)
    if (entry.hasFile !== true) request.formKey = formKeyOf(fieldsOf(request), secretIn(request, door) ?? '')
  })
}

/** Who visits, and whether they may. null: they may; else where they must go first. */
async function admit(request: FastifyRequest, door: ConsoleDoor, entry: PageEntry): Promise<string | null> {
  if (entry.permission === 'anybody') return null
  await recognise(request, door)
  if (request.visitor === null) {
    if (entry.method === 'GET') return withReturn('/sign-in', request.url)
    throw new PageError(401, 'You are no longer signed in. Nothing was changed. Sign in and try again.')
  }
  if (!request.visitor.may(entry.permission))
    throw new PageError(403, 'Your roles do not allow that. Nothing was changed. An administrator gives roles.')
  return entry.stepUp === true && !request.visitor.isFresh
    ? withReturn('/step-up', pageOfForm(entry, request.url))
    : null
}

/** Adds where to go on afterwards. */
function withReturn(page: string, to: string): string {
  return to === '/' ? page : `${page}?to=${encodeURIComponent(to)}`
}

/** A page that is watched asks by itself, also where nobody sits before it: that keeps no session open. */
function isByItself({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.page === 'live' || headers['x-asked-by'] === 'page'
}

/** Asks the ledger each time: what was taken away is gone from the next request on. */
async function recognise(request: FastifyRequest, door: ConsoleDoor): Promise<void> {
  const secret = secretIn(request, door)
  const nowMs = door.app.clock.nowMs()
  const found = secret === null ? null : await door.ledger.visit(sha256Of(secret), nowMs, !isByItself(request))
  // A session that was opened in a way that is no longer configured ends with it.
  const isIn = found !== null && comesInBy(found.person.issuer, door.app.config.identityProvider)
  request.visitor = !isIn ? null : visitorBy(found.person, found.session, request.ip, nowMs)
}

/** In every line of the log about a request that failed. */
function whose({ id, ip, visitor }: FastifyRequest): object {
  return { request_id: id, address: ip, person: visitor?.person.id ?? null }
}

function answerErrors(pages: Pages, door: ConsoleDoor, showRefused: ShowRefused): void {
  const { app } = door
  pages.setErrorHandler(async (error: unknown, request, reply) => {
    const { status, text } = told(error, app.scrub)
    if (status >= 500) app.log.error({ err: error, ...whose(request) }, 'a page failed')
    const isUnknown = status === 500 || (status === 503 && mayHaveBegun(error, request))
    if (await showRefused(request, reply, { status, text })) return reply
    const main = html`${note('refused', html`<p>${isUnknown && status === 503 ? withoutNothing(text) : text}</p>`)}${wayOn(request)}<p class="quiet">Request ${request.id}</p>`
    const screen = { title: isUnknown ? 'It is not known whether this was done' : 'Not done', main }
    const { retryAfterS = null } = error as { readonly retryAfterS?: number | null }
    if (retryAfterS !== null) reply.header('retry-after', String(retryAfterS))
    reply.code(status)
    if (status >= 500) return showBare(door, reply, screen)
    try {
      return await showScreen(door, request, reply, screen)
    } catch (failed) {
      // The frame looks at the ledger. What was refused stays true where that fails.
      app.log.error({ err: failed, ...whose(request) }, 'the frame of a page failed')
      return showBare(door, reply, screen)
    }
  })
}

/** Nothing but files comes by them, or a password. */
const RECORD_NOTHING: readonly (string | undefined)[] = ['stepUp', 'upload', 'worklistUpload', 'checkAgain']

/** Whether it may have been done, or part of it, before that was thrown: what is thrown first is known. */
function mayHaveBegun(error: unknown, { formKey, routeOptions }: FastifyRequest): boolean {
  const isFirst = formKey === null || error instanceof PageError || error instanceof TooManyWait
  return !isFirst && !RECORD_NOTHING.includes(routeOptions.config.page)
}

/** What a fault says of itself is no more than of the last of several acts. */
function withoutNothing(text: string): string {
  return `${text.replaceAll(/ ?Nothing was changed[^.]*\./g, '')} ${LOOK_FIRST}`
}

const LOOK_FIRST = 'Look at the batch, merchant or person before you press the button again.'

/** From a page that says what was not done. */
function wayOn({ visitor, method, url, routeOptions, formKey, body }: FastifyRequest): Html {
  // A page without its frame would lead nowhere.
  if (visitor === null) return html`<p><a href="/">Overview, or sign in</a></p>`
  const { page } = routeOptions.config
  if (method !== 'POST' || page === undefined) return NOTHING
  const fields = formKey === null ? {} : fieldsOf({ body })
  const written = writtenIn(fields)
  const entry = pageEntry(page as PageName)
  const row = entry.path.startsWith('/doubts/:row/') ? instructionIn(fields) : null
  if (row !== null) return html`${written}<p><a href="${row}">The row, as it is now</a></p>`
  return html`${written}<p><a href="${pageOfForm(entry, url)}">Back to the page, as it is now</a></p>`
}

/** In doubt no more, the row has no page of its own. */
function instructionIn({ reference, batch, number }: Fields): string | null {
  return reference === undefined || batch === undefined || number === undefined
    ? null
    : instructionPath(reference, { batchId: batch, rowNo: Number(number) })
}

interface Refusing {
  readonly name?: string
  readonly code?: unknown
  readonly statusCode?: number
  readonly status?: number
}

function told(error: unknown, scrub: (text: string) => string): { readonly status: number; readonly text: string } {
  if (error instanceof PageError) return { status: error.status, text: scrub(error.message) }
  if (error instanceof Fault) {
    const text = error.linesIn(pageWays).join(' ')
    return { status: error.code === 'usage' ? 422 : 503, text: scrub(text) }
  }
  const { name, code, statusCode = 500, status = 500 } = error as Refusing
  // Refused by the server before any page was asked: a name that is not ours, or too many requests.
  if (name === 'ProblemError' && status < 500) return { status, text: messageOf(error) }
  // Errors of others have statuses, too: only the framework's own come before anything was done.
  if (String(code).startsWith('FST_') && statusCode < 500)
    return { status: statusCode, text: 'The form could not be read. Nothing was changed.' }
  return {
    status: 500,
    text: `Tranche failed while it worked on this; its log has the details under this request. ${LOOK_FIRST}`,
  }
}
