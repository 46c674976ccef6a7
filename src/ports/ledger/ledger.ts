// The whole ledger. Each caller should ask for the part that it needs.

import type { ActLedger } from './acts.ts'
import type { ApprovalLedger } from './approvals.ts'
import type { AuditLedger } from './audit.ts'
import type { ControlLedger } from './control.ts'
import type { CopyLedger } from './copies.ts'
import type { DoubtLedger } from './doubts.ts'
import type { EventLedger } from './events.ts'
import type { IntakeLedger } from './intake.ts'
import type { KeyLedger } from './keys.ts'
import type { PeopleLedger } from './people.ts'
import type { PurgeLedger } from './purge.ts'
import type { QueryLedger } from './queries.ts'
import type { RequestLedger } from './requests.ts'
import type { WebhookLedger } from './webhooks.ts'
import type { WorkLedger } from './work.ts'

/** The record. Everything that matters is in it before anyone is told. */
export interface Ledger
  extends WorkLedger,
    IntakeLedger,
    DoubtLedger,
    QueryLedger,
    ControlLedger,
    ApprovalLedger,
    ActLedger,
    PurgeLedger,
    AuditLedger,
    KeyLedger,
    PeopleLedger,
    RequestLedger,
    EventLedger,
    WebhookLedger,
    CopyLedger {
  /** Random, made with the ledger; part of every name in Redis. */
  readonly ledgerId: string
  close(): Promise<void>
}
