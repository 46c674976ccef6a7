// How pages spell what a person can do next: a link where a page does it; else whoever runs the server is asked, with the command.

import { partsOf, type Setting, type SettingName, settingValue, spell, type Text, type Way } from '../domain/words.ts'
import { askedFor, asking } from '../present/asking.ts'
import { commandLine } from '../present/command-line.ts'
import { type Html, html } from '../present/html.ts'
import { operationName } from './operation-field.ts'
import { moment } from './parts.ts'
import { batchPath, merchantPath } from './paths.ts'

/** For a sentence that stands in text. */
export function pageWays(way: Way): string | null {
  return pageOf(way)?.name ?? mapped(spokenOf(way), (text) => spell(text, commandLine))
}

/** The same sentence with its links. */
export function linked(text: Text): Html {
  return html`${partsOf(text).map((part) => (typeof part === 'string' ? withMoments(part) : linkOf(part)))}`
}

const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/

/** As a terminal says them, and as pages show them. */
function withMoments(text: string): Html {
  return html`${text.split(MOMENT).map((part, i) => (i % 2 === 1 ? moment(Date.parse(part)) : html`${part}`))}`
}

function linkOf(way: Way): Html {
  const page = pageOf(way)
  const shown = page === null ? mapped(spokenOf(way), withCommands) : html`<a href="${page.href}">${page.name}</a>`
  return shown === null ? html`` : html`${'lead' in way ? way.lead : ''}${shown}`
}

/** What stands for a way that has no page: words in which whatever is a way is a command. null: it is left out. */
function spokenOf(way: Way): Text | null {
  if ('atTerminal' in way) return asking(way.atTerminal)
  const field = fieldOf(way)
  if (field !== null) return field
  if ('set' in way ? way.lead !== undefined : way.act === 'run-again') return null
  return askedFor(way)
}

function withCommands(text: Text): Html {
  return html`${partsOf(text).map((part) => (typeof part === 'string' ? html`${part}` : html`<code>${commandLine(part)}</code>`))}`
}

function mapped<From, To>(value: From | null, map: (value: From) => To): To | null {
  return value === null ? null : map(value)
}

/** What a file is read with, as the fields of its form are called. */
const FIELDS: Partial<Readonly<Record<SettingName, string>>> = {
  'allow-hidden': 'Hidden rows that are meant',
  currency: 'Currency',
  decimal: 'Decimal sign',
  'header-row': 'Line of the column names',
  map: 'Columns',
  merchant: 'Merchant',
  'not-a-card': 'Columns with numbers that are no card numbers',
  'only-new': 'Only rows that no earlier file holds',
  operation: 'What the rows ask for',
  'run-key': 'Run key',
  retry: 'Rows to send once more',
  scale: 'Amounts are in cents',
  sheet: 'Sheet',
  sign: 'Amounts have a minus',
  timezone: 'Time zone',
}

/** null: no form has it. */
function fieldOf(way: Way): string | null {
  const name = 'set' in way ? FIELDS[way.set] : undefined
  if (name === undefined) return null
  const value = settingValue(way as Setting)
  if (value === null) return `“${name}”`
  const shown = 'set' in way && way.set === 'operation' ? operationName(value) : value.replace('=', ' = ')
  return `“${name}: ${shown}”`
}

/** null: no page does it. */
function pageOf(way: Way): { readonly href: string; readonly name: string } | null {
  if (!('act' in way)) return null
  switch (way.act) {
    case 'approve-batch':
    case 'show-batch':
      return { href: batchPath(way.batchId), name: `the page of batch ${way.batchId}` }
    case 'resume-batch':
      return { href: batchPath(way.batchId), name: `resume batch ${way.batchId}` }
    case 'cancel-batch':
      return { href: batchPath(way.batchId), name: `cancel batch ${way.batchId}` }
    case 'list-doubts':
      return { href: '/doubts', name: 'Doubts' }
    case 'resume-merchant':
      return { href: merchantPath(way.merchant), name: `resume merchant ${way.merchant}` }
    case 'run-again':
      return way.lead === undefined ? { href: '/new', name: 'hand the same file in again' } : null
    case 'show-history':
      return { href: `/find?q=${encodeURIComponent(way.reference)}`, name: `the history of ${way.reference}` }
    case 'write-results':
      return way.batchId === null ? null : { href: batchPath(way.batchId), name: `results of batch ${way.batchId}` }
    default:
      return null
  }
}
