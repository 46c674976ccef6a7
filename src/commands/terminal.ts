// What goes to a person and what goes to a program: data on stdout, messages and progress on stderr.

import { styleText } from 'node:util'
import type { Total } from '../domain/batch.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import { type Currency, formatAmount } from '../domain/money.ts'
import { visible, visibleJson } from '../domain/visible.ts'

/** Whatever is in a line, one line is shown, and nothing of it is obeyed but the colours that are added here. */
export interface Terminal {
  readonly json: boolean
  /** stderr is a screen: it may be redrawn. */
  readonly isScreen: boolean
  /** Whoever read stdout has gone: nobody sees what is shown. */
  readerLeft(): boolean
  /** Resolves when the reader of stdout has caught up; a caller that writes much waits for it now and then. */
  drained(): Promise<void>
  /** A line of data; nothing with `--json`. */
  data(line: string): void
  /** An object for a program, on a line of its own; nothing without `--json`. */
  object(value: object): void
  /** A message for a person, on stderr. */
  say(line: string): void
  /** A line of data whose beginning stands out. */
  title(beginning: string, rest?: string): void
  /** Draws over the last line on a screen; `null` takes it away. */
  redraw(line: string | null): void
}

export function openTerminal(json: boolean, stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Terminal {
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
    data(line) {
      clear()
      if (!json) stdout.write(`${visible(line)}\n`)
    },
    object(value) {
      if (json) stdout.write(`${visibleJson(JSON.stringify(value))}\n`)
    },
    say(line) {
      clear()
      stderr.write(`${visible(line)}\n`)
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

/** Precedence is kept by whoever finds several. */
export const EXIT = {
  approved: 0,
  failure: 1,
  usage: 2,
  notAllApproved: 3,
  inDoubt: 5,
  stopped: 6,
  refused: 7,
  interrupted: 130,
} as const

const EXIT_OF_FAULT = {
  usage: EXIT.usage,
  config: EXIT.usage,
  unavailable: EXIT.usage,
  refused: EXIT.refused,
  stopped: EXIT.stopped,
  full: EXIT.failure,
  storage: EXIT.failure,
  interrupted: EXIT.interrupted,
} as const satisfies Record<FaultCode, number>

export function exitCodeOfError(error: unknown): number {
  return error instanceof Fault ? EXIT_OF_FAULT[error.code] : EXIT.failure
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export function amountText(amountMinor: bigint, currency: Currency | ''): string {
  return currency === '' ? '' : formatAmount({ amountMinor, currency })
}

/** Totals as the contract writes them: amounts are strings. */
export function toJsonTotals(totals: readonly Total[]): object[] {
  return totals.map(({ operation, currency, count, amountMinor }) => ({
    operation,
    currency,
    count,
    amount: amountText(amountMinor, currency),
  }))
}

/** Columns of text, each as wide as its widest cell; `right` names the columns that are numbers. */
export function toTable(table: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const rows = table.map((row) => row.map(visible))
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number)))
      .join('  ')
      .trimEnd(),
  )
}
