// What a run of the program takes from the process that it runs in. Below `main` nothing asks the process itself for these, so that several
// runs can share one.

import type { Readable, Writable } from 'node:stream'

export interface Input extends Readable {
  readonly isTTY?: boolean
  /** Of a stream that the process has from the system. */
  unref?(): unknown
}

export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** Of a stream that the process has from the system. Absent: a stream within the process. */
  readonly fd?: number
}

type OnSignal = (name: NodeJS.Signals) => void

export interface Signals {
  on(name: NodeJS.Signals, listener: OnSignal): unknown
  once(name: NodeJS.Signals, listener: OnSignal): unknown
  off(name: NodeJS.Signals, listener: OnSignal): unknown
}

/** To the process that started this one. */
export interface Channel {
  /** The first message that comes. */
  received(): Promise<unknown>
  /** Lost where the other process is gone. */
  send(message: object): void
  /** Calls back once, when the other process is gone. */
  onClosed(listener: () => void): void
}

export interface Io {
  readonly env: NodeJS.ProcessEnv
  /** Where a relative path begins; null: in the directory in which the process is. */
  readonly cwd: string | null
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly signals: Signals
  /** null: whoever started the process opened none. */
  readonly channel: Channel | null
  /** Of the whole process, from now on. */
  keepHeapSmall(): void
  /** Ends the run at once, whatever is still going on in it. */
  exit(code: number): never
}
