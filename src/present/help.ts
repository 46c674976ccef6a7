// How help fits the screen.

import { wrap } from './screen.ts'

/** What help is where it is shown in so many columns. */
export function fitHelp(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrap(line, columns))
    .join('\n')
}
