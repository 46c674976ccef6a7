// Files that are uploaded: as a form of one file, or as the body itself. They are kept for a day, and nothing of them is recorded.

import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import type { Incoming, Upload } from '../../app/spool.ts'
import { assertStillComing, fillUpload, type SaidOfFile, takeUpload, UploadRefused } from '../../app/uploads.ts'
import { identityOf } from '../../domain/actor.ts'
import { isoOf } from '../../domain/batch-status.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { ProblemError } from '../problems.ts'
import { addRoute } from '../route.ts'
import { when, whole } from '../schemas.ts'

const LIMITS = { files: 1, fields: 20, parts: 21, fieldSize: 4 * 1024, fieldNameSize: 100, headerPairs: 50 } as const
const RAW_TYPES = [
  'application/octet-stream',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'text/csv',
  'text/plain',
  'text/tab-separated-values',
]
const SHA256 = /^[0-9a-f]{64}$/i

const UPLOADED = z.object({
  id: z.string(),
  name: z.string(),
  sha256: z.string().describe('Of the bytes as they came: compare it with your own.'),
  bytes: whole,
  expires_at: when.describe('Then it is removed.'),
})

export async function addFiles(server: Server, door: Door): Promise<void> {
  await server.register(async (inner) => {
    const scope = inner as unknown as Server
    await scope.register(multipart, { limits: { ...LIMITS, fileSize: door.app.config.serving.uploadBytesMost + 1 } })
    scope.addContentTypeParser(RAW_TYPES, (_request, _payload, done) => done(null))
    addRoute(scope, 'uploadFile', {
      summary: 'Upload a file, to check it',
      description:
        'As multipart/form-data with one file, or as the body itself (text/csv, application/octet-stream …). With `sha256`, a file that was cut on its way is refused. Kept for 24 hours; nothing of it is recorded.',
      query: z.strictObject({
        name: z.string().max(5_000).optional().describe('What the file is called, where it is the body itself.'),
        sha256: z.string().regex(SHA256).optional(),
      }),
      replies: { 201: UPLOADED },
      async answer({ request, query, reply }) {
        reply.code(201).header('connection', 'close') // what is left unread of a file that was refused is nobody's next request
        const upload = await (request.isMultipart() ? takeForm(door, request) : takeBody(door, request, query))
        reply.removeHeader('connection')
        return toJson(upload)
      },
    })
  })
}

function toJson({ id, name, sha256, bytes, expiresAtMs }: Upload): object {
  return { id, name, sha256, bytes, expires_at: isoOf(expiresAtMs) }
}

async function takeBody(door: Door, request: FastifyRequest, about: SaidOfFile): Promise<Upload> {
  if (request.body !== undefined) throw notAFile()
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  return take(door, request, Number.isSafeInteger(announced) ? announced : null, async (incoming) => {
    await fillUpload(request.raw, incoming)
    return about
  })
}

/** The form is read to its end before anything of it is kept: what comes behind the file may say that it is another. */
async function takeForm(door: Door, request: FastifyRequest): Promise<Upload> {
  return take(door, request, null, async (incoming) => {
    const fields = new Map<string, string>()
    let name: string | undefined
    let files = 0
    assertStillComing(request.raw)
    for await (const part of request.parts()) {
      if (isFile(part)) {
        files += 1
        name = part.filename
        await fillUpload(part.file, incoming)
        if (part.file.truncated) throw new UploadRefused('too-large')
      } else fields.set(part.fieldname, String(part.value))
    }
    const unknown = [...fields.keys()].find((field) => field !== 'sha256' && field !== 'name')
    const sha256 = fields.get('sha256')
    if (files === 0 || unknown !== undefined || (sha256 !== undefined && !SHA256.test(sha256)))
      throw new ProblemError(
        'form_invalid',
        'The form must have one file, and may have the fields name and sha256 (64 hexadecimal digits). Nothing of it was kept.',
      )
    return { name: fields.get('name') ?? name, sha256 }
  })
}

function isFile(part: MultipartFile | MultipartValue): part is MultipartFile {
  return part.type === 'file'
}

async function take(
  door: Door,
  request: FastifyRequest,
  announced: number | null,
  read: (incoming: Incoming) => Promise<SaidOfFile>,
): Promise<Upload> {
  const by = identityOf(callerOf(request).actor)
  return takeUpload(door.spool, by, announced, read).catch((error: unknown) => {
    throw error instanceof UploadRefused ? problemOf(error, door) : error
  })
}

function problemOf({ why, cause }: UploadRefused, door: Door): ProblemError {
  switch (why) {
    case 'too-large':
      return tooLarge(door)
    case 'empty':
      return new ProblemError('file_empty', 'The file is empty. Nothing of it was kept.')
    case 'cut':
      return wasCut(cause)
    case 'busy':
      return new ProblemError('uploads_busy', 'Too many files are on their way already. Nothing of it was kept.', {
        retryAfterS: 5,
      })
    case 'no-room':
      return new ProblemError(
        'spool_full',
        'There is no room for this file now: uploads are kept for a day. Nothing of it was kept.',
      )
    case 'disk-full':
      return new ProblemError('spool_full', 'The disk is full. Nothing of the file was kept.', { cause })
    case 'form':
      return new ProblemError(
        'form_invalid',
        'The form has more than one file or 20 fields, or is none. Nothing of it was kept.',
      )
  }
}

function tooLarge({ app }: Door): ProblemError {
  const mib = app.config.serving.uploadBytesMost / 1024 / 1024
  return new ProblemError('file_too_large', `A file must have ${mib} MiB at most. Nothing of it was kept.`)
}

function wasCut(cause?: unknown): ProblemError {
  return new ProblemError(
    'file_cut',
    'The file did not come whole, or is not the one of that sha256. Nothing of it was kept: upload it again.',
    { cause },
  )
}

function notAFile(): ProblemError {
  return new ProblemError(
    'media_type_unsupported',
    'Send the file as multipart/form-data, or as the body itself (text/csv, application/octet-stream …). Nothing was changed.',
  )
}
