// The options that check, submit and run share: what the file means, what may be in it, what is expected of it.

import type { FileOptions } from '../app/instruction-file.ts'
import { readFormat } from '../app/saved-formats.ts'
import type { App } from '../app.ts'
import type { RetryStatus } from '../domain/draft.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Operation, parseOperation, type VaultOperation } from '../domain/instruction.ts'
import { fingerprintOf } from '../domain/interpretation.ts'
import { toLowerAscii, toUpperAscii } from '../domain/keyword.ts'
import { DEFAULT_MERCHANT, type Merchant, merchantOf } from '../domain/merchant.ts'
import { type Money, parseCurrency } from '../domain/money.ts'
import { PASSING, parsePassing, type ReattemptAsked } from '../domain/reattempt.ts'
import type { SubmitRequest } from '../domain/submission.ts'
import { parseNamedTotal } from '../domain/written-amount.ts'
import { parseDurationMs } from './durations.ts'

/** As the command line has them. */
export interface FileArguments {
  readonly operation?: string
  /** `create`, `update` or `delete`: the file is one of the customer vault. */
  readonly vault?: string
  readonly currency?: string
  readonly decimal?: string
  readonly sign?: string
  readonly scale?: string
  readonly headerRow?: string
  readonly timezone?: string
  readonly map?: readonly string[]
  readonly notACard?: readonly string[]
  readonly format?: string
  readonly sheet?: string
  readonly allowHidden?: string
  readonly runKey?: string
  /** The last look is answered with yes. */
  readonly yes?: boolean
  readonly skipInvalid?: boolean
  readonly onlyNew?: boolean
  readonly expectCount?: string
  readonly expectTotal?: readonly string[]
  readonly allowLookalikes?: string
  readonly allowExecuteAt?: string
  readonly expiresAfter?: string
  readonly allowAboveLimit?: string
  readonly lookalikeDays?: string
  readonly retry?: string
  readonly category?: string
  readonly merchant?: string
  readonly canary?: string
  readonly maxDeclined?: string
  readonly rejects?: string
}

export interface FileRequest {
  readonly merchant: Merchant
  readonly options: FileOptions
  toSubmit(accountId: AccountId, sandbox: boolean): SubmitRequest
}

/** Whether rows may have card details: a command that leaves the sending to others refuses them. */
type Cards = FileOptions['cards']

export function parseFileArguments(app: App, given: FileArguments, cards: Cards = 'refused'): FileRequest {
  const merchant = merchantOf(app.config, given.merchant ?? defaultName(app))
  return requestFor(app, merchant, given, cards)
}

/** With what the saved format says, where the command line does not say otherwise. */
export async function withFormat<T extends FileArguments>(app: App, given: T): Promise<T> {
  if (given.format === undefined) return given
  const { map = [], notACard = [], ...saved } = await readFormat(app, formatOwner(app, given), given.format)
  const own = (given.map ?? []).map(parseMapping)
  const isFree = (text: string) => {
    const { column, field } = parseMapping(text)
    const isSame = (other: string) => other.toLowerCase() === column.toLowerCase()
    return !own.some((entry) => isSame(entry.column) || (field !== '' && field !== 'done' && entry.field === field))
  }
  const format = Object.fromEntries(Object.entries(saved).filter(([, value]) => value !== undefined))
  return {
    ...{ ...format, ...given },
    map: [...(given.map ?? []), ...map.filter(isFree)],
    notACard: [...(given.notACard ?? []), ...notACard],
  }
}

/** Whose formats are meant. */
export function formatOwner(app: App, given: FileArguments): string {
  return given.merchant === undefined ? defaultName(app) : merchantOf(app.config, given.merchant).name
}

/** With one merchant configured there is no question which is meant. */
function defaultName(app: App): string {
  const names = [...app.config.merchants.keys()]
  return names.length === 1 ? (names[0] as string) : DEFAULT_MERCHANT
}

/** Whose settings a rehearsal takes. Without one that is named, none needs to be configured. */
export function rehearsedMerchant(app: App, { merchant }: FileArguments): Merchant | undefined {
  return merchant === undefined ? app.config.merchants.get(defaultName(app)) : merchantOf(app.config, merchant)
}

