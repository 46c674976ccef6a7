// Completion for shells, made from the commands and options themselves. A script says at which command the cursor is, and
// offers what may come there; where nothing fits, the shell offers files.

import type { Command } from 'commander'
import { OPTION_VALUES } from '../present/option-values.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface OptionWords {
  /** `-o` and `--out`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  readonly values: readonly string[]
}

/** One command: where it is, and what may come behind it. */
interface Place {
  /** `/in-doubt/list`; empty for the program. */
  readonly at: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly OptionWords[]
  /** What its argument may be; empty: anything. */
  readonly values: readonly string[]
}

export function completionFor(shell: Shell, program: Command): string {
  const places = placesOf(program, '')
  switch (shell) {
    case 'bash':
      return bash(places)
    case 'zsh':
      return zsh(places)
    case 'fish':
      return fish(places)
  }
}

function placesOf(command: Command, at: string): Place[] {
  const shown = command.createHelp()
  const commands = shown.visibleCommands(command)
  const options = shown.visibleOptions(command).map((option) => ({
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? OPTION_VALUES[option.flags] ?? [],
  }))
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const here = {
    at,
    commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
    options,
    values,
  }
  return [here, ...commands.flatMap((one) => placesOf(one, `${at}/${one.name()}`))]
}

/** The words behind which a shell is at another command. */
function stepsOf(places: readonly Place[]): string[] {
  return places.flatMap(({ at }) => (at === '' ? [] : [at]))
}

const flagsOf = ({ options }: Place) => options.flatMap(({ flags }) => flags)
const wordsOf = ({ commands, values }: Place) => [...commands.map(({ name }) => name), ...values]
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const indented = (lines: readonly string[], by: number) => lines.map((line) => ' '.repeat(by) + line)

function bash(places: readonly Place[]): string {
  const valued = places.flatMap(({ at, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, values }) => `${flags.map((flag) => quoted(`${at} ${flag}`)).join('|')}) ${offer(values)} ;;`),
  )
  return [
    '# Completion of tranche for bash: source <(tranche completion bash)',
    '_tranche() {',
    `  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at= i`,
    '  COMPREPLY=()',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    `    case "$at/\${COMP_WORDS[i]}" in`,
    `      ${stepsOf(places).join('|')}) at="$at/\${COMP_WORDS[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$at $before" in',
    ...indented(valued, 4),
    '  esac',
    '  case "$at $word" in',
    ...indented(
      places.flatMap((place) => [
        `${quoted(place.at)}' -'*) ${offer(flagsOf(place))} ;;`,
        `${quoted(place.at)}' '*) ${offer(wordsOf(place))} ;;`,
      ]),
      4,
    ),
    '  esac',
    '}',
    'complete -o default -F _tranche tranche',
    '',
  ].join('\n')
}

/** No word leaves it to `-o default`: files. */
function offer(words: readonly string[]): string {
  return words.length === 0 ? 'return' : `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$word")); return`
}

function zsh(places: readonly Place[]): string {
  const described = (name: string, description: string) => quoted(`${name.replaceAll(':', '\\:')}:${description}`)
  return [
    '#compdef tranche',
    '# Completion of tranche for zsh: put it as _tranche into a folder of $fpath, or source <(tranche completion zsh)',
    '_tranche() {',
    '  local at= i',
    '  local -a commands options valued',
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    case "$at/$words[i]" in',
    `      (${stepsOf(places).join('|')}) at="$at/$words[i]" ;;`,
    '    esac',
    '  done',
    '  case "$at" in',
    ...indented(
      places.flatMap(({ at, commands, options, values }) => [
        `(${quoted(at)})`,
        ...indented(
          [
            `commands=(${[...commands.map((one) => described(one.name, one.description)), ...values.map(quoted)].join(' ')})`,
            `options=(${options.flatMap(({ flags, description }) => flags.map((flag) => described(flag, description))).join(' ')})`,
            `valued=(${options.flatMap(({ flags, takesValue }) => (takesValue ? flags.map(quoted) : [])).join(' ')})`,
            ';;',
          ],
          2,
        ),
      ]),
      4,
    ),
    '  esac',
    '  case "$at $words[CURRENT-1]" in',
    ...indented(
      places.flatMap(({ at, options }) =>
        options
          .filter(({ values }) => values.length > 0)
          .map(
            ({ flags, values }) =>
              `(${flags.map((flag) => quoted(`${at} ${flag}`)).join('|')}) compadd -- ${values.map(quoted).join(' ')}; return ;;`,
          ),
      ),
      4,
    ),
    '  esac',
    '  if (( $valued[(Ie)$words[CURRENT-1]] )); then _files',
    '  elif [[ $words[CURRENT] == -* ]]; then _describe option options',
    '  elif (( $#commands )); then _describe command commands',
    '  else _files',
    '  fi',
    '}',
    'if [[ $funcstack[1] == _tranche ]]; then _tranche "$@"; else compdef _tranche tranche; fi',
    '',
  ].join('\n')
}

function fish(places: readonly Place[]): string {
  const quotedForFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return [
    '# Completion of tranche for fish: tranche completion fish > ~/.config/fish/completions/tranche.fish',
    'function __tranche_at',
    "    set -l at ''",
    '    for word in (commandline -opc)[2..-1]',
    '        switch "$at/$word"',
    `            case ${stepsOf(places).map(quotedForFish).join(' ')}`,
    '                set at "$at/$word"',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    ...places.flatMap(({ at, commands, options, values }) => {
      const front = `complete -c tranche -n ${quotedForFish(`__tranche_at '${at}'`)}`
      return [
        ...commands.map(({ name, description }) => `${front} -f -a ${name} -d ${quotedForFish(description)}`),
        ...(values.length === 0 ? [] : [`${front} -f -a ${quotedForFish(values.join(' '))}`]),
        ...options.map(({ flags, description, takesValue, values: choices }) => {
          const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
          const value = choices.length > 0 ? [`-x -a ${quotedForFish(choices.join(' '))}`] : takesValue ? ['-r'] : []
          return [front, ...names, ...value, `-d ${quotedForFish(description)}`].join(' ')
        }),
      ]
    }),
    '',
  ].join('\n')
}
