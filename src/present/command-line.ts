// A command for a person to paste: the options as they were given, each word as a shell takes it. And how the command line
// spells the ways that other words name.

import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { type Act, type SettingName, settingValue, spell, type Way } from '../domain/words.ts'

type Text = string | undefined
type Texts = readonly string[] | undefined

/** As given on the command line; undefined: left out. */
interface Given {
  readonly operation?: Text
  readonly vault?: Text
  readonly currency?: Text
  readonly decimal?: Text
  readonly sign?: Text
  readonly scale?: Text
  readonly headerRow?: Text
  readonly timezone?: Text
  readonly map?: Texts
  readonly notACard?: Texts
  readonly format?: Text
  readonly sheet?: Text
  readonly runKey?: Text
  readonly merchant?: Text
  readonly retry?: Text
  readonly category?: Text
  readonly expectCount?: Text
  readonly expectTotal?: Texts
  readonly allowHidden?: Text
  readonly allowLookalikes?: Text
  readonly allowExecuteAt?: Text
  readonly expiresAfter?: Text
  readonly allowAboveLimit?: Text
  readonly lookalikeDays?: Text
  readonly skipInvalid?: boolean | undefined
  readonly onlyNew?: boolean | undefined
}

/** How the file is read; a saved format can keep it. */
export function readingWords(given: Given): string[] {
  return words([
    ['--operation', given.operation],
    ['--vault', given.vault],
    ['--currency', given.currency],
    ['--decimal', given.decimal],
    ['--sign', given.sign],
    ['--scale', given.scale],
    ['--header-row', given.headerRow],
    ['--timezone', given.timezone],
    ...(given.map ?? []).map((said): [string, string] => ['--map', said]),
    ...(given.notACard ?? []).map((said): [string, string] => ['--not-a-card', said]),
  ])
}

/** Which file it is, what is expected of it and how it is to be run. */
export function askingWords(given: Given): string[] {
  return [
    ...words([
      ['--format', given.format],
      ['--sheet', given.sheet],
      ['--run-key', given.runKey],
      ['--merchant', given.merchant],
      ['--retry', given.retry],
      ['--category', given.category],
      ['--expect-count', given.expectCount],
      ...(given.expectTotal ?? []).map((said): [string, string] => ['--expect-total', said]),
      ['--allow-hidden', given.allowHidden],
      ['--allow-lookalikes', given.allowLookalikes],
      ['--allow-execute-at', given.allowExecuteAt],
      ['--allow-above-limit', given.allowAboveLimit],
      ['--lookalike-days', given.lookalikeDays],
      ['--expires-after', given.expiresAfter],
    ]),
    ...(given.skipInvalid === true ? ['--skip-invalid'] : []),
    ...(given.onlyNew === true ? ['--only-new'] : []),
  ]
}

function words(options: readonly (readonly [string, string | undefined])[]): string[] {
  return options.flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
}

/** Options with their values, as a person would paste them. */
export function optionText(options: readonly (readonly [string, string | undefined])[]): string {
  return words(options).map(quoted).join(' ')
}

export function commandText(...said: readonly string[]): string {
  return ['tranche', ...said].map(quoted).join(' ')
}

/** As a shell takes it for one word. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** A way as the command line has it. */
export function commandLine(way: Way): string {
  if ('atTerminal' in way) return spell(way.atTerminal, commandLine)
  if ('act' in way) return way.act === 'run-again' ? `run the same ${way.what} again` : `tranche ${actText(way)}`
  const value = settingValue(way)
  return value === null ? `--${way.set}` : `--${way.set} ${valueText(way.set, value)}`
}

function actText(act: Exclude<Act, { readonly act: 'run-again' }>): string {
  switch (act.act) {
    case 'adopt':
      return `adopt --${act.as === 'server-is-lost' ? 'restored --server-is-lost' : act.as} --reason TEXT`
    case 'adopt-policy':
      return 'policy adopt --reason TEXT'
    case 'adopt-environment':
      return `adopt --environment ${act.merchant} --reason TEXT`
    case 'adopt-merchant':
      return `adopt --merchant ${act.merchant} --reason TEXT`
    case 'approve-batch':
      return `approve ${act.batchId}`
    case 'cancel-batch':
      return `cancel ${act.batchId} --reason TEXT`
    case 'diagnose':
      return act.look === 'usual' ? 'doctor' : `doctor --${act.look}`
    case 'enable-endpoint':
      return `webhooks enable ${act.endpoint}`
    case 'init':
      return act.beside === true ? 'init --yes' : 'init'
    case 'list-doubts':
      return act.toFile ? 'in-doubt list --out FILE' : 'in-doubt list'
    case 'migrate':
      return 'migrate --to URL'
    case 'resume-batch':
      return `resume ${act.batchId} --reason TEXT`
    case 'resume-merchant':
      return `resume --merchant ${act.merchant} --reason TEXT`
    case 'run-file':
      return 'run FILE'
    case 'save-format':
      return `check FILE … --save-format ${act.name}`
    case 'show-batch':
      return `status ${act.batchId}`
    case 'show-history':
      return `history ${act.reference}`
    case 'start-worker':
      return act.untilIdle ? 'worker --until-idle' : 'worker'
    case 'trust-clock':
      return `resume --merchant ${act.merchant} --clock-is-right --reason TEXT`
    case 'use-vault':
      return `vault ${act.to} FILE`
    case 'verify-audit':
      return 'audit verify'
    case 'write-results':
      return `results ${act.batchId ?? 'BATCH'} --out ${act.as === 'csv' ? 'NAME.csv' : 'FILE'}`
  }
}

/** A file names its columns as it likes, so that nothing in a name may mean something to the shell it is pasted into. */
function valueText(set: SettingName, value: string): string {
  if (set !== 'not-a-card' && /^[\w.,/-]+$/.test(value)) return value
  return /["$`\\!]/.test(value) ? quoted(value) : `"${value}"`
}

/** What an error says, as the command line shows it. */
export function errorText(error: unknown): string {
  return error instanceof Fault ? error.linesIn(commandLine).join('\n') : messageOf(error)
}