export function requestFor(app: App, merchant: Merchant, given: FileArguments, cards: Cards = 'refused'): FileRequest {
  const options = {
    operation: operationOf(given),
    cards,
    nowMs: app.clock.nowMs(),
    merchants: [merchant.name, ...[...app.config.merchants.keys()].filter((name) => name !== merchant.name)],
    currency: parseOption(given.currency, '--currency', 'an ISO 4217 code such as EUR', parseCurrency),
    decimal: parseOption<'.' | ','>(given.decimal, '--decimal', '. or ,', (text) =>
      text === '.' || text === ',' ? text : undefined,
    ),
    sign: parseOption<'minus'>(given.sign, '--sign', 'minus', (text) => (text === 'minus' ? text : undefined)),
    scale: parseOption<'minor'>(given.scale, '--scale', 'minor', (text) => (text === 'minor' ? text : undefined)),
    headerRow: headerRowOf(given),
    runKey: given.runKey,
    timeZone: given.timezone,
    map: (given.map ?? []).map(parseMapping),
    sheet: given.sheet,
    allowHidden: parseOption(given.allowHidden, '--allow-hidden', 'the number that check shows', parseWhole),
    notCards: (given.notACard ?? []).map((column) => column.trim().normalize('NFC')),
    spelling: app.spelling,
  }
  const checks = {
    skipInvalid: given.skipInvalid ?? false,
    onlyNew: given.onlyNew ?? false,
    expectCount: parseOption(given.expectCount, '--expect-count', 'a number of rows', parseWhole) ?? null,
    expectTotals: parseTotals(given.expectTotal ?? []),
    allowLookalikes:
      parseOption(given.allowLookalikes, '--allow-lookalikes', 'the number that check shows', parseWhole) ?? 0,
    allowExecuteAt:
      parseOption(given.allowExecuteAt, '--allow-execute-at', 'the number that check shows', parseWhole) ?? 0,
    lookalikeDays:
      parseOption(given.lookalikeDays, '--lookalike-days', 'a number of days', parseWhole) ?? merchant.lookalikeDays,
    captureTolerance: merchant.captureTolerance,
    authorizationDays: merchant.authorizationDays,
    refundDays: merchant.refundDays,
    expiresAfterMs: given.expiresAfter === undefined ? null : parseExpiresAfterMs(given.expiresAfter),
    dailyLimits: merchant.dailyLimits,
    reasonRules: merchant.reasonRules,
    allowAboveLimit:
      parseOption(given.allowAboveLimit, '--allow-above-limit', 'the number that check shows', parseWhole) ?? 0,
    ...parseRetry(given, merchant),
    canaryRows: parseOption(given.canary, '--canary', 'a number of rows, 1 or more', parsePositive) ?? null,
    maxDeclinedPercent:
      parseOption(given.maxDeclined, '--max-declined', 'a share in per cent, 0 to 99', parsePercent) ?? null,
  }
  return {
    merchant,
    options,
    toSubmit: (accountId, sandbox) => ({
      accountId,
      sandbox,
      runKey: options.runKey === undefined ? null : toIdentifier(options.runKey),
      fingerprint: fingerprintOf({ ...options, retry: checks.retry, reattempt: checks.reattempt?.categories }),
      nowMs: app.clock.nowMs(),
      ...checks,
    }),
  }
}

function parseExpiresAfterMs(text: string): number {
  const ms = parseDurationMs(text, '--expires-after')
  if (ms > 0) return ms
  throw new Fault('usage', `--expires-after ${text}: nothing would be sent. Nothing was recorded and nothing was sent.`)
}

/** `COLUMN=FIELD`; the name of a column may have = in it, that of a field has none. No field, or `ignore`: empty. */
function parseMapping(text: string): { readonly column: string; readonly field: string } {
  const at = text.lastIndexOf('=')
  const column = text.slice(0, at).trim().normalize('NFC')
  const field = toLowerAscii(text.slice(at + 1).trim())
  if (at !== -1 && column !== '') return { column, field: field === 'ignore' ? '' : field }
  throw new Fault(
    'usage',
    `--map "${text.slice(0, 80)}": write a column of the file and the field it is, such as --map "Betrag=amount", or =ignore for none. Nothing was recorded and nothing was sent.`,
  )
}

