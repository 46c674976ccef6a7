// The file that TRANCHE_CONFIG names: merchants, who must approve what is sent for them, and where people sign in.

import { dirname, resolve } from 'node:path'
import type { ApprovalPolicy } from '../domain/approval.ts'
import type { ProviderSettings } from '../domain/identity.ts'
import { DEFAULT_MERCHANT, MERCHANT_DEFAULTS, type Merchant, type Traffic } from '../domain/merchant.ts'
import { didYouMean } from '../domain/similar.ts'
import { readTextSync } from '../files/open-file.ts'
import { approvalPolicyFrom } from './approvals.ts'
import { identityProviderFrom } from './identity-provider.ts'
import { entrySchema, fromEntry, isRecord, issueProblems, usernameProblems } from './merchant-entry.ts'
import { noteWriters, whyNotRead } from './secret-files.ts'
import type { Settings } from './setting-readers.ts'
import { type TrustNames, trustFrom } from './trust.ts'

const MERCHANT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const LISTED_TRUST: TrustNames<string> = { ca: 'ca_file', cert: 'client_cert_file', key: 'client_key_file' }

export interface ListedSettings {
  readonly merchants: readonly Merchant[]
  /** null: none is configured. */
  readonly approvals: ApprovalPolicy | null
  /** null: people have passwords of this server alone. */
  readonly identityProvider: ProviderSettings | null
}

export const NOTHING_LISTED: ListedSettings = { merchants: [], approvals: null, identityProvider: null }

/** Paths in the file are relative to the file, wherever the command is run. */
export async function readConfigFile(
  path: string,
  traffic: Traffic,
  taken: boolean,
  { note, exposed, credentials }: Settings,
): Promise<ListedSettings> {
  const complain = (problem: string) => note('TRANCHE_CONFIG', problem)
  const content = await readContent(path, complain)
  if (content === null) return NOTHING_LISTED
  noteWriters(path, exposed)
  const merchants = await merchantsIn(content, path, { traffic, taken, complain, exposed, credentials })
  const { approvals, oidc } = content
  const names = [...(taken ? [DEFAULT_MERCHANT] : []), ...merchantNames(content)]
  const policy = approvals === undefined ? null : await approvalPolicyFrom(approvals, names, complain)
  const provider = oidc === undefined ? null : await identityProviderFrom(oidc, dirname(path), exposed, complain)
  return { merchants, approvals: policy ?? null, identityProvider: provider ?? null }
}

interface MerchantParts extends Pick<Settings, 'exposed' | 'credentials'> {
  readonly traffic: Traffic
  readonly taken: boolean
  readonly complain: (problem: string) => void
}

async function merchantsIn(
  { merchants }: Content,
  path: string,
  { traffic, taken, complain, ...settings }: MerchantParts,
): Promise<Merchant[]> {
  const entries = Object.entries(isRecord(merchants) ? merchants : {})
  const schema = await entrySchema(dirname(path), settings)
  return entries.flatMap(([name, content]) => {
    const problems = [...nameProblems(name, taken), ...usernameProblems(content)]
    const read = schema.safeParse(content)
    if (!read.success)
      problems.push(...read.error.issues.flatMap((issue) => issueProblems(issue, Object.keys(schema.shape))))
    const trust = settings.credentials
      ? trustFrom(
          LISTED_TRUST,
          (setting) => pathIn(content, setting, dirname(path)),
          (setting, problem) => problems.push(`.${setting}: ${problem}`),
          settings.exposed,
        )
      : MERCHANT_DEFAULTS.trust
    for (const problem of problems) complain(`merchants.${name}${problem}`)
    return read.success ? [fromEntry(name, read.data, traffic, trust)] : []
  })
}

type Content = Readonly<Record<string, unknown>>

/** Also of entries with mistakes, which are complained of by themselves. */
function merchantNames({ merchants }: Content): readonly string[] {
  return isRecord(merchants) ? Object.keys(merchants) : []
}

const SETTINGS = ['merchants', 'approvals', 'oidc']

/** As written; null: it cannot be used. `yaml` is loaded here, where it is needed: start-up time counts. */
async function readContent(path: string, complain: (problem: string) => void): Promise<Content | null> {
  let text: string
  try {
    text = readTextSync(path)
  } catch (error) {
    complain(`names ${path}, which ${whyNotRead(error)}`)
    return null
  }
  const { LineCounter, parseDocument } = await import('yaml')
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  // Codes and places only: a message may quote the line, and the line may hold what should not be there.
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    complain(`(${path}) line ${lineCounter.linePos(pos[0]).line}: is not the YAML expected (${code})`)
  }
  if (document.errors.length > 0) return null
  const content = orUndefined(() => document.toJS({ maxAliasCount: 100 }))
  const lists = isRecord(content) && isRecord(content.merchants) && Object.keys(content.merchants).length > 0
  // The environment may have the only merchant there is.
  const others = isRecord(content) && (content.approvals !== undefined || content.oidc !== undefined)
  if (!isRecord(content) || (!lists && (content.merchants !== undefined || !others))) {
    complain(`(${path}) must have "merchants:" with at least one merchant under it`)
    return null
  }
  for (const key of Object.keys(content))
    if (!SETTINGS.includes(key)) complain(`(${path}) ${key}: is not a known setting${didYouMean(key, SETTINGS)}`)
  return content
}

/** An alias that leads nowhere, or to too much, throws. */
function orUndefined(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

function nameProblems(name: string, taken: boolean): string[] {
  if (!MERCHANT_NAME.test(name)) return [': a name is 1 to 64 letters, digits, - and _']
  return taken && name === DEFAULT_MERCHANT
    ? [': the environment has a merchant of this name; give this one another, or unset TRANCHE_GATEWAY_*']
    : []
}

/** undefined: none is named, or what the schema complains of. */
function pathIn(content: unknown, setting: string, directory: string): string | undefined {
  const path = isRecord(content) ? content[setting] : undefined
  return typeof path === 'string' && path.trim() !== '' ? resolve(directory, path) : undefined
}
