// Messages that were refused, as a line and as an object.

import { isoOf } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import type { KeptRefusal } from '../domain/message.ts'
import { visible } from '../domain/visible.ts'

export function refusalLine(refusal: KeptRefusal): string {
  const { id, batch, reference, at, reasons } = toJsonRefusal(refusal)
  const name = batch === null ? (reference ?? `job ${id}`) : `batch ${batch}`
  return `${at}  ${visible(name)}  ${reasons.length === 0 ? 'its reasons were purged' : reasons.join('; ')}`
}

export function toJsonRefusal({ sourceId, merchant, reasons, text, atMs }: KeptRefusal) {
  const said = fieldsIn(text)
  return {
    id: maskCardData(jobIdIn(sourceId)),
    merchant,
    batch: textOf(said.batch),
    reference: textOf(said.reference),
    at: isoOf(atMs),
    reasons: reasons.map(maskCardData),
  }
}

function jobIdIn(sourceId: string): string {
  return /^[^/]+\/(.*)\/\d+$/s.exec(sourceId)?.[1] ?? sourceId
}

/** What was cut, withheld or purged names nothing. */
function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Producers name what they like: what must not be shown may be in it. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' ? maskCardData(value) : null
}
