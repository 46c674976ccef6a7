// The ledger, for requests that must have their effect once, however often they come.

import type { ApiRequest, KeptRequest } from '../../domain/api-request.ts'
import type { ControlLedger } from './control.ts'
import type { DoubtLedger } from './doubts.ts'
import type { IntakeLedger } from './intake.ts'
import type { KeyLedger } from './keys.ts'
import type { WebhookLedger } from './webhooks.ts'

/** What a request may do. */
export type OnceLedger = Pick<
  ControlLedger,
  'pause' | 'resume' | 'cancel' | 'cancelRow' | 'resumeAccount' | 'setRate'
> &
  Pick<DoubtLedger, 'resolve' | 'refuseProposal'> &
  Pick<IntakeLedger, 'recordMessage'> &
  Pick<KeyLedger, 'addKey'> &
  Pick<WebhookLedger, 'addEndpoint' | 'removeEndpoint' | 'rotateSecret' | 'enableEndpoint' | 'pingEndpoint' | 'replay'>

export interface RequestLedger {
  /** null: it had no effect so far, or that is longer ago than requests are kept. */
  keptRequest(request: ApiRequest): Promise<KeptRequest | null>
  /**
   * The same acts, each of which notes in its own transaction that the request had its effect; what changes nothing notes nothing. Rejects
   * with `RequestRepeated`, and changes nothing, where the request had its effect before.
   */
  once(request: ApiRequest): OnceLedger
  /** The same for what was done by others for the request. False: it had its effect before. */
  keepRequest(request: ApiRequest, subject: KeptRequest['subject']): Promise<boolean>
}
