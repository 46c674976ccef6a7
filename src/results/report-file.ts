// Where the report on a batch may be written: like its results, never over anything but an earlier report on the same batch.

import { open } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { Fault } from '../domain/fault.ts'
import { REPORT_MARK } from '../domain/report.ts'
import { words } from '../domain/words.ts'
import { batchMarkOf, SANDBOX_MARK } from './cells.ts'
import {
  checkOut,
  isSamePlace,
  type OutPaths,
  type OutRequest,
  type OutWords,
  realPathOf,
  refuseInput,
  statOf,
  tryToWrite,
} from './out.ts'

/** Faults as `checkOut` does, also of the report. */
export async function checkOutAndReport(
  request: OutRequest & { readonly report?: string | null },
): Promise<OutPaths & { readonly reportPath?: string }> {
  const { report = null, sandbox, batchId, inputPath } = request
  if (report === null) return checkOut(request)
  const reportPath = await reportPathOf(report, sandbox)
  const paths = await checkOut(request)
  const others = [paths.path, paths.summaryPath, paths.exceptionsPath ?? '']
  if (others.some((other) => isSamePlace(reportPath, other))) throw namesResults(reportPath)
  await refuseInput(reportPath, inputPath, 'report')
  await refuseOther(reportPath, batchId === null ? null : batchMarkOf({ batchId, sandbox }), sandbox)
  await tryToWrite(reportPath, REPORT)
  return { ...paths, reportPath }
}

const SETTING = { set: 'report', to: null } as const
const REPORT: OutWords = { what: 'The report', safe: 'The record itself is safe.', setting: 'report' }

/** Absolute, symbolic links resolved. */
async function reportPathOf(report: string, sandbox: boolean): Promise<string> {
  const ending = extname(report).toLowerCase()
  if (ending !== '.html' && ending !== '.htm') {
    throw new Fault(
      'usage',
      words`${SETTING} ${report}: a report is a web page. Let the name end with .html. Nothing was written and nothing was sent.`,
    )
  }
  const named = resolve(report)
  const name = basename(named)
  const marked = sandbox && !name.includes('SANDBOX') ? name.replace(/\.[^.]*$/, '.SANDBOX$&') : name
  return realPathOf(join(dirname(named), marked), REPORT)
}

function namesResults(path: string): Fault {
  return new Fault('usage', words`${SETTING} names ${path}, where the results go; name another file. Nothing was sent.`)
}

async function refuseOther(path: string, mark: string | null, sandbox: boolean): Promise<void> {
  const there = await statOf(path)
  if (there === null) return
  const found = there.isFile() ? await markIn(path) : null
  // One rehearsal may write over another: neither is a record of anything.
  if (found !== null && (found === mark || (sandbox && found.startsWith(SANDBOX_MARK)))) return
  const what = found === null ? 'is not a report of this program' : `is the report on batch ${found}`
  throw new Fault(
    'usage',
    words`${path} exists and ${what}; it will not be written over: move it away, or name another file with ${SETTING}. Nothing was sent.`,
  )
}

/** The mark stands at the beginning of the page. */
const HEAD_BYTES = 1024

async function markIn(path: string): Promise<string | null> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.subarray(0, bytesRead).toString('latin1')
    return new RegExp(`<meta name="${REPORT_MARK}" content="([\\w-]+)">`).exec(head)?.[1] ?? null
  } finally {
    await file.close()
  }
}
