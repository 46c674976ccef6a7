// tranche check FILE: reads and validates all of it; records and sends nothing.

import { type App, accountOf, NO_MERCHANT, openInstructionFile, openRecordToRead, reviewFile } from '../app.ts'
import type { AccountId } from '../domain/ports.ts'
import { type FileArguments, type FileRequest, parseFileArguments, requestFor } from './file-arguments.ts'
import { sayHow, showRefusals, showReview, toJsonRefusals, toJsonReview } from './review-report.ts'
import { EXIT, type Terminal } from './terminal.ts'

export async function check(app: App, path: string, given: FileArguments, terminal: Terminal): Promise<number> {
  const anonymous = app.config.merchants.size === 0 && given.merchant === undefined
  const request = anonymous ? requestFor(app, NO_MERCHANT, given) : parseFileArguments(app, given)
  if (anonymous)
    terminal.say('No merchant is configured: the file is checked by itself, not against what was recorded.')
  const opened = await openInstructionFile(path, request.merchant, request.options)
  if (opened.kind === 'refused') return showStructuralFault(opened, path, terminal)
  const ledger = await openRecordToRead(app)
  try {
    sayHow(opened, terminal)
    const reviewed = await reviewFile(
      opened.file,
      request.toSubmit(await knownAccount(app, ledger, request), false),
      ledger,
    )
    const ok = reviewed.refusals.length === 0
    showReview(reviewed.review, terminal)
    if (!terminal.json) showRefusals(reviewed, terminal, terminal.data)
    terminal.object({
      file: path,
      file_sha256: opened.file.sha256,
      ok,
      ...toJsonReview(reviewed.review),
      held_by_doubt: reviewed.review.heldByDoubt,
      ...toJsonRefusals(reviewed),
    })
    await reviewed.draft.discard()
    terminal.say(
      ok
        ? `Nothing was recorded and nothing was sent.${reviewed.review.accepted === 0 ? '' : ` Next, with the same options: tranche run ${path} --out ${path.replace(/\.csv$/i, '')}.results.csv`}`
        : 'The file would be refused as it is. Nothing was recorded and nothing was sent.',
    )
    return ok ? EXIT.approved : EXIT.refused
  } finally {
    await opened.close()
    await ledger.close()
  }
}

/** Without making the account: a check records nothing. An account that is not known has nothing recorded. */
async function knownAccount(
  app: App,
  ledger: Awaited<ReturnType<typeof openRecordToRead>>,
  { merchant }: FileRequest,
): Promise<AccountId> {
  if (merchant === NO_MERCHANT) return 0 as AccountId
  const accounts = await ledger.accounts()
  const known = accounts.find(
    ({ name, url, username }) => name === merchant.name || (url === merchant.url && username === merchant.username),
  )
  // A known name or address goes through the one check there is, which then writes nothing.
  return known === undefined ? (0 as AccountId) : accountOf(ledger, merchant, app.clock)
}

export function showStructuralFault(
  fault: { line: number | null; column: string | null; problem: string; remedy: string },
  path: string,
  terminal: Terminal,
): number {
  const where = [fault.line === null ? null : `line ${fault.line}`, fault.column]
    .filter((part) => part !== null)
    .join(', ')
  terminal.say(
    `${path} is refused${where === '' ? '' : ` (${where})`}: ${fault.problem}. ${fault.remedy.charAt(0).toUpperCase()}${fault.remedy.slice(1)}.`,
  )
  terminal.say('Nothing was recorded and nothing was sent.')
  terminal.object({ event: 'result', ok: false, file: path, ...fault })
  return EXIT.refused
}
