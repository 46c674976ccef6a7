// Which ledger an inbox belongs to.

import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../domain/fault.ts'
import { syncDirectory } from '../files/durable.ts'
import { readTextSync } from '../files/open-file.ts'
import { exists, linkTo, unlessThere, writeWhole } from './renames.ts'

/** In the folder, because a ledger on another host must see it too. */
const OWNER = '.tranche-inbox.json'

export async function bind(path: string, ledgerId: string): Promise<string> {
  const ownerPath = join(path, OWNER)
  const inboxId = randomBytes(8).toString('hex')
  if (!(await exists(ownerPath))) {
    const unfinished = join(path, `${OWNER}.${inboxId}.tmp`)
    const text = JSON.stringify({ ledger: ledgerId, inbox: inboxId })
    await writeWhole(unfinished, [text])
    // The second process finds a whole file; without second names it may find an empty one, and is refused.
    if ((await linkTo(unfinished, ownerPath)) === 'impossible')
      await writeFile(ownerPath, text, { flag: 'wx' }).catch(unlessThere)
    await rm(unfinished, { force: true })
    await syncDirectory(path)
  }
  const owner = parseOwner(readTextSync(ownerPath))
  if (owner?.ledger === ledgerId) return owner.inbox
  throw new Fault(
    'config',
    owner === null
      ? `${ownerPath} cannot be read, so it is not known which ledger this inbox belongs to. Nothing was taken. If no other ledger takes files from here, remove that file.`
      : `The inbox ${path} belongs to another ledger (${owner.ledger}, this one is ${ledgerId}): two ledgers would each send what is in it. Nothing was taken and nothing was sent. Set TRANCHE_DATA_DIR to that ledger, or use a folder of its own. If that ledger is gone for good: see in its backup what was sent, empty claimed/, then remove ${ownerPath}.`,
  )
}

function parseOwner(text: string): { ledger: string; inbox: string } | null {
  try {
    const { ledger, inbox } = JSON.parse(text) as Record<string, unknown>
    return typeof ledger === 'string' && typeof inbox === 'string' && /^[0-9a-f]{16}$/.test(inbox)
      ? { ledger, inbox }
      : null
  } catch {
    return null
  }
}
