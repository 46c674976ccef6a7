// What people found about many rows, in a file: what it would change is shown first, and is then recorded, each line by itself.

import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ownUpload } from '../../app/checking.ts'
import { UploadRefused } from '../../app/uploads.ts'
import {
  planWorklist,
  readWorklistFile,
  recordWorklist,
  type ToldEntry,
  type WorklistEntry,
} from '../../app/worklist.ts'
import type { Resolved } from '../../domain/doubt.ts'
import { type Html, html } from '../../present/html.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { type Fields, fieldsOf, reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actPartOnce } from '../once.ts'
import { stepUpPath, worklistPath } from '../paths.ts'
import { FORM_LIMITS, filesCaller, takeFormWithFile } from '../uploading.ts'
import { visitorOf } from '../visit.ts'
import { pageWays } from '../ways.ts'
import { fileFaults } from './new-batch.ts'
import { faultyLines, plannedShown, uploadForm } from './worklist-shown.ts'

const MIB = 1024 * 1024
/** Of a file. Doubts are worked off by people. */
const BYTES_MOST = 4 * MIB
/** Of lines that say something: nobody compares more on one page. */
const LINES_MOST = 500

interface OfFile {
  readonly Params: { readonly file: string }
}

export async function addWorklistPages(pages: Pages, door: ConsoleDoor): Promise<void> {
  await pages.register(async (inner) => {
    const scope = inner as unknown as Pages
    await scope.register(multipart, { limits: { ...FORM_LIMITS, fileSize: BYTES_MOST + 1 } })
    scope.post('/doubts/worklists', { config: { page: 'worklistUpload' } }, async (request, reply) => {
      const { fileName, taken } = await takeFormWithFile(door, request, () => true)
      if (taken instanceof UploadRefused) return refuse(door, request, reply, uploadFault(door, fileName, taken))
      const { problem } = await readUpload(door, request, taken.id)
      if (problem === null) return reply.redirect(worklistPath(taken.id), 303)
      await door.spool.removeUpload(taken.id)
      return refuse(door, request, reply, problem)
    })
  })
  pages.get<OfFile>('/doubts/worklists/:file', { config: { page: 'worklist' } }, async (request, reply) => {
    const list = await findOwn(door, request, request.params.file)
    const planned = await planWorklist(door.app, door.ledger, visitorOf(request).actor, list.entries)
    const main = await plannedShown(door, request, { ...list, planned })
    return showScreen(door, request, reply, { title: list.name, section: 'Doubts', main })
  })
  pages.post<OfFile>(
    '/doubts/worklists/:file/record',
    { config: { page: 'recordWorklist' } },
    async (request, reply) => {
      const { file } = request.params
      const { entries } = await findOwn(door, request, file)
      const asked = asShown(entries, fieldsOf(request))
      if (asked.some(({ finding }) => finding === 'send-again') && !visitorOf(request).isFresh)
        return reply.redirect(stepUpPath(worklistPath(file)), 303)
      const isReasonLeft = asked.some(({ reason }) => reason === '')
      const otherwise = isReasonLeft ? reasonIn(request) : ''
      const { isNow, counts } = await record(
        door,
        request,
        asked.map((entry) => ({ ...entry, reason: entry.reason || otherwise })),
      )
      const done = { act: 'worklist', ...counts } as const
      return redirectDone(door, request, reply, worklistPath(file), { done, isAgain: !isNow })
    },
  )
}

// ───────────────────────────────────────────────────────────── The file

interface FileRead {
  readonly entries: readonly WorklistEntry[]
  /** Lines that say nothing yet. */
  readonly open: number
  /** null: every line can be read. */
  readonly problem: Html | null
}

interface OwnFile extends Omit<FileRead, 'problem'> {
  readonly id: string
  readonly name: string
}

async function readUpload(door: ConsoleDoor, request: FastifyRequest, id: string): Promise<FileRead & OwnFile> {
  const upload = await ownUpload(door, id, filesCaller(door, request))
  if (upload === null)
    throw new PageError(404, 'There is no such file of yours; files are kept for 24 hours. Nothing was changed.')
  const list = await readWorklistFile(upload.path, { reason: '', spelling: pageWays })
  const named = { id, name: upload.name }
  if (list.kind === 'refused') return { ...named, entries: [], open: 0, problem: refusedText(list) }
  return { ...named, entries: list.entries, open: list.open, problem: problemOf(list) }
}

