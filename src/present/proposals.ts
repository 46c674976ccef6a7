// A proposal to send a row in doubt once more, in words.

import { isoOf } from '../domain/batch-status.ts'
import type { Proposal } from '../domain/doubt.ts'

export function proposedText({ by, atMs, reason, untilMs }: Proposal): string {
  return `Proposed by ${by} at ${isoOf(atMs)}: "${reason}". Nothing is sent until another person confirms it; without that it falls at ${isoOf(untilMs)}.`
}

export interface JsonProposal {
  readonly by: string
  readonly reason: string
  readonly at: string
  readonly until: string
}

export function toJsonProposal({ by, reason, atMs, untilMs }: Proposal): JsonProposal {
  return { by, reason, at: isoOf(atMs), until: isoOf(untilMs) }
}
