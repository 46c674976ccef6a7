// What a person says of a file: how it is read, what it must hold and how it is sent. The fields of a form, and what they say.

import { isTimeZone } from '../domain/instant.ts'
import { formatAmount, parseCurrency } from '../domain/money.ts'
import { parseNamedTotal } from '../domain/written-amount.ts'
import { type Html, html } from '../present/html.ts'
import type { Fields } from './forms.ts'

/** As the options of the command line. */
export type Given = Readonly<Record<string, unknown>>

interface Setting {
  readonly name: string
  /** As the option of the command line is called. */
  readonly option: string
  readonly label: string
  readonly hint: string
  /** `lines`: several, one in a line. */
  readonly kind: 'line' | 'lines' | 'tick' | readonly (readonly [value: string, label: string])[]
  /** What is wrong with one; null: it may be. */
  readonly problem: (text: string) => string | null
  /** As the option has it, where it is written otherwise. */
  readonly written?: (text: string) => string
  /** What a browser would propose is nobody's business. */
  readonly most?: number
}

const MAP = 'map'
const MAPPING = /^(.+?)\s*=\s*([\w-]{1,60})$/
const ANYTHING = () => null
const whole = (least: number, most: number, what: string) => (text: string) =>
  /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? null : what
const RETRIES = ['cancelled', 'failed', 'cancelled,failed']

const READ: readonly Setting[] = [
  {
    ...{ name: 'currency', option: 'currency', label: 'Currency', kind: 'line' },
    hint: 'Of rows that name none, such as EUR',
    problem: (text) => (parseCurrency(text) === undefined ? 'Currency must be an ISO code, such as EUR' : null),
  },
  {
    ...{ name: 'decimal', option: 'decimal', label: 'Decimal sign', hint: '' },
    kind: [
      ['', 'as the amounts of the file show it'],
      ['.', 'a point: 12.50'],
      [',', 'a comma: 12,50'],
    ],
    problem: (text) => (text === '.' || text === ',' ? null : 'Decimal sign must be a point or a comma'),
  },
  {
    ...{ name: 'timezone', option: 'timezone', label: 'Time zone', kind: 'line' },
    hint: 'Of moments without an offset, such as Europe/Berlin',
    problem: (text) => (isTimeZone(text) ? null : 'Time zone must be one of the IANA list, such as Europe/Berlin'),
  },
  {
    ...{ name: 'sheet', option: 'sheet', label: 'Sheet', kind: 'line', problem: ANYTHING },
    hint: 'Of a workbook with several',
  },
  {
    ...{ name: 'allow_hidden', option: 'allowHidden', label: 'Hidden rows that are meant', kind: 'line' },
    hint: 'How many, where a filter hides rows of a workbook',
    problem: whole(1, 999_999_999, 'Hidden rows that are meant must be a number, 1 or more'),
  },
  {
    ...{ name: 'header_row', option: 'headerRow', label: 'Line of the column names', kind: 'line' },
    hint: 'Where it is not the first',
    problem: whole(1, 1_000_000, 'Line of the column names must be a number, 1 or more'),
  },
  {
    ...{ name: 'format', option: 'format', label: 'Saved format', kind: 'line' },
    hint: 'By its name',
    problem: (text) => (/^\w[\w.-]{0,62}$/.test(text) ? null : 'Saved format must be the name of one'),
  },
  {
    ...{ name: MAP, option: 'map', label: 'Columns', kind: 'lines' },
    hint: 'Where their names do not say it, one in a line: Betrag = amount, or = ignore',
    problem: (text) => (MAPPING.test(text) ? null : 'Columns must be a column and a field, such as Betrag = amount'),
    written: (text) => text.replace(MAPPING, '$1=$2'),
  },
  {
    ...{ name: 'sign', option: 'sign', label: 'Amounts have a minus', kind: 'tick', hint: 'It is taken off' },
    problem: ANYTHING,
    written: () => 'minus',
  },
  {
    ...{ name: 'scale', option: 'scale', label: 'Amounts are in cents', kind: 'tick' },
    hint: 'Or in the smallest unit of their currency',
    problem: ANYTHING,
    written: () => 'minor',
  },
  {
    ...{ name: 'not_a_card', option: 'notACard', label: 'Columns with numbers that are no card numbers' },
    ...{ hint: 'One in a line, as the file names it. That you said so is kept.', kind: 'lines', problem: ANYTHING },
  },
]

const HOLDS: readonly Setting[] = [
  {
    ...{ name: 'rows', option: 'expectCount', label: 'Rows', hint: 'How many the file must have', kind: 'line' },
    problem: whole(0, 999_999_999, 'Rows must be a number, such as 4000'),
  },
  {
    ...{ name: 'totals', option: 'expectTotal', label: 'Totals', kind: 'lines' },
    hint: 'What it must add up to, one currency in a line: EUR 41280.55',
    problem: (text) =>
      totalOf(text) === null ? 'Totals must be a currency and an amount, such as EUR 41280.55' : null,
    written: (text) => totalOf(text) ?? '',
  },
]

