// What goes to a person and what goes to a program: data on stdout, messages and progress on stderr.

import { styleText } from 'node:util'
import { visible, visibleJson } from '../domain/visible.ts'

/** Whatever is in a line, one line is shown, and nothing of it is obeyed but the colours that are added here. */
export interface Terminal {
  readonly json: boolean
  /** stderr is a screen: it may be redrawn. */
  readonly isScreen: boolean
  /** The reader of stdout has gone: nothing that is shown is seen. */
  readerLeft(): boolean
  /** Resolves when the reader of stdout has caught up; a caller that writes much waits for it now and then. */
  drained(): Promise<void>
  /** Lines of data; nothing with `--json`. */
  data(...lines: readonly string[]): void
  /** An object for a program, on a line of its own; nothing without `--json`. */
  object(value: object): void
  /** Messages for a person, on stderr. */
  say(...lines: readonly string[]): void
  /** A line of data whose beginning stands out. */
  title(beginning: string, rest?: string): void
  /** Draws over the last line on a screen; `null` takes it away. */
  redraw(line: string | null): void
}

export function createTerminal(json: boolean, stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Terminal {
  const isScreen = stderr.isTTY === true && process.env.TERM !== 'dumb'
  let drawn = false
  function clear(): void {
    if (drawn) stderr.write('\r\u001b[K')
    drawn = false
  }
  return {
    json,
    isScreen,
    readerLeft: () => stdout.destroyed,
    drained: () =>
      stdout.destroyed || !stdout.writableNeedDrain
        ? Promise.resolve()
        : new Promise((resolve) => {
            const done = () => {
              stdout.off('drain', done).off('close', done)
              resolve()
            }
            stdout.on('drain', done).on('close', done)
          }),
    data(...lines) {
      clear()
      if (!json) for (const line of lines) stdout.write(`${visible(line)}\n`)
    },
    object(value) {
      if (json) stdout.write(`${visibleJson(JSON.stringify(value))}\n`)
    },
    say(...lines) {
      clear()
      for (const line of lines) stderr.write(`${visible(line)}\n`)
    },
    title(beginning, rest = '') {
      clear()
      if (!json) stdout.write(`${styleText('bold', visible(beginning), { stream: stdout })}${visible(rest)}\n`)
    },
    redraw(line) {
      if (!isScreen) return
      clear()
      if (line === null) return
      stderr.write(visible(line).slice(0, Math.max(20, (stderr.columns ?? 80) - 1)))
      drawn = true
    },
  }
}
