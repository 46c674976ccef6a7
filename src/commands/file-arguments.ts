// The options that check, submit and run share: what the file means, what may be in it, what is expected of it.

import type { App, FileOptions } from '../app.ts'
import { DEFAULT_MERCHANT, type Merchant, merchantOf } from '../config.ts'
import { Fault } from '../domain/fault.ts'
import { parseOperation } from '../domain/instruction.ts'
import { type Money, parseAmount, parseCurrency } from '../domain/money.ts'
import type { AccountId, RetryStatus } from '../domain/ports.ts'
import type { SubmitRequest } from '../domain/submission.ts'

/** As the command line has them. */
export interface FileArguments {
  readonly operation?: string
  readonly currency?: string
  readonly decimal?: string
  readonly sheet?: string
  readonly runKey?: string
  readonly skipInvalid?: boolean
  readonly expectCount?: string
  readonly expectTotal?: readonly string[]
  readonly allowLookalikes?: string
  readonly lookalikeDays?: string
  readonly retry?: string
  readonly merchant?: string
  readonly canary?: string
  readonly maxDeclined?: string
}

export interface FileRequest {
  readonly merchant: Merchant
  readonly options: FileOptions
  toSubmit(accountId: AccountId, sandbox: boolean): SubmitRequest
}

export function parseFileArguments(app: App, given: FileArguments): FileRequest {
  const merchant = merchantOf(app.config, given.merchant ?? defaultName(app))
  return requestFor(app, merchant, given)
}

/** With one merchant configured there is no question which is meant. */
function defaultName(app: App): string {
  const names = [...app.config.merchants.keys()]
  return names.length === 1 ? (names[0] as string) : DEFAULT_MERCHANT
}

export function requestFor(app: App, merchant: Merchant, given: FileArguments): FileRequest {
  const options = {
    operation: parseOption(given.operation, '--operation', 'CAPTURE, AUTH, CAUTH, REFUND or CANCEL', parseOperation),
    currency: parseOption(given.currency, '--currency', 'an ISO 4217 code such as EUR', parseCurrency),
    decimal: parseOption<'.' | ','>(given.decimal, '--decimal', '. or ,', (text) =>
      text === '.' || text === ',' ? text : undefined,
    ),
    runKey: given.runKey,
    sheet: given.sheet,
  }
  const checks = {
    skipInvalid: given.skipInvalid ?? false,
    expectCount: parseOption(given.expectCount, '--expect-count', 'a number of rows', parseWhole) ?? null,
    expectTotals: (given.expectTotal ?? []).map(parseTotal),
    allowLookalikes:
      parseOption(given.allowLookalikes, '--allow-lookalikes', 'the number that check shows', parseWhole) ?? 0,
    lookalikeDays:
      parseOption(given.lookalikeDays, '--lookalike-days', 'a number of days', parseWhole) ?? merchant.lookalikeDays,
    retry: parseRetry(given.retry),
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
      runKey: options.runKey?.trim().normalize('NFC') ?? null,
      reading: readingOf(options, checks.retry),
      nowMs: app.clock.nowMs(),
      ...checks,
    }),
  }
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

function parseTotal(text: string): Money {
  const [code = '', amount = ''] = text.split('=')
  const currency = parseCurrency(code)
  const money = currency === undefined ? undefined : parseAmount(amount, currency)
  if (money !== undefined && typeof money === 'object') return money
  throw new Fault(
    'usage',
    `--expect-total ${text}: write a currency and an amount, such as EUR=41280.55. Nothing was recorded and nothing was sent.`,
  )
}

function parseRetry(text: string | undefined): readonly RetryStatus[] {
  if (text === undefined) return []
  const wanted = text.split(',').map((word) => word.trim().toUpperCase())
  const known = wanted.filter((word) => word === 'FAILED' || word === 'CANCELLED' || word === 'INVALID')
  if (known.length === wanted.length) return known
  throw new Fault(
    'usage',
    `--retry ${text}: only failed, cancelled and invalid rows may run again, because only they were certainly not executed. Rows in doubt are resolved by a person. Nothing was sent.`,
  )
}

/** What decides the meaning of the file: the same bytes read differently are another batch. */
function readingOf({ operation, currency, decimal, sheet }: FileOptions, retry: readonly RetryStatus[]): string {
  return [
    operation === undefined ? '' : `--operation ${operation}`,
    currency === undefined ? '' : `--currency ${currency}`,
    decimal === undefined ? '' : `--decimal ${decimal}`,
    sheet === undefined ? '' : `--sheet ${JSON.stringify(sheet)}`,
    retry.length === 0 ? '' : `--retry ${retry.toSorted().join(',').toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}