const SENT: readonly Setting[] = [
  {
    ...{ name: 'run_key', option: 'runKey', label: 'Run key', kind: 'line', problem: ANYTHING, most: 100 },
    hint: 'Put before every reference, so that one list serves every month, such as 2026-11',
  },
  {
    ...{ name: 'canary', option: 'canary', label: 'Stop after the first rows', kind: 'line' },
    hint: 'So many are sent, and then it waits until a person has looked',
    problem: whole(1, 999_999_999, 'Stop after the first rows must be a number, 1 or more'),
  },
  {
    ...{
      name: 'max_declined',
      option: 'maxDeclined',
      label: 'Pause when more are declined, in per cent',
      kind: 'line',
    },
    hint: 'Of the last 100 that were answered',
    problem: whole(0, 99, 'Per cent must be a number from 0 to 99'),
  },
  {
    ...{ name: 'retry', option: 'retry', label: 'Rows to send once more', hint: 'Of the results of an earlier batch' },
    kind: [
      ['', 'none'],
      ['cancelled', 'those that were cancelled'],
      ['failed', 'those that failed: not executed'],
      ['cancelled,failed', 'those that were cancelled or failed'],
    ],
    problem: (text) => (RETRIES.includes(text) ? null : 'Rows to send once more must be one of those offered'),
  },
  {
    ...{ name: 'only_new', option: 'onlyNew', label: 'Only rows that no earlier file holds', kind: 'tick' },
    ...{ hint: 'For a file that was sent before and was mended since', problem: ANYTHING },
  },
]

const SETTINGS = [...READ, ...HOLDS, ...SENT]
const LONGEST = 200
const MOST_LINES = 50

function totalOf(text: string): string | null {
  const money = parseNamedTotal(text)
  return money === null ? null : `${money.currency}=${formatAmount(money)}`
}

export interface SaidOfFile {
  readonly given: Given
  /** What is wrong, by the name of the field. */
  readonly faults: ReadonlyMap<string, string>
}

/** What is left empty was not said. */
export function saidIn(fields: Fields): SaidOfFile {
  const faults = new Map<string, string>()
  const given: Record<string, unknown> = {}
  for (const { name, option, label, kind, problem, written = (text: string) => text, most = LONGEST } of SETTINGS) {
    const lines = (fields[name] ?? '').split(kind === 'lines' ? /\r?\n/ : /(?!)/).map((line) => line.trim())
    const said = lines.filter((line) => line !== '')
    if (said.length === 0) continue
    const isLong = said.length > MOST_LINES || said.some((line) => line.length > most)
    const wrong = isLong ? `${label} is too long` : (said.map(problem).find((why) => why !== null) ?? null)
    if (wrong !== null) faults.set(name, wrong)
    const texts = said.map(written)
    if (kind === 'lines') given[option] = texts
    else given[option] = kind === 'tick' && name === 'only_new' ? true : texts[0]
  }
  return { given, faults }
}

/** As fields have it: to be shown again. */
export function fieldsFrom(given: Given): Fields {
  return Object.fromEntries(
    SETTINGS.flatMap(({ name, option, kind }) => {
      const said = given[option]
      if (said === undefined || said === false) return []
      if (Array.isArray(said)) return [[name, said.join('\n')]]
      return [[name, kind === 'tick' ? 'on' : String(said)]]
    }),
  )
}

/** `withColumns`: false where the columns are asked for one by one. */
export function readingFields(fields: Fields, faults: ReadonlyMap<string, string>, withColumns = true): Html {
  const read = READ.filter(({ name }) => withColumns || name !== MAP)
  return html`${group('How it is read', read, fields, faults)}${group('What it must hold', HOLDS, fields, faults)}${group('How it is sent', SENT, fields, faults)}`
}

function group(
  legend: string,
  settings: readonly Setting[],
  fields: Fields,
  faults: ReadonlyMap<string, string>,
): Html {
  return html`<fieldset><legend>${legend} (optional)</legend>${settings.map((one) => fieldOf(one, fields[one.name] ?? '', faults.get(one.name)))}</fieldset>`
}

function fieldOf({ name, label, hint, kind, most = LONGEST }: Setting, value: string, fault: string | undefined): Html {
  const wrong = faultText(name, fault)
  const told = html`<span class="hint"> ${hint}</span>`
  const invalid = fault === undefined ? html`` : html` aria-invalid="true" aria-describedby="${name}-fault"`
  if (kind === 'tick')
    return html`<div class="field"><label><input type="checkbox" name="${name}" id="${name}"${value === '' ? html`` : html` checked`}${invalid}> ${label}${told}</label>${wrong}</div>`
  if (kind === 'lines')
    return html`<div class="field"><label>${label}${told}<textarea name="${name}" id="${name}" rows="2"${invalid}>${value}</textarea></label>${wrong}</div>`
  if (kind === 'line')
    return html`<div class="field"><label>${label}${told}<input name="${name}" id="${name}" value="${value}" maxlength="${most}" autocomplete="off"${invalid}></label>${wrong}</div>`
  return html`<div class="field"><label>${label}${told}<select name="${name}" id="${name}"${invalid}>${options(kind, value)}</select></label>${wrong}</div>`
}

export function options(choices: readonly (readonly [value: string, label: string])[], chosen: string): Html {
  return html`${choices.map(([value, label]) => html`<option value="${value}"${value === chosen ? html` selected` : html``}>${label}</option>`)}`
}

export function faultText(name: string, fault: string | undefined): Html {
  return fault === undefined ? html`` : html`<p class="wrong" id="${name}-fault">${fault}</p>`
}

/** What is wrong, first on the page, each with a link to its field. */
export function faultSummary(faults: ReadonlyMap<string, string>, means: string): Html {
  if (faults.size === 0) return html``
  const links = [...faults].map(([name, fault]) => html`<li><a href="#${name}">${fault}</a></li>`)
  return html`<div class="note refused" role="alert"><h2>There is a problem</h2><ul>${links}</ul><p>${means}</p></div>`
}
