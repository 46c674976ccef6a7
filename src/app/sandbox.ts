// The sandbox gateway: as a server of its own, and made to hold what a file needs.

import type { InstructionFile } from '../domain/submission.ts'
import type { Sandbox, SandboxOptions } from '../sandbox/server.ts'
import { systemClock } from './clock.ts'

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

/** Makes the sandbox hold what the instructions of a file need in order to be approved. */
export async function prepareSandbox(sandbox: Sandbox, file: InstructionFile): Promise<void> {
  const { prepareFor } = await import('../sandbox/prepare.ts')
  const instructions = []
  for await (const rows of file.rows()) {
    for (const { instruction } of rows) if (instruction !== null) instructions.push(instruction)
  }
  sandbox.prepare(prepareFor(instructions))
}
