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

/** At blanks only: a word that is wider than the screen stays whole, and an option can be copied. Lines go on where the first begins. */
export function wrap(line: string, columns: number | null): string[] {
  if (columns === null || line.length <= columns) return [line]
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
