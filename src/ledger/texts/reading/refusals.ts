// Messages that were not taken, as they were kept.

import type { KeptRefusal, RefusalsAsked } from '../../../domain/message.ts'
import { all, count, type Script } from '../script.ts'

const ASKED = "FROM refusal WHERE at >= :sinceMs AND (:merchant = '' OR account_name = :merchant)"
const LATEST = `
    SELECT source_id AS "sourceId", account_name AS merchant, reasons, text, at AS "atMs"
    ${ASKED} ORDER BY at DESC, source_id DESC LIMIT :most`

export function* refusalsOf(asked: RefusalsAsked): Script<{ refusals: readonly KeptRefusal[]; count: number }> {
  const which = { sinceMs: asked.sinceMs ?? 0, merchant: asked.merchant ?? '' }
  const found = yield* all<Omit<KeptRefusal, 'reasons'> & { readonly reasons: string }>(LATEST, {
    ...which,
    most: asked.most,
  })
  return {
    refusals: found.map((refusal) => ({ ...refusal, reasons: JSON.parse(refusal.reasons) as string[] })),
    count: yield* count(`SELECT count(*) AS n ${ASKED}`, which),
  }
}
