// What a command is to the command line: an action that gives an exit code.

import type { App } from '../app.ts'
import type { Terminal } from '../commands/terminal.ts'

export type Action = (app: App, terminal: Terminal) => Promise<number>

/**
 * - `sends`: may send or settle, or changes what is sent. The default: a configuration with a mistake is no configuration
 * - `serves`: the same, for as long as it is let; its log tells what it does
 * - `reads`: the ledger alone, so that a mistake elsewhere in the configuration is told in a line and does not blind it
 * - `examines`: the same, and tells the mistakes itself
 */
export type Mode = 'sends' | 'serves' | 'reads' | 'examines'

/** Opens what every command needs, runs the action, keeps its exit code. */
export type Act = (action: Action, mode?: Mode) => Promise<void>

/** The same for a command that needs no configuration. */
export type ActAlone = (action: (terminal: Terminal) => Promise<number>) => Promise<void>
