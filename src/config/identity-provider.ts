// The identity provider of TRANCHE_CONFIG: where people of the company sign in, and which of their groups has which roles.

import { resolve } from 'node:path'
import type { ProviderSettings } from '../domain/identity.ts'
import { exclusionIn, GRANTS, parseGrant } from '../domain/person.ts'
import { Secret } from '../domain/secret.ts'
import { didYouMean } from '../domain/similar.ts'
import { isLoopback } from '../files/networks.ts'
import { ELLIPSIS, isEllipsis } from './limits.ts'
import { issueProblems } from './merchant-entry.ts'
import { type ExposedFile, readSecretFile } from './secret-files.ts'

const NAME_LONGEST = 60
const GROUPS_CLAIM = 'groups'
/** Cookies are signed with it: a shorter one could be found by trying. */
const SECRET_SHORTEST = 16

/** undefined: it has mistakes, reported to `complain`. `directory`: base of relative paths. */
export async function identityProviderFrom(
  content: unknown,
  directory: string,
  exposed: ExposedFile[],
  complain: (problem: string) => void,
): Promise<ProviderSettings | undefined> {
  const schema = await providerSchema(directory, exposed)
  const read = schema.safeParse(content)
  if (!read.success) {
    for (const issue of read.error.issues)
      for (const problem of issueProblems(issue, Object.keys(schema.shape))) complain(`oidc${problem}`)
    return undefined
  }
  const { issuer, name, client_id, client_secret_file, groups_claim, groups, scopes, acr_values, local_sign_in } =
    read.data
  return Object.freeze({
    ...{ issuer, name: name ?? new URL(issuer).host, clientId: client_id },
    clientSecret: new Secret(client_secret_file),
    groupsClaim: groups_claim ?? GROUPS_CLAIM,
    roles: new Map(Object.entries(groups)),
    scopes: scopes ?? [],
    acrValues: acr_values ?? [],
    localSignIn: local_sign_in ?? true,
  })
}

async function providerSchema(directory: string, exposed: ExposedFile[]) {
  const { z } = await import('zod')
  const text = z
    .string()
    .regex(/\S/, 'is empty')
    .max(300)
    .refine((given) => !isEllipsis(given), ELLIPSIS)
  const complaining = <T>(parse: (given: string, complain: (problem: string) => void) => T | undefined) =>
    z.string().transform((given, context): T => {
      const parsed = parse(given, (problem) => context.addIssue({ code: 'custom', message: problem }))
      return parsed === undefined ? z.NEVER : parsed
    })
  const role = z.string().transform((given, context) => {
    const grant = parseGrant(given)
    if (grant !== undefined) return grant
    const problem = `${given} is not a role${didYouMean(given, GRANTS)}; one of ${GRANTS.join(', ')}`
    context.addIssue({ code: 'custom', message: problem })
    return z.NEVER
  })
  const roles = z
    .array(role)
    .min(1, 'gives no role: take the group out')
    .refine(
      (names) => exclusionIn(names) === null,
      'gives admin together with a role that moves money: an administrator may not move money. Use two groups',
    )
  const words = z.array(text.regex(/^\S+$/, 'holds a blank')).min(1)
  return z.strictObject({
    name: text.max(NAME_LONGEST).optional(),
    issuer: complaining(parseIssuer),
    client_id: text,
    client_secret_file: complaining((path, complain) => readClientSecret(resolve(directory, path), complain, exposed)),
    groups_claim: text.optional(),
    groups: z
      .record(text, roles)
      .refine((table) => Object.keys(table).length > 0, 'names no group: nobody could sign in'),
    scopes: words.optional(),
    acr_values: words.optional(),
    local_sign_in: z.boolean().optional(),
  })
}

/** As it is written: what the provider calls itself is compared with it. */
function parseIssuer(text: string, complain: (problem: string) => void): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\//i.test(text))
    complain('must be an absolute address such as https://login.example/realms/staff')
  else if (url.username !== '' || url.password !== '') complain('must not hold a username or password')
  else if (/[?#]/.test(text)) complain('must not have a query (?) or a fragment (#)')
  else if (url.pathname.includes('/.well-known/'))
    complain('must be the issuer, without /.well-known/ and what follows')
  else if (url.protocol === 'http:' && !isLoopback(url.hostname))
    complain('must begin with https://: over plain http, anyone on the network could forge a sign-in')
  else return text
  return undefined
}

function readClientSecret(path: string, complain: (problem: string) => void, exposed: ExposedFile[]) {
  const secret = readSecretFile(path, complain, exposed)
  const isShort = secret !== undefined && secret.length < SECRET_SHORTEST
  const problem = isShort ? `has fewer than ${SECRET_SHORTEST} characters: have the provider make one` : null
  if (problem !== null) complain(problem)
  return problem === null ? secret : undefined
}
