// What a command is to the command line: an action that gives an exit code.

import type { App } from '../app.ts'
import type { Terminal } from '../commands/terminal.ts'

export type Action = (app: App, terminal: Terminal) => Promise<number>

/** Opens what every command needs, runs the action, keeps its exit code. */
export type Act = (action: Action, logLevel?: string) => Promise<void>

/** The same for a command that needs no configuration. */
export type ActAlone = (action: (terminal: Terminal) => Promise<number>) => Promise<void>
