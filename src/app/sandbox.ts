// The sandbox gateway: as a server of its own, and made to hold what a file needs.

import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { NO_MERCHANT } from '../domain/merchant.ts'
import type { InstructionFile } from '../domain/submission.ts'
import { readTextSync } from '../files/open-file.ts'
import type { Preparation } from '../sandbox/prepare.ts'
import type { Sandbox, SandboxOptions } from '../sandbox/server.ts'
import { systemClock } from './clock.ts'
import { type FileOptions, openInstructionFile } from './instruction-file.ts'

export interface OpenedSandbox {
  readonly server: Sandbox
  /** What each amount that makes trouble does, a line for each. */
  readonly amounts: readonly string[]
  /** And each end of a card number or vault id. */
  readonly endings: readonly string[]
}

export async function openSandboxServer(options: Omit<SandboxOptions, 'clock'>): Promise<OpenedSandbox> {
  const [{ openSandbox }, { endingLines, triggerLines }] = await Promise.all([
    import('../sandbox/server.ts'),
    import('../sandbox/triggers.ts'),
  ])
  const server = await openSandbox({ ...options, clock: () => systemClock.nowMs() })
  return { server, amounts: triggerLines(), endings: endingLines() }
}

export interface PreparedBy {
  readonly preparation: Preparation
  /** Rows that could not be read, and need nothing. */
  readonly bad: number
}

/** From a file: JSON as the sandbox itself takes it, or instructions that are to be approved. */
export async function readPreparation(
  path: string,
  wanted: Pick<FileOptions, 'operation' | 'currency' | 'spelling'>,
): Promise<PreparedBy> {
  if (/\.json$/i.test(path)) return { preparation: await parsePreparation(path), bad: 0 }
  const opened = await openInstructionFile(path, NO_MERCHANT, {
    ...{ ...wanted, decimal: undefined, runKey: undefined, sheet: undefined },
    ...{ cards: 'taken', nowMs: systemClock.nowMs() },
  })
  if (opened.kind === 'refused') {
    const where = opened.line === null ? path : `${path}, line ${opened.line}`
    throw new Fault('usage', `${where}: ${opened.problem}. ${opened.remedy}. Nothing was prepared.`)
  }
  return preparationFor(opened.file).finally(() => opened.close())
}

async function parsePreparation(path: string): Promise<Preparation> {
  const { parsePreparation: parse } = await import('../sandbox/admin.ts')
  try {
    return parse(readTextSync(path))
  } catch (error) {
    throw new Fault('usage', `${path} cannot be used: ${messageOf(error)} Nothing was prepared.`, { cause: error })
  }
}

async function preparationFor(file: InstructionFile): Promise<PreparedBy> {
  const { prepareFor } = await import('../sandbox/prepare.ts')
  const instructions = []
  let bad = 0
  for await (const rows of file.rows()) {
    for (const { instruction } of rows) {
      if (instruction === null) bad += 1
      else instructions.push(instruction)
    }
  }
  return { preparation: prepareFor(instructions), bad }
}

/** Makes the sandbox hold what the instructions of a file need in order to be approved. */
export async function prepareSandbox(sandbox: Sandbox, file: InstructionFile): Promise<void> {
  sandbox.prepare((await preparationFor(file)).preparation)
}
