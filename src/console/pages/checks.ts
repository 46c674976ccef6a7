// One check of a file: looked at, made again in another way, and handed in.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { type CheckFound, foundIn } from '../../app/check-found.ts'
import { ownUpload, startCheck } from '../../app/checking.ts'
import { type Check, readCheck, rejectsDisposition, rejectsIn } from '../../app/checks.ts'
import { identityOf } from '../../domain/actor.ts'
import { type Html, html } from '../../present/html.ts'
import { type DetailsPage, detailsPage, type FoundLookalike, type FoundRow } from '../check-details.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { NOTHING } from '../parts.ts'
import { checkPath } from '../paths.ts'
import { filesCaller } from '../uploading.ts'
import { visitorOf } from '../visit.ts'
import { againForm, readOtherwise } from './check-again.ts'
import { faultsOf, foundShown, openText, refusedNote, rowsOf } from './check-shown.ts'
import { addHandingIn, handInForm } from './handing-in.ts'
import { pairsOf } from './pairs.ts'

export interface OwnCheck extends Check {
  /** Its folder. */
  readonly path: string
}

interface OfCheck {
  readonly Params: { readonly check: string }
  readonly Querystring: { readonly rows?: string; readonly alike?: string }
}

/** Of a large file, whose verdict takes a while; and of one that was handed in a moment ago. */
const AGAIN_AFTER_S = 2
const AGAIN_SOON_S = 1
const SOON_MS = 5_000
/** The page of a new check waits so long for its first rows, or for the verdict of a small file. */
const WAITS_MS = 800

export function addCheckPages(pages: Pages, door: ConsoleDoor): void {
  pages.get<OfCheck>('/checks/:check', { config: { page: 'check' } }, async (request, reply) => {
    const before = await findOwn(door, request, request.params.check)
    const isNew = door.app.clock.nowMs() - before.startedAtMs < SOON_MS
    const waits = isNew && isOpenCheck(before)
    if (waits) await door.queue.waitForProgress(before.id, WAITS_MS)
    const check = waits ? await findOwn(door, request, request.params.check) : before
    const isOpen = isOpenCheck(check)
    const found = foundIn(check)
    const main = isOpen
      ? openText(check, door.queue.placeOf(check.id), door.queue.progressOf(check.id))
      : found === null
        ? html`${refusedNote(check)}${await againForm(door, request, check, null, [])}`
        : await foundPage(door, request, check, found)
    const again = isOpen ? { againAfterS: isNew ? AGAIN_SOON_S : AGAIN_AFTER_S } : {}
    return showScreen(door, request, reply, { title: check.file.name, section: 'New batch', main, ...again })
  })
  pages.post<OfCheck>('/checks/:check/again', { config: { page: 'checkAgain' } }, async (request, reply) => {
    const check = await findOwn(door, request, request.params.check)
    const caller = filesCaller(door, request)
    const upload = await ownUpload(door, check.file.id, caller)
    if (upload === null)
      throw new PageError(404, 'This file is not kept any more. Nothing was recorded: hand it in again as a new batch.')
    const given = readOtherwise(check, foundIn(check), fieldsOf(request))
    const { id } = await startCheck(door, caller, { upload, merchant: check.merchant, given })
    return reply.redirect(checkPath(id), 303)
  })
  pages.get<OfCheck>('/checks/:check/rejects.csv', { config: { page: 'rejects' } }, async (request, reply) => {
    const { path, file } = await findOwn(door, request, request.params.check)
    const size = await stat(rejectsIn(path)).then(
      ({ size: bytes }) => bytes,
      () => null,
    )
    if (size === null)
      throw new PageError(404, 'No row of this file is bad, or it is not read yet. Nothing was changed.')
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-length', String(size))
      .header('content-disposition', rejectsDisposition({ file }))
      .send(createReadStream(rejectsIn(path)))
  })
  addHandingIn(pages, door, findOwn)
}

function isOpenCheck({ state }: Check): boolean {
  return state === 'queued' || state === 'reading'
}

/** That of another is not there, and neither is one that a service made. */
async function findOwn({ spool, app }: ConsoleDoor, request: FastifyRequest, id: string): Promise<OwnCheck> {
  const check = await readCheck(spool, id, app.clock.nowMs())
  if (check !== null && check.by === identityOf(visitorOf(request).actor)) return check
  throw new PageError(404, 'There is no such check of yours; checks are kept for 24 hours. Nothing was changed.')
}

async function foundPage(
  door: ConsoleDoor,
  request: FastifyRequest<OfCheck>,
  check: OwnCheck,
  found: CheckFound,
): Promise<Html> {
  const { rows: atRow, alike } = request.query
  const rows: DetailsPage<FoundRow> = await detailsPage(check.path, 'rows', atRow)
  const samples = rows.isFirst ? rows.items.slice(0, 3) : []
  const handIn = await handInForm(door, request, check, found)
  return html`${foundShown(check, handIn.isHandedIn)}${faultsOf(check, found)}${handIn.shown}${
    handIn.hasPairs || found.lookalikes === 0
      ? NOTHING
      : pairsOf(check.id, found, await detailsPage<FoundLookalike>(check.path, 'lookalikes', alike))
  }${await againForm(door, request, check, found, samples)}${rowsOf(check.id, found, rows)}`
}
