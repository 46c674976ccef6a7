// A new batch: whose money it is, what it asks for, and the file. Nothing of it is recorded before it was looked at.

import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ownUpload, startCheck } from '../../app/checking.ts'
import { UploadRefused, type WhyRefused } from '../../app/uploads.ts'
import { type Html, html } from '../../present/html.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import type { Fields } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { choice, operationIn, operationsOf } from '../operation-field.ts'
import { form, note } from '../parts.ts'
import { checkPath } from '../paths.ts'
import { faultSummary, faultText, type Given, readingFields, saidIn } from '../reading-form.ts'
import { FORM_LIMITS, type FormWithFile, filesCaller, takeFormWithFile } from '../uploading.ts'

export async function addNewBatchPages(pages: Pages, door: ConsoleDoor): Promise<void> {
  const { uploadBytesMost } = door.app.config.serving
  pages.get('/new', { config: { page: 'newBatch' } }, async (request, reply) =>
    showForm(door, request, reply, {}, NONE),
  )
  await pages.register(async (inner) => {
    const scope = inner as unknown as Pages
    await scope.register(multipart, { limits: { ...FORM_LIMITS, fileSize: uploadBytesMost + 1 } })
    scope.post('/new', { config: { page: 'upload' } }, async (request, reply) => {
      const isRight = (fields: Fields) => askedIn(door, fields).faults.size === 0
      const { fields, fileName, taken } = await takeFormWithFile(door, request, isRight)
      const { merchant, given, faults } = askedIn(door, fields)
      if (taken instanceof UploadRefused || merchant === null) {
        const all = new Map([
          ...faults,
          ['file', fileFault(door, { fields, fileName, taken }, faults.size > 0)] as const,
        ])
        return showForm(door, request, reply.code(422), fields, all)
      }
      const caller = filesCaller(door, request)
      const upload = await ownUpload(door, taken.id, caller)
      if (upload === null) throw new PageError(503, 'The file could not be kept. Nothing was recorded: try again.')
      const { id } = await startCheck(door, caller, { upload, merchant, given })
      return reply.redirect(checkPath(id), 303)
    })
  })
}

const NONE: ReadonlyMap<string, string> = new Map()

// ───────────────────────────────────────────────────────────── What was filled in

interface Asked {
  /** null: none was chosen. */
  readonly merchant: string | null
  readonly given: Given
  readonly faults: ReadonlyMap<string, string>
}

function askedIn({ app }: ConsoleDoor, fields: Fields): Asked {
  const { given, faults } = saidIn(fields)
  const wrong = new Map<string, string>()
  const { merchant = '', operation = '' } = fields
  const isMerchant = app.config.merchants.has(merchant)
  if (!isMerchant) wrong.set('merchant', 'Select a merchant')
  const said = operationIn(operation)
  if (said === null) wrong.set('operation', 'Select what the rows ask for')
  for (const [name, fault] of faults) wrong.set(name, fault)
  return { merchant: isMerchant ? merchant : null, given: { ...given, ...said, merchant }, faults: wrong }
}

/** As GOV.UK words it. */
function fileFault(door: ConsoleDoor, { fileName, taken }: FormWithFile, areOthersWrong: boolean): string {
  if (fileName === '') return 'Select a CSV or Excel file'
  const why = taken instanceof UploadRefused ? taken.why : 'form'
  if (why === 'form' && areOthersWrong) return 'Select the file again'
  return fileFaults(door)[why]
}

export function fileFaults({ app }: ConsoleDoor): Readonly<Record<WhyRefused, string>> {
  const most = app.config.serving.uploadBytesMost / 1024 / 1024
  return {
    'too-large': `The selected file must be smaller than ${most} MB`,
    empty: 'The selected file is empty',
    cut: 'The selected file did not come whole – select it again',
    busy: 'Too many files are on their way already – try again in a moment',
    'no-room': 'There is no room for the selected file now: files are kept for a day – try again later',
    'disk-full': 'The disk of the server is full: tell whoever runs it',
    form: 'Select one file',
  }
}

// ───────────────────────────────────────────────────────────── What is shown

function showForm(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: Fields,
  faults: ReadonlyMap<string, string>,
): FastifyReply | Promise<FastifyReply> {
  const names = [...door.app.config.merchants.keys()]
  const screen = { title: 'New batch', section: 'New batch' } as const
  if (names.length === 0)
    return showScreen(door, request, reply, {
      ...screen,
      main: note('warn', html`<p>No merchant is configured here, so nothing can be handed in.</p>`),
    })
  const asked = form(request, door, {
    action: '/new',
    fields: html`${merchantsOf(names, fields, faults)}${operationsOf(fields, faults)}${fileOf(faults)}${detailsOf(fields, faults)}`,
    button: 'Check the file',
    hasFile: true,
  })
  const main = html`${faultSummary(faults, 'The file was not kept. Nothing was recorded.')}<p>The file is read and checked first. Nothing is recorded and nothing is sent before you have looked at what was found.</p>${asked}`
  return showScreen(door, request, reply, { ...screen, main })
}

/** Few files need any of it. Where something was filled in, or is wrong, it is seen. */
function detailsOf(fields: Fields, faults: ReadonlyMap<string, string>): Html {
  const isSeen = faults.size > 0 || Object.keys(fields).length > 0
  return html`<details${isSeen ? html` open` : ''}><summary>More: how the file is read, what it must hold, how it is sent</summary>${readingFields(fields, faults)}</details>`
}

function merchantsOf(names: readonly string[], { merchant }: Fields, faults: ReadonlyMap<string, string>): Html {
  const chosen = names.length === 1 ? names[0] : merchant
  const choices = names.map((name, i) =>
    choice('merchant', i, { value: name, label: name, hint: '', isChosen: name === chosen }),
  )
  return html`<fieldset><legend>Merchant</legend>${faultText('merchant', faults.get('merchant'))}${choices}</fieldset>`
}

function fileOf(faults: ReadonlyMap<string, string>): Html {
  return html`<div class="field"><label>File <span class="hint">Choose a CSV or Excel file. Without card numbers: a file that holds some is not kept.</span><input type="file" name="file" id="file" required accept=".csv,.tsv,.txt,.xlsx,text/csv"></label>${faultText('file', faults.get('file'))}</div>`
}