/** What every row of the file asks for. */
function operationOf({ operation, vault }: FileArguments): Operation | undefined {
  if (vault === undefined)
    return parseOption(operation, '--operation', 'CAPTURE, AUTH, CAUTH, REFUND or CANCEL', parseOperation)
  if (operation === undefined) return parseOption(vault, '--vault', 'create, update or delete', parseVaultVerb)
  throw new Fault(
    'usage',
    `--operation ${operation} is for payments, and --vault ${vault} says that the file is of the vault: give one of them. Nothing was recorded and nothing was sent.`,
  )
}

/** The first line is what a file is read from anyway: to say it makes no other batch. */
function headerRowOf({ headerRow }: FileArguments): number | undefined {
  const line = parseOption(headerRow, '--header-row', 'the number of a line, 1 or more', parsePositive)
  return line === 1 ? undefined : line
}

const VAULT_VERBS: Readonly<Record<string, VaultOperation>> = {
  create: 'VAULT_CREATE',
  update: 'VAULT_UPDATE',
  delete: 'VAULT_DELETE',
}

function parseVaultVerb(text: string): VaultOperation | undefined {
  return Object.hasOwn(VAULT_VERBS, text) ? VAULT_VERBS[text] : undefined
}

function parseOption<T>(
  text: string | undefined,
  name: string,
  wanted: string,
  parse: (text: string) => T | undefined,
): T | undefined {
  if (text === undefined) return undefined
  const value = parse(text)
  if (value === undefined)
    throw new Fault('usage', `${name} ${text}: write ${wanted}. Nothing was recorded and nothing was sent.`)
  return value
}

function parseWhole(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function parsePositive(text: string): number | undefined {
  const number = parseWhole(text)
  return number === 0 ? undefined : number
}

function parsePercent(text: string): number | undefined {
  const number = parseWhole(text.replace(/\s*%$/, ''))
  return number === undefined || number > 99 ? undefined : number
}

function parseTotals(texts: readonly string[]): readonly Money[] {
  const totals = texts.map(parseExpected)
  const twice = totals.find(({ currency }, i) => totals.findIndex((total) => total.currency === currency) < i)
  if (twice === undefined) return totals
  throw new Fault(
    'usage',
    `--expect-total is given twice for ${twice.currency}: write one total per currency. Nothing was recorded and nothing was sent.`,
  )
}

function parseExpected(text: string): Money {
  const money = text.includes('=') ? parseNamedTotal(text) : null
  if (money !== null) return money
  throw new Fault(
    'usage',
    `--expect-total ${text}: write a currency and an amount, such as EUR=41280.55. Nothing was recorded and nothing was sent.`,
  )
}

function parseRetry(
  { retry, category }: FileArguments,
  { reasonRules }: Merchant,
): { readonly retry: readonly RetryStatus[]; readonly reattempt: ReattemptAsked | null } {
  const wanted = retry === undefined ? [] : wordsIn(retry).map(toUpperAscii)
  const isReattempt = wanted.includes('DECLINED')
  if (isReattempt !== (category !== undefined))
    throw new Fault('usage', `${TOGETHER} Nothing was recorded and nothing was sent.`)
  const known = wanted.filter((word) => word === 'FAILED' || word === 'CANCELLED' || word === 'INVALID')
  if (known.length + (isReattempt ? 1 : 0) < new Set(wanted).size) {
    throw new Fault(
      'usage',
      `--retry ${retry}: failed, cancelled and invalid rows may run again, because they were certainly not executed, and declined charges may be asked for once more. Rows in doubt are resolved by a person. Nothing was recorded and nothing was sent.`,
    )
  }
  return { retry: known, reattempt: isReattempt ? { categories: parseCategories(category ?? ''), reasonRules } : null }
}

const TOGETHER =
  '--retry declined asks once more for charges that were declined, and --category says for which reasons: --retry declined --category funds,technical.'

function parseCategories(text: string): ReattemptAsked['categories'] {
  const wanted = wordsIn(text).map(toLowerAscii)
  const known = wanted.map(parsePassing).filter((category) => category !== undefined)
  if (known.length === wanted.length && known.length > 0) return known
  throw new Fault(
    'usage',
    `--category ${text}: write ${PASSING.join(', ')}, or several of them. Any other reason does not pass by itself: the card or the row must change first. Nothing was recorded and nothing was sent.`,
  )
}

function wordsIn(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim())
}
