// What the words of a command line may not hold: card data, and in what is kept in the history line breaks. One look before the
// command begins, for every option and argument there is.

import type { Command } from 'commander'
import { holdsCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import { holdsControls } from '../domain/visible.ts'

/**
 * The digits of the gateway are taken whatever they are, or a row whose transaction looks like a card could not be resolved.
 * The name of a file is often another's, and is masked wherever it is kept or shown.
 */
const NOT_LOOKED_AT = ['--transaction', 'check file', 'run file', 'submit file']
/** They stand in the history beside the machine's own lines. */
const ONE_LINE = ['--reason', '--as', '--run-key']

/** Faults before anything is opened. The value is not repeated: a screen and a log of cron are kept too. */
export function assertFitTexts(called: Command): void {
  for (const { name, text } of textsOf(called)) {
    if (!NOT_LOOKED_AT.includes(name) && holdsCardData(text)) throw cardFault(name)
    if (ONE_LINE.includes(name) && holdsControls(text)) throw controlFault(name)
  }
}

interface Named {
  readonly name: string
  readonly text: string
}

function textsOf(called: Command): readonly Named[] {
  const front = called.parent === null ? [] : textsOf(called.parent)
  const options = called.options.flatMap((option) =>
    named(option.long ?? option.flags, called.getOptionValue(option.attributeName())),
  )
  const words = called.args.flatMap((text, i) =>
    named(`${called.name()} ${called.registeredArguments[i]?.name() ?? 'argument'}`, text),
  )
  return [...front.filter(({ name }) => name.startsWith('--')), ...options, ...words]
}

function named(name: string, value: unknown): readonly Named[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  return texts.flatMap((text) => (typeof text === 'string' ? [{ name, text }] : []))
}

function cardFault(name: string): Fault {
  return new Fault(
    'usage',
    `${name}: it holds a card number or security code, which is never kept. Nothing was changed and nothing was sent. Write it without, and take the line out of the history of your shell.`,
  )
}

function controlFault(name: string): Fault {
  return new Fault(
    'usage',
    `${name}: it holds a line break or control character, and the history keeps it on one line. Nothing was changed and nothing was sent. Write it on one line.`,
  )
}
