// The totals that a person types before money moves, from a list of their own.

import type { ApprovalSheet } from '../domain/approval.ts'
import { faultOfTyped, totalHint, totalsToType } from '../present/approval.ts'
import { type Html, html } from '../present/html.ts'
import { PageError } from './door.ts'
import type { Fields } from './forms.ts'

type OfTotals = Pick<ApprovalSheet, 'totals'>

export function totalFields(sheet: OfTotals): Html {
  const fields = totalsToType(sheet).map(
    ({ field, label }) =>
      html`<div class="field"><label>Type ${label}<span class="hint"> ${totalHint(sheet)} </span><input name="${field}" required autocomplete="off" maxlength="200"></label></div>`,
  )
  return html`${fields}`
}

/** `then`: what did not happen, and what to do. */
export function assertTotalsTyped(fields: Fields, sheet: OfTotals, then: string): void {
  for (const asked of totalsToType(sheet)) {
    const fault = faultOfTyped(fields[asked.field] ?? '', asked)
    if (fault !== null) throw new PageError(422, `${fault} ${then}`)
  }
}
