// Files as people keep them, and how the program reads them.

import { createHash } from 'node:crypto'
import type { DraftRow } from '../../src/domain/draft.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { InstructionFile } from '../../src/domain/submission.ts'
import { derivedReferences, withRunKey } from '../../src/ingest/fields/reference.ts'
import { toXtlOrderId } from '../../src/ingest/fields/xtl-order-id.ts'
import type { PlannedFile, PlannedRow, RunningAgain } from './plan.ts'
import type { Life } from './world.ts'

const COLUMNS = ['reference', 'note']

export type KeptRow = PlannedRow & { readonly cameFrom: DraftRow['cameFrom'] }

/** A file as a person keeps it, planned or made of results. */
export interface KeptFile extends Omit<PlannedFile, 'rows' | 'ofCards'>, RunningAgain {
  readonly fedBack: boolean
  readonly rows: readonly KeptRow[]
}

/** Of whichever attempt at a charge: the reference of the first. */
export function firstReference(reference: string): string {
  return reference.replace(/~\d+$/, '')
}

/** Whether its rows are those of an original, or of results of one. */
export function isOfOriginal({ rows }: KeptFile): boolean {
  return rows.some(({ payment }) => payment !== null)
}

export function sha256Of({ name, rows }: KeptFile): string {
  const bytes = JSON.stringify([name, rows.map(({ instruction, bad }) => ({ ...instruction, bad }))], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  return createHash('sha256').update(bytes).digest('hex')
}

/** What its rows ask for. One without a reference of its own gets one as the program makes it, from the bytes of the file. */
export function instructionsOf(file: KeptFile): readonly Instruction[] {
  const derivedOf = derivedReferences(sha256Of(file), null)
  return file.rows.map(({ instruction }, i) => {
    if (instruction.reference !== '') return instruction
    return named(instruction, withRunKey(derivedOf(i + 1), file.runKey))
  })
}

/** As a person has it who made it. */
export function keptOf(file: PlannedFile, again: RunningAgain = { retry: [], asksAgain: false }): KeptFile {
  return { ...file, ...again, fedBack: false, rows: file.rows.map((row) => ({ ...row, cameFrom: null })) }
}

export function named(instruction: Instruction, reference: string): Instruction {
  return { ...instruction, reference, xtlOrderId: hasXtlOrderId(instruction) ? toXtlOrderId('', reference) : null }
}

function hasXtlOrderId({ operation }: Instruction): boolean {
  return operation === 'AUTH' || operation === 'CAPTURE' || operation === 'CAUTH'
}

export function cellsOf(file: KeptFile): readonly (readonly string[])[] {
  return file.rows.map(({ instruction }, i) => [instruction.reference, `${file.name} ${i + 1}`])
}

/** Read a few rows at a time. */
export function inputOf(file: KeptFile, life: Life): InstructionFile {
  const rows = draftRowsOf(file)
  return {
    name: file.name,
    sha256: sha256Of(file),
    columns: COLUMNS,
    fedBack: file.fedBack,
    xtlOrderIdOf: (reference) => toXtlOrderId('', reference),
    async *rows() {
      for (let from = 0; from < rows.length; from += 5) {
        await life.pause(0.5)
        yield rows.slice(from, from + 5)
      }
    },
  }
}

function draftRowsOf(file: KeptFile): DraftRow[] {
  const cells = cellsOf(file)
  return instructionsOf(file).map((instruction, i) => {
    const { bad, cameFrom, instruction: asked } = file.rows[i] as KeptRow
    const rowNo = i + 1
    const line = rowNo + 1
    const fault = { rowNo, line, column: 'amount', value: 'x', problem: 'not an amount', remedy: 'correct it' }
    return {
      ...{ rowNo, line, cells: cells[i] ?? [], reference: instruction.reference, instruction, cameFrom },
      made: asked.reference === '',
      faults: bad ? [fault] : [],
    }
  })
}
