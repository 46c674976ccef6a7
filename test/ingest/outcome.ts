// What became of a file, in lines that a person can compare: its rows, what is wrong with them, or why it is refused.

import { open } from 'node:fs/promises'
import type { DraftRow } from '../../src/domain/draft.ts'
import { formatAmount } from '../../src/domain/money.ts'
import { isProblem } from '../../src/domain/problem.ts'
import { parseColumnMap } from '../../src/ingest/columns.ts'
import type { Header } from '../../src/ingest/header.ts'
import { surveyFile } from '../../src/ingest/inspect-file.ts'
import type { ReadingOptions } from '../../src/ingest/inspect-records.ts'
import { readRows } from '../../src/ingest/rows.ts'
import { READING } from './table.ts'

export type Said = Partial<Omit<ReadingOptions, 'map'>> & { readonly map?: readonly string[] }

export interface Outcome {
  /** `Betrag=amount`: columns understood under another name. */
  readonly columns?: readonly string[]
  /** `line 2, row 1: …`, the instruction or everything that is wrong with it. */
  readonly rows?: readonly string[]
  readonly warnings?: readonly string[]
  /** `line 3: problem. remedy` */
  readonly refused?: string
}

export async function outcomeOf(path: string, said: Said = {}): Promise<Outcome> {
  const { map: mapped = [], ...rest } = said
  const map = parseColumnMap(
    mapped.map((text) => ({ column: text.split('=')[0] ?? '', field: text.split('=')[1] ?? '' })),
  )
  if (isProblem(map)) return { refused: `${map.problem}. ${map.remedy}` }
  const options = { ...READING, ...rest, map }
  const file = await open(path)
  try {
    const survey = await surveyFile(file, options)
    if (survey.kind === 'refused') {
      const at = [survey.line === null ? [] : `line ${survey.line}`, survey.column ?? []].flat().join(', ')
      return { refused: `${at === '' ? '' : `${at}: `}${survey.problem}. ${survey.remedy}` }
    }
    const rows: string[] = []
    for await (const chunk of readRows(file, survey, options)) rows.push(...chunk.map(inWords))
    return { ...columnsOf(survey.header), rows, ...(survey.warnings.length > 0 ? { warnings: survey.warnings } : {}) }
  } finally {
    await file.close()
  }
}

function columnsOf({ mapped }: Header): Pick<Outcome, 'columns'> {
  return mapped.length === 0 ? {} : { columns: mapped.map(({ written, field }) => `${written}=${field}`) }
}

function inWords({ rowNo, line, reference, instruction, faults }: DraftRow): string {
  const at = `line ${line}, row ${rowNo}:`
  if (instruction === null) {
    return `${at} ${faults.map(({ column, value, problem, remedy }) => `${column} "${value ?? ''}" ${problem}; ${remedy}`).join(' | ')}`
  }
  const { operation, money, orderId, vaultId, executeAtMs, details } = instruction
  const words = [
    reference,
    operation,
    money === null ? 'no amount' : `${formatAmount(money)} ${money.currency}`,
    orderId === null ? [] : `order ${orderId}`,
    vaultId === null ? [] : `vault ${vaultId}`,
    executeAtMs === null ? [] : `at ${new Date(executeAtMs).toISOString()}`,
    Object.entries(details).map(([name, value]) => `${name} ${value}`),
  ]
  return `${at} ${words.flat().join(', ')}`
}
