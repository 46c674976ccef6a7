// Rows and look-alikes of a check, a page of them at a time, from the files that the process wrote.

import { join } from 'node:path'
import { detailsIn } from '../app/checks.ts'
import type { Operation } from '../domain/instruction.ts'
import { linesFrom } from '../files/lines.ts'
import { PageError } from './door.ts'

const ON_A_PAGE = 100

export interface FoundRow {
  readonly line: number
  readonly status: string
  readonly reference: string
  readonly operation: string | null
  readonly amount: string | null
  readonly currency: string | null
  readonly order_id: string | null
  readonly vault_id: string | null
  readonly cells: readonly string[]
}

interface FoundMoney {
  readonly amount: string | null
  readonly currency: string | null
  readonly order_id: string | null
}

export interface FoundLookalike extends FoundMoney {
  /** Identifies the pair. */
  readonly pair: string
  readonly line: number
  readonly reference: string
  readonly operation: Operation
  readonly like: FoundMoney & {
    readonly batch: string | null
    readonly row: number
    readonly line: number | null
    readonly reference: string
    readonly status: string | null
    readonly handed_in: string | null
  }
  readonly changed_from: { readonly amount: string; readonly currency: string } | null
  readonly may_have_run_again: boolean
  readonly beside_void: boolean
  readonly question: { readonly code: string; readonly text: string } | null
  readonly money_warning: string | null
  readonly refunded_before: { readonly amount: string | null; readonly currency: string | null } | null
}

export interface DetailsPage<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; null: there is none. */
  readonly next: number | null
  readonly isFirst: boolean
}

/** `cursor`: as the address has it; undefined: from the first. */
export async function detailsPage<Item>(
  path: string,
  what: 'rows' | 'lookalikes',
  cursor: string | undefined,
): Promise<DetailsPage<Item>> {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw noPage()
  const from = Number(cursor ?? 0)
  const { lines, next } = await linesFrom(join(detailsIn(path), `${what}.jsonl`), from, ON_A_PAGE)
  try {
    // Where no line begins, there is no object either.
    return { items: lines.map((line) => JSON.parse(line) as Item), next, isFirst: from === 0 }
  } catch {
    throw noPage()
  }
}

function noPage(): PageError {
  return new PageError(404, 'There is no such page of this check. Nothing was changed: begin at its first rows.')
}
