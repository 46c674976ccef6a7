// What a line becomes on a screen: moments with local time beside, wrapped at words, statuses in colour. Nothing of it in a pipe.

export interface Screen {
  /** null: not known; nothing is wrapped. */
  readonly columns: number | null
  readonly coloured: boolean
  /** The time of day where the person is; null: UTC alone is told. */
  readonly localTime: ((atMs: number) => string) | null
}

/** The lines that a line becomes. It must hold no control characters. */
export function toScreen(line: string, screen: Screen): string[] {
  const lines = wrap(withLocalTimes(line, screen.localTime), screen.columns)
  return screen.coloured ? lines.map(inColour) : lines
}

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

function withLocalTimes(line: string, localTime: Screen['localTime']): string {
  if (localTime === null) return line
  return line.replace(MOMENT, (moment) => `${moment} (${localTime(Date.parse(moment))} here)`)
}

const NARROWEST = 20

/**
 * At blanks only: a word that is wider than the screen stays whole, and an option can be copied. Lines go on where the first begins. A
 * command on a line of its own is broken so that all of it can be pasted.
 */
export function wrap(line: string, columns: number | null): string[] {
  if (columns === null || line.length <= columns) return [line]
  if (line.startsWith(COMMAND)) return wrapCommand(line, columns)
  const indent = /^ */.exec(line)?.[0] ?? ''
  const width = Math.max(NARROWEST, columns)
  const lines: string[] = []
  let current = indent
  for (const [, blanks = '', word = ''] of line.slice(indent.length).matchAll(/( *)([^ ]+)/g)) {
    const isFirst = current.length === indent.length
    if (!isFirst && current.length + blanks.length + word.length > width) {
      lines.push(current)
      current = indent + word
    } else current += isFirst ? word : blanks + word
  }
  return [...lines, current]
}

const COMMAND = '  $ '

/** Before an option, with the backslash that lets a shell read on. */
function wrapCommand(line: string, columns: number): string[] {
  const lines: string[] = []
  for (const part of line.split(/ (?=--)/)) {
    const joined = `${lines.at(-1) ?? ''} ${part}`
    if (lines.length > 0 && joined.length <= columns - 2) lines[lines.length - 1] = joined
    else lines.push(lines.length === 0 ? part : `      ${part}`)
  }
  return lines.map((part, i) => (i < lines.length - 1 ? `${part} \\` : part))
}

const RED = 31
const GREEN = 32
const YELLOW = 33

/** The words say it alone; the colour is for the eye that looks for it. A count of none is none. */
const COLOURS: readonly (readonly [pattern: RegExp, colour: number])[] = [
  [
    /\b(?:IN[ _]DOUBT|FAILED)\b|(?<![\d.,])[1-9]\d* (?:in doubt|failed)\b|(?<=: )stopped\b|\b(?:rows? (?:is|are) not sent)\b/g,
    RED,
  ],
  [/\b(?:DECLINED|PENDING)\b|(?<![\d.,])[1-9]\d* (?:declined|decl\.|pending)(?=\W|$)/g, YELLOW],
  [/\bAPPROVED\b|(?<![\d.,])[1-9]\d* (?:approved|ok)\b/g, GREEN],
]

export function inColour(line: string): string {
  return COLOURS.reduce(
    (text, [pattern, colour]) => text.replace(pattern, (found) => `\u001b[${colour}m${found}\u001b[39m`),
    line,
  )
}
