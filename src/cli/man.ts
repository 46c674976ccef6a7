// The man page, made from the help of the commands: nothing in it can be another thing than what they say.

import type { Command, Option } from 'commander'

/** In the language of man pages (roff). `version`: of the package. */
export function manPage(program: Command, version: string): string {
  const shown = program.createHelp()
  const commands = shown.visibleCommands(program).filter((command) => command.name() !== 'help')
  const { before, parts } = partsOf(afterHelp(program))
  return [
    '.\\" Made by npm run man from the commands\' own help. Do not edit.',
    `.TH TRANCHE 1 "" "tranche ${escaped(version)}" "User commands"`,
    '.SH NAME',
    `tranche \\- ${escaped(plainEnd(lower(program.description())))}`,
    '.SH SYNOPSIS',
    '.B tranche',
    '[options] command',
    '.SH DESCRIPTION',
    ...paragraphs(before),
    '.SH OPTIONS',
    ...shown.visibleOptions(program).flatMap(optionLines),
    '.SH COMMANDS',
    ...commands.flatMap((command) => commandLines(command, 'tranche')),
    ...parts.flatMap(({ heading, lines }) => [`.SH ${heading.toUpperCase()}`, ...asTyped(lines)]),
    '.SH SEE ALSO',
    escaped('In the package: docs/OPERATING.md, docs/INPUT.md, docs/RESULTS.md, docs/CONFIGURATION.md.'),
    '',
  ].join('\n')
}

function commandLines(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`
  const shown = command.createHelp()
  const within = shown.visibleCommands(command).filter((one) => one.name() !== 'help')
  if (within.length > 0) return within.flatMap((one) => commandLines(one, name))
  const named = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))
  const options = shown.visibleOptions(command).filter(({ long }) => !COMMON.includes(long ?? ''))
  const { before, parts } = partsOf(afterHelp(command))
  return [
    `.SS ${escaped([name, ...named].join(' '))}`,
    escaped(sentence(command.description())),
    ...options.flatMap(optionLines),
    ...paragraphs(before),
    ...parts.flatMap(({ heading, lines }) => ['.PP', `${escaped(heading)}:`, ...asTyped(lines)]),
  ]
}

/** Told once, for all commands. */
const COMMON = ['--json', '--as', '--help']

function optionLines({ flags, description, argChoices }: Option): string[] {
  const choices = argChoices === undefined ? '' : ` (${argChoices.map((choice) => `"${choice}"`).join(', ')})`
  return ['.TP', `.B ${escaped(flags)}`, escaped(sentence(description) + choices)]
}

/** What help shows below the options. */
function afterHelp(command: Command): string {
  let text = ''
  const writeOut = (part: string) => {
    text += part
  }
  command.configureOutput({ writeOut, getOutHelpWidth: () => WIDE })
  const own = command.createHelp()
  own.helpWidth = WIDE
  command.outputHelp()
  return text.slice(own.formatHelp(command, own).length)
}

/** So that nothing is broken: whoever reads the page breaks it. */
const WIDE = 10_000

interface Part {
  readonly heading: string
  readonly lines: readonly string[]
}

/** Paragraphs, then parts with a heading and lines that are indented. */
function partsOf(text: string): { readonly before: readonly string[]; readonly parts: readonly Part[] } {
  const lines = text.split('\n')
  const parts: { heading: string; lines: string[] }[] = []
  const before: string[] = []
  for (const line of lines) {
    const heading = /^([A-Z][A-Za-z ]*):$/.exec(line)?.[1]
    if (heading !== undefined) parts.push({ heading, lines: [] })
    else if (line.startsWith('  ')) parts.at(-1)?.lines.push(line.slice(2))
    else if (line.trim() !== '') before.push(line)
  }
  return { before, parts }
}

function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text) => ['.PP', escaped(text)])
}

function asTyped(lines: readonly string[]): string[] {
  return ['.RS 2', '.nf', ...lines.map(escaped), '.fi', '.RE']
}

/** As help has it, without a capital and a full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
const plainEnd = (text: string) => text.replace(/\.$/, '')

/** No sign of it means anything to roff, whatever its encoding. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('"', '\\(dq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(
      /[^\n -~]/gu,
      (sign) => `\\[u${(sign.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./gm, '\\&.')
}
