// The company's identity provider, as one that is asked who somebody is.

import type { ProviderIdentity } from '../domain/identity.ts'

/** What binds an answer to the question, and both to one browser. */
export interface AuthorizationRequest {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface IdentityProvider {
  /**
   * Where the browser goes to be asked. `again`: also where they are signed in there. Rejects with a fault `unavailable` where the
   * provider cannot be asked.
   */
  authorizationUrl(asking: AuthorizationRequest, again: boolean): Promise<string>
  /**
   * Who came back with this query. Rejects with `SignInRejected` where it is no answer to the question, and with a fault `unavailable` where
   * the provider cannot be asked.
   */
  identityFrom(asking: AuthorizationRequest, query: URLSearchParams): Promise<ProviderIdentity>
}

/** The provider said no, or what came is not its answer. */
export class SignInRejected extends Error {
  /** In its own words; null: it said nothing that counts. */
  readonly said: string | null
  /** For the log: never what came with it. */
  readonly code: string

  constructor(code: string, said: string | null) {
    super(`the identity provider did not tell who it was: ${code}`)
    this.name = 'SignInRejected'
    this.code = code
    this.said = said
  }
}
