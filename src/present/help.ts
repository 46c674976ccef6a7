// How help fits the screen.

import { wrap } from './screen.ts'

/** What help is where it is shown in so many columns: paragraphs wrapped at words, commands so that they can be copied. */
export function fitHelp(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith(COMMAND) ? wrapCommand(line, columns) : wrap(line, columns)))
    .join('\n')
}

const COMMAND = '  $ '

/** Before an option, with the backslash that lets a shell read on. */
function wrapCommand(line: string, columns: number): string[] {
  if (line.length <= columns) return [line]
  const lines: string[] = []
  for (const part of line.split(/ (?=--)/)) {
    const joined = `${lines.at(-1) ?? ''} ${part}`
    if (lines.length > 0 && joined.length <= columns - 2) lines[lines.length - 1] = joined
    else lines.push(lines.length === 0 ? part : `      ${part}`)
  }
  return lines.map((part, i) => (i < lines.length - 1 ? `${part} \\` : part))
}
