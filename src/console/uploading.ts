// A form with a file: its token is read before anything else of it, and the file goes into the spool as it comes.

import type { MultipartFile, MultipartValue } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { FilesCaller } from '../app/checking.ts'
import type { Upload } from '../app/spool.ts'
import { fillUpload, takeUpload, UploadRefused } from '../app/uploads.ts'
import { identityOf } from '../domain/actor.ts'
import { secretIn } from './cookie.ts'
import { type ConsoleDoor, PageError } from './door.ts'
import { type Fields, formKeyOf, namedTwice } from './forms.ts'
import { visitorOf } from './visit.ts'

export const FORM_LIMITS = {
  ...{ files: 1, fields: 40, parts: 41, fieldSize: 16 * 1024, fieldNameSize: 100, headerPairs: 50 },
} as const
const FILE = 'file'

type Part = MultipartFile | MultipartValue

/** With the session as it was shown: whose it is, the process finds out by itself. */
export function filesCaller(door: ConsoleDoor, request: FastifyRequest): FilesCaller {
  const identity = identityOf(visitorOf(request).actor)
  return { kind: 'person', secret: secretIn(request, door) ?? '', identity, address: request.ip }
}

/** What stands beside the file is known when it is refused, too: the form is shown again as it was filled in. */
export interface FormWithFile {
  readonly fields: Fields
  /** As the browser calls it; empty: none was chosen. */
  readonly fileName: string
  readonly taken: Upload | UploadRefused
}

/** `wanted`: whether the file is to be kept, by what stands in the other fields. Nothing is kept of a form that is not one of ours. */
export async function takeFormWithFile(
  door: ConsoleDoor,
  request: FastifyRequest,
  wanted: (fields: Fields) => boolean,
): Promise<FormWithFile> {
  if (!request.isMultipart()) throw new PageError(415, 'The form could not be read. Nothing was changed.')
  // Its reader would wait for ever for somebody who has left.
  if (request.raw.destroyed) throw new PageError(400, 'The form did not come whole. Nothing was changed.')
  const parts = request.parts()
  const first = await parts.next().catch(() => null)
  request.formKey = formKeyOf(tokenIn(first?.value), secretIn(request, door) ?? '')
  const fields = new Map<string, string>()
  let fileName = ''
  const read = (taken: Upload | UploadRefused) => ({ fields: Object.fromEntries(fields), fileName, taken })
  try {
    const taken = await takeUpload(door.spool, filesCaller(door, request).identity, null, async (incoming) => {
      for await (const part of parts) {
        if (isFile(part)) {
          if (part.fieldname !== FILE) throw new UploadRefused('form')
          fileName = part.filename
          await fillUpload(part.file, incoming)
          if (part.file.truncated) throw new UploadRefused('too-large')
        } else if (fields.has(part.fieldname) || part.fieldname === 'form') throw namedTwice()
        else fields.set(part.fieldname, String(part.value))
      }
      if (!wanted(Object.fromEntries(fields))) throw new UploadRefused('form')
      return { name: fileName }
    })
    return read(taken)
  } catch (error) {
    if (error instanceof UploadRefused) return read(error)
    throw error
  }
}

function tokenIn(part: Part | undefined): Fields {
  return part !== undefined && !isFile(part) && part.fieldname === 'form' ? { form: String(part.value) } : {}
}

function isFile(part: Part): part is MultipartFile {
  return part.type === 'file'
}
