// How a file was read, and the form that has it read in another way. Nothing is recorded by it.

import type { FastifyRequest } from 'fastify'
import type { CheckFound, FoundReading } from '../../app/check-found.ts'
import type { Check } from '../../app/checks.ts'
import { fieldsOfFile } from '../../app/fields.ts'
import { type Html, html } from '../../present/html.ts'
import type { FoundRow } from '../check-details.ts'
import { type ConsoleDoor, PageError } from '../door.ts'
import type { Fields } from '../forms.ts'
import { operationFrom, operationIn, operationsOf } from '../operation-field.ts'
import { facts, form, NOTHING, note, table } from '../parts.ts'
import { checkPath } from '../paths.ts'
import { fieldsFrom, type Given, options, readingFields, saidIn } from '../reading-form.ts'
import { typedIn } from '../refused.ts'

const NO_FAULTS: ReadonlyMap<string, string> = new Map()
const NO_FIELD = ''

/** `found` null: no column of it was understood. */
export async function againForm(
  door: ConsoleDoor,
  request: FastifyRequest,
  check: Check,
  found: CheckFound | null,
  samples: readonly FoundRow[],
): Promise<Html> {
  if ((await door.spool.upload(check.file.id)) === null) return NOTHING
  const { operation, vault } = check.given
  const said = vault === undefined ? operation : `VAULT_${String(vault).toUpperCase()}`
  const names = await fieldsOfFile(said === undefined ? undefined : String(said))
  const action = `${checkPath(check.id)}/again`
  const typed = typedIn(request, action)
  const columns = found === null ? NOTHING : columnsOf(found, names, samples, typed)
  const isRefused = typed.operation !== undefined
  const fields = isRefused ? typed : { ...fieldsFrom(check.given), operation: operationFrom(check.given) }
  const settings = html`${operationsOf(fields, NO_FAULTS)}${readingFields(fields, NO_FAULTS, found === null)}`
  const asked = form(request, door, {
    action,
    fields: html`${columns}<details${found === null || isRefused ? html` open` : ''}><summary>More: what the rows ask for, how the file is read, what it must hold, how it is sent</summary>${settings}</details>`,
    button: 'Check it again, read this way',
    kind: 'other',
  })
  const read = found === null ? NOTHING : readAs(found.read)
  const title = found === null ? 'Read it in another way' : 'How it was read'
  return html`<h2 id="read">${title}</h2>${read}${asked}`
}

const DELIMITERS: Readonly<Record<string, string>> = { ',': 'a comma', ';': 'a semicolon', '\t': 'a tab', '|': 'a bar' }
const SIGNS: Readonly<Record<string, string>> = { '.': 'a point', ',': 'a comma' }

function readAs({ encoding, delimiter, decimal, sheet, header_row: line, warnings }: FoundReading): Html {
  const text = (value: string | null) => (value === null ? null : html`${value}`)
  const shown = facts([
    ['Encoding', text(encoding)],
    ['Columns are separated by', text(delimiter === null ? null : (DELIMITERS[delimiter] ?? delimiter))],
    ['Sheet', text(sheet)],
    ['Decimal sign', text(decimal === null ? null : (SIGNS[decimal] ?? decimal))],
    ['Line of the column names', html`${line}`],
  ])
  return html`${shown}${warnings.map((warning) => note('warn', html`<p>${warning}</p>`))}`
}

interface ReadColumn {
  readonly name: string
  /** Empty: it is kept, and not sent. */
  readonly field: string
}

function columnsIn({ columns: { mapped, carried } }: CheckFound): readonly ReadColumn[] {
  const understood = mapped.map(({ written, field }) => ({ name: written, field }))
  return [...understood, ...carried.map((name) => ({ name, field: NO_FIELD }))]
}

function columnsOf(found: CheckFound, names: readonly string[], samples: readonly FoundRow[], typed: Fields): Html {
  const choices = [[NO_FIELD, 'kept, not sent'], ...names.map((name) => [name, name] as const)] as const
  const rows = columnsIn(found).map(({ name, field }, i) => {
    const place = found.details_columns.indexOf(name)
    const values = samples.map(({ cells }) => cells[place] ?? '').filter((value) => value !== '')
    const known = names.includes(field) || field === NO_FIELD ? choices : [...choices, [field, field] as const]
    return [
      html`${name}`,
      html`<select name="column_${i}" aria-label="What “${name}” is">${options(known, typed[`column_${i}`] ?? field)}</select>`,
      html`${values.join(' · ')}`,
    ]
  })
  const heads = [{ name: 'Column in your file', kind: 'text' }, { name: 'What it is' }] as const
  return table('Columns', [...heads, { name: 'First values', kind: 'text' }], rows)
}

/** What the form says, over how the file was read before. */
export function readOtherwise(check: Check, found: CheckFound | null, fields: Fields): Given {
  const { given, faults } = saidIn(fields)
  const operation = operationIn(fields.operation ?? '')
  const fault = operation === null ? 'Select what the rows ask for' : [...faults.values()].at(0)
  if (fault !== undefined) throw new PageError(422, `${fault}. Nothing was changed: correct it, and check again.`)
  const before = (check.given.map ?? []) as readonly string[]
  const map = found === null ? {} : { map: mapOf(columnsIn(found), fields, before) }
  return { ...given, ...operation, ...map, merchant: check.merchant }
}

/** What a person says of a column holds until they say otherwise; of what the names say, only what is changed. */
function mapOf(columns: readonly ReadColumn[], fields: Fields, before: readonly string[]): readonly string[] {
  const changed = columns.flatMap(({ name, field }, i) => {
    const wanted = fields[`column_${i}`]
    return wanted === undefined || wanted === field ? [] : [{ name, said: `${name}=${wanted || 'ignore'}` }]
  })
  const isChanged = (said: string) => changed.some(({ name }) => said.startsWith(`${name}=`))
  return [...before.filter((said) => !isChanged(said)), ...changed.map(({ said }) => said)]
}
