// The merchant that the environment describes, and the limits that it sets for every merchant.

import { DEFAULT_MERCHANT, ENVIRONMENTS, MERCHANT_DEFAULTS, type Merchant, type Traffic } from '../domain/merchant.ts'
import { Secret } from '../domain/secret.ts'
import type { SettingName } from '../domain/settings.ts'
import { parseAddress } from './address.ts'
import { CONNECTIONS, IN_FLIGHT, passwordProblem, TIMEOUT_MS } from './limits.ts'
import type { Settings } from './setting-readers.ts'
import { type TrustNames, trustFrom } from './trust.ts'

/** Listed merchants that set no limit of their own have these too, so that a limit is never lost silently. */
export function trafficFrom(settings: Settings): Traffic {
  return {
    ratePerSecond: rateFrom(settings),
    inFlightMax: settings.whole('TRANCHE_IN_FLIGHT', IN_FLIGHT),
    timeoutMs: settings.whole('TRANCHE_TIMEOUT_MS', TIMEOUT_MS),
    connections: settings.choice('TRANCHE_CONNECTIONS', CONNECTIONS, MERCHANT_DEFAULTS.connections),
  }
}

function rateFrom(settings: Settings): number | null {
  const value = settings.text('TRANCHE_RATE')?.trim()
  if (value === undefined) return null
  const rate = /^\d{1,6}(\.\d{1,6})?$/.test(value) ? Number(value) : 0
  if (rate === 0) settings.note('TRANCHE_RATE', `must be requests per second, such as 10 or 0.5, not "${value}"`)
  return rate
}

/** Each with the other name that it may stand under. */
export const OWN_SETTINGS = [
  ['TRANCHE_GATEWAY_URL'],
  ['TRANCHE_GATEWAY_USERNAME', 'TRANCHE_GATEWAY_USERNAME_FILE'],
  ['TRANCHE_GATEWAY_PASSWORD', 'TRANCHE_GATEWAY_PASSWORD_FILE'],
] as const

const OWN_TRUST: TrustNames<SettingName> = {
  ca: 'TRANCHE_GATEWAY_CA_FILE',
  cert: 'TRANCHE_GATEWAY_CLIENT_CERT_FILE',
  key: 'TRANCHE_GATEWAY_CLIENT_KEY_FILE',
}

/** The environment's merchant: all three settings or none; the password only where it is read. */
export function ownMerchant(settings: Settings, traffic: Traffic): Merchant | null {
  if (![...OWN_SETTINGS.flat(), ...Object.values(OWN_TRUST)].some(settings.has)) return null
  for (const [name, fileName] of OWN_SETTINGS) {
    if (settings.has(name) || (fileName !== undefined && settings.has(fileName))) continue
    if (name === 'TRANCHE_GATEWAY_PASSWORD' && !settings.credentials) continue
    settings.note(name, fileName === undefined ? 'is missing' : `is missing (or ${fileName})`)
  }
  const [[urlName], [usernameName], [passwordName, passwordFileName]] = OWN_SETTINGS
  const address = settings.text(urlName)
  const url = address === undefined ? undefined : parseAddress(address, (what) => settings.note(urlName, what))
  const username = settings.secret(usernameName)
  const password = settings.credentials ? settings.secret(passwordName) : null
  const problem = password == null ? null : passwordProblem(password)
  if (problem !== null) settings.note(passwordName, problem)
  const trust = settings.credentials
    ? trustFrom(OWN_TRUST, settings.text, settings.note, settings.exposed)
    : MERCHANT_DEFAULTS.trust
  if (url === undefined || username === undefined || password === undefined) return null
  const environment = settings.choice('TRANCHE_ENVIRONMENT', ENVIRONMENTS, MERCHANT_DEFAULTS.environment)
  const names = { name: DEFAULT_MERCHANT, url, username, password: password === null ? null : new Secret(password) }
  const passwordFile = settings.text(passwordFileName) ?? null
  return Object.freeze({ ...MERCHANT_DEFAULTS, ...names, passwordFile, ...traffic, environment, trust })
}
