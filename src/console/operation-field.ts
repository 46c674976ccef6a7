// What the rows of a file ask for, as a field of a form.

import { parseOperation } from '../domain/instruction.ts'
import { type Html, html } from '../present/html.ts'
import type { Fields } from './forms.ts'
import { faultText, type Given } from './reading-form.ts'

const OPERATIONS = [
  ['', 'Each row says it', 'In a column transaction_type'],
  ['REFUND', 'Refunds', 'Money goes back to customers'],
  ['CAPTURE', 'Sales', 'Stored cards are charged'],
  ['AUTH', 'Authorizations', 'Money is reserved'],
  ['CAUTH', 'Captures', 'Of authorizations'],
  ['CANCEL', 'Cancellations', 'Of what was not settled'],
  ['delete', 'Deletions from the customer vault', 'Stored customers and cards'],
] as const

/** null: it is none of those that are offered. */
export function operationIn(text: string): Given | null {
  if (text === '') return {}
  if (text === 'delete') return { vault: 'delete' }
  return parseOperation(text) === text ? { operation: text } : null
}

/** As a person is shown it. */
export function operationName(text: string): string {
  return OPERATIONS.find(([value]) => value === text)?.[1] ?? text
}

/** As the field has it. */
export function operationFrom({ operation, vault }: Given): string {
  return String(vault ?? operation ?? '')
}

export function operationsOf({ operation = '' }: Fields, faults: ReadonlyMap<string, string>): Html {
  const choices = OPERATIONS.map(([value, label, hint], i) =>
    choice('operation', i, { value, label, hint, isChosen: value === operation }),
  )
  return html`<fieldset><legend>What the rows ask for</legend>${faultText('operation', faults.get('operation'))}${choices}</fieldset>`
}

export interface Choice {
  readonly value: string
  readonly label: string
  readonly hint: string
  readonly isChosen: boolean
}

/** The first of a field has its name as id. */
export function choice(name: string, nth: number, { value, label, hint, isChosen }: Choice): Html {
  const checked = isChosen ? html` checked` : html``
  const id = nth === 0 ? name : `${name}-${nth}`
  return html`<div class="choice"><label><input type="radio" name="${name}" id="${id}" value="${value}" required${checked}> ${label} <span class="hint">${hint}</span></label></div>`
}