async function findOwn(door: ConsoleDoor, request: FastifyRequest, id: string): Promise<OwnFile> {
  const { problem, ...own } = await readUpload(door, request, id)
  if (problem === null) return own
  throw new PageError(409, 'This file cannot be read any more as it was. Nothing was changed: choose it again.')
}

type Refused = Extract<Awaited<ReturnType<typeof readWorklistFile>>, { kind: 'refused' }>
type List = Exclude<Awaited<ReturnType<typeof readWorklistFile>>, { kind: 'refused' }>

function refusedText({ line, problem, remedy }: Refused): Html {
  return html`<p>${line === null ? '' : `Line ${line}: `}${problem}; ${remedy}.</p>`
}

function problemOf({ holdsCards, faults, entries }: List): Html | null {
  if (holdsCards)
    return html`<p>The file holds a card number or a security code. Take it out, here and wherever the file came from.</p>`
  if (faults.length > 0) return faultyLines(faults)
  if (entries.length === 0)
    return html`<p>No line says what was found. Write into the column resolution: approved, declined, not-executed or send-again.</p>`
  if (entries.length <= LINES_MOST) return null
  return html`<p>${entries.length} lines say what was found; a page takes ${LINES_MOST}. Split the file, or record it at the machine of the ledger.</p>`
}

function uploadFault(door: ConsoleDoor, fileName: string, { why }: UploadRefused): Html {
  if (fileName === '') return html`<p>Select the CSV file that was filled in.</p>`
  const told =
    why === 'too-large' ? `The selected file must be smaller than ${BYTES_MOST / MIB} MB` : fileFaults(door)[why]
  return html`<p>${told}.</p>`
}

function refuse(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Html,
): FastifyReply | Promise<FastifyReply> {
  const told = html`<div class="note refused" role="alert" tabindex="-1" autofocus>${problem}<p>The file was not kept. Nothing was recorded.</p></div>`
  const main = html`${told}${uploadForm(request, door)}<p><a href="/doubts">Back to the doubts</a></p>`
  return showScreen(door, request, reply.code(422), { title: 'Doubts', section: 'Doubts', main })
}

// ───────────────────────────────────────────────────────────── Recording

/** Those lines that would have been recorded when the page was shown, each of the row and with the meaning that it was shown with. */
function asShown(entries: readonly WorklistEntry[], { shown = '' }: Fields): readonly ToldEntry[] {
  const lines = new Map(
    shown.split(' ').map((one) => {
      const [, line, rowNo, does, batchId] =
        /^([1-9]\d{0,8})\.([1-9]\d{0,8})\.(proposes|records)\.(\S{1,100})$/.exec(one) ?? []
      if (line === undefined || rowNo === undefined || batchId === undefined)
        throw new PageError(400, 'The form does not say which rows it is of. Nothing was changed: open the page again.')
      const row = { batchId, rowNo: Number.parseInt(rowNo, 10) }
      return [line, { row, onlyProposes: does === 'proposes' }] as const
    }),
  )
  return entries.flatMap((entry) => {
    const seen = lines.get(String(entry.line))
    return seen === undefined ? [] : [{ ...entry, ...seen }]
  })
}

/** What is refused is seen when the page is shown again: by what the ledger holds then. */
async function record(door: ConsoleDoor, request: FastifyRequest, entries: readonly ToldEntry[]) {
  const { actor } = visitorOf(request)
  const recording = recordWorklist(door.app, entries, ({ line }, resolution, nowMs) =>
    actPartOnce(door, request, String(line), (once) => once.resolve(resolution, actor, nowMs)),
  )
  const counts = { found: 0, again: 0, proposed: 0, unchanged: 0 }
  for await (const { answer } of recording) counts[countedAs(answer)] += 1
  const isNow = entries.length === 0 || Object.values(counts).some((count) => count > 0)
  return { isNow, counts }
}

function countedAs(answer: Resolved): 'found' | 'again' | 'proposed' | 'unchanged' {
  switch (answer.kind) {
    case 'resolved':
      return answer.state === 'READY' ? 'again' : 'found'
    case 'proposed':
      return 'proposed'
    case 'already':
    case 'refused':
      return 'unchanged'
  }
}
