// What goes to a person and what goes to a program: data on stdout, messages and progress on stderr.

import { styleText } from 'node:util'
import { visible, visibleJson } from '../domain/visible.ts'
import type { Io, Output } from '../ports/io.ts'
import type { Log } from '../ports/log.ts'
import { inColour, type Screen, toScreen } from '../present/screen.ts'

/** Whatever is in a line, one line is shown, and nothing of it is obeyed but the colours that are added here. */
export interface Terminal {
  /** For what is no line and no object. */
  readonly io: Io
  readonly json: boolean
  /** stderr is a screen: it may be redrawn. */
  readonly isScreen: boolean
  /** stderr is a terminal: a person sees what happens, and can end it. */
  readonly isAttended: boolean
  /** How wide the screen is; null: stderr is none. */
  readonly columns: number | null
  /** What data is shown on: stdout. */
  readonly dataScreen: Screen
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
  /** What is no result, fault or doubt, such as how a file was read: on stderr, unless it is to be quiet. */
  note(...lines: readonly string[]): void
  /** A line of data whose beginning stands out. */
  title(beginning: string, rest?: string): void
  /** Draws over the last lines that were drawn on a screen; `null` takes them away. */
  redraw(lines: string | readonly string[] | null): void
}

/** Shows no progress and no notes. */
export function quietly(terminal: Terminal): Terminal {
  return Object.assign(Object.create(terminal) as Terminal, { note() {}, redraw() {} })
}

/** Its stdout is for a file that is written there. */
export function asideOf(terminal: Terminal): Terminal {
  const { say } = terminal
  const title = (beginning: string, rest = '') => say(beginning + rest)
  return Object.assign(Object.create(terminal) as Terminal, { data: say, title })
}

export function createTerminal(json: boolean, io: Io): Terminal {
  const { stdout, stderr, env } = io
  const isScreen = isScreenLike(stderr, env)
  const screenOf = (stream: Output, isForPrograms: boolean) => screenIn(stream, isForPrograms, env)
  let drawn = 0
  function clear(): void {
    if (drawn > 1) stderr.write(`\u001b[${drawn - 1}A`)
    if (drawn > 0) stderr.write(drawn > 1 ? '\r\u001b[J' : '\r\u001b[K')
    drawn = 0
  }
  function write(stream: Output, line: string): void {
    for (const shown of toScreen(visible(line), screenOf(stream, json))) stream.write(`${shown}\n`)
  }
  function say(...lines: readonly string[]): void {
    clear()
    for (const line of lines) write(stderr, line)
  }
  return {
    io,
    json,
    isScreen,
    isAttended: stderr.isTTY === true,
    get columns() {
      return screenOf(stderr, false).columns
    },
    get dataScreen() {
      return screenOf(stdout, json)
    },
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
      if (!json) for (const line of lines) write(stdout, line)
    },
    object(value) {
      if (json) stdout.write(`${visibleJson(JSON.stringify(value))}\n`)
    },
    say,
    note: say,
    title(beginning, rest = '') {
      clear()
      if (json) return
      const title = visible(beginning)
      const plain = { ...screenOf(stdout, json), coloured: false }
      const [first = '', ...others] = toScreen(title + visible(rest), plain)
      const bold = title.slice(0, first.length)
      const shown = inBold(bold, io) + first.slice(bold.length)
      for (const line of [shown, ...others]) stdout.write(`${line}\n`)
    },
    redraw(lines) {
      if (!isScreen) return
      clear()
      if (lines === null) return
      const { columns, coloured } = screenOf(stderr, json)
      // Room for the ^C that a screen shows behind the last line: it must not begin another.
      const width = Math.max(20, (columns ?? 80) - (typeof lines === 'string' ? 1 : 3))
      const all = typeof lines === 'string' ? [lines] : lines.slice(0, Math.max(1, (stderr.rows ?? 24) - 1))
      const shown = all.map((line) => visible(line).slice(0, width)).map((line) => (coloured ? inColour(line) : line))
      stderr.write(shown.join('\n'))
      drawn = all.length
    },
  }
}

/** Of a service whose stderr is no terminal: what is said to a person becomes lines of the log. */
export function loggingTerminal(terminal: Terminal, log: Pick<Log, 'info'>): Terminal {
  const say = (...lines: readonly string[]) => {
    for (const line of lines) if (line !== '') log.info({}, line)
  }
  return Object.assign(Object.create(terminal) as Terminal, { say, note: say })
}

/** Node looks at the stream and at the environment of the process: no stream but one of a terminal may be left to that. */
function inBold(text: string, { stdout, env }: Io): string {
  return stdout.isTTY === true || env.FORCE_COLOR !== undefined ? styleText('bold', text, { stream: stdout }) : text
}

function isScreenLike(stream: Output, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** Asked at each line: a window changes its size. */
function screenIn(stream: Output, json: boolean, env: NodeJS.ProcessEnv): Screen {
  if (stream.isTTY !== true || json) return { columns: null, coloured: false, localTime: null }
  return {
    columns: stream.columns || null, // 0: a terminal that does not know
    coloured: isScreenLike(stream, env) && (env.NO_COLOR ?? '') === '',
    localTime: isInUtc() ? null : localTime,
  }
}

function isInUtc(): boolean {
  return new Date().getTimezoneOffset() === 0
}

/** With its day where that is another one than in UTC. */
function localTime(atMs: number): string {
  const at = new Date(atMs)
  const [day, time] = new Date(atMs - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).split('T')
  return at.toISOString().startsWith(day as string) ? (time as string) : `${day} ${time}`
}
