// The approval policy of TRANCHE_CONFIG: who must approve what before it is sent.

import type { ApprovalPolicy, ApprovalRule, Band } from '../domain/approval.ts'
import type { Operation } from '../domain/instruction.ts'
import { OPERATIONS } from '../domain/instruction.ts'
import { parseCurrency } from '../domain/money.ts'
import { didYouMean } from '../domain/similar.ts'
import { issueProblems } from './merchant-entry.ts'

const EXPIRE_DAYS = { min: 1, max: 366, default: 7 }
const MOST_APPROVALS = 9
const DAY_MS = 86_400_000

/** `merchants`: those that are configured. undefined: it has mistakes, of which `complain` was told. */
export async function approvalPolicyFrom(
  content: unknown,
  merchants: readonly string[],
  complain: (problem: string) => void,
): Promise<ApprovalPolicy | undefined> {
  const schema = await policySchema()
  const read = schema.safeParse(content)
  if (!read.success) {
    for (const issue of read.error.issues)
      for (const problem of issueProblems(issue, Object.keys(schema.shape))) complain(`approvals${problem}`)
    return undefined
  }
  const { os_users = true, expire_days = EXPIRE_DAYS.default, rules = [], ...own } = read.data
  const all = [own, ...rules].filter(asksAnything).map(toRule)
  if (all.length === 0) complain('approvals: asks for no approval; write four_eyes, bands or row_over, or leave it out')
  // A rule for a merchant that nobody has would ask for nothing, and nobody would see it.
  for (const [at, rule] of rules.entries())
    for (const name of rule.merchants ?? [])
      if (!merchants.includes(name))
        complain(`approvals.rules.${at}.merchants: ${name} is not a merchant here${didYouMean(name, merchants)}`)
  return { rules: all, expireAfterMs: expire_days * DAY_MS, osUsers: os_users }
}

async function policySchema() {
  const { z } = await import('zod')
  const amount = z
    .union([z.number().nonnegative(), z.string()])
    .transform((given) => String(given))
    .refine((text) => /^\d{1,15}(\.\d{1,4})?$/.test(text), 'is not a plain amount such as 1000.00')
  const approvals = z.int().min(0).max(MOST_APPROVALS)
  const bands = z
    .array(z.tuple([amount.nullable(), approvals]))
    .min(1)
    .refine((list) => list.slice(0, -1).every(([upTo]) => upTo !== null), 'has a band after the one for any sum')
    .refine(
      (list) => list.every(([upTo], i) => i === 0 || upTo === null || Number(upTo) > Number(list[i - 1]?.[0])),
      'is not in order: the lowest band comes first',
    )
    .refine(
      (list) => list.every(([, needed], i) => i === 0 || needed >= (list[i - 1]?.[1] ?? 0)),
      'asks for fewer approvals above than below',
    )
    .refine((list) => list.at(-1)?.[0] === null, 'says nothing of larger sums: end with [null, APPROVALS]')
  const currency = z.string().transform((code, context): string => {
    const parsed = parseCurrency(code)
    if (parsed === undefined) context.addIssue({ code: 'custom', message: `${code} is not a currency of ISO 4217` })
    return parsed ?? z.NEVER
  })
  const rule = {
    four_eyes: z.boolean().optional(),
    bands: z.record(currency, bands).optional(),
    row_over: z.union([amount, z.record(currency, amount)]).optional(),
  }
  const operation = z.enum(OPERATIONS)
  return z.strictObject({
    os_users: z.boolean().optional(),
    expire_days: z.int().min(EXPIRE_DAYS.min).max(EXPIRE_DAYS.max).optional(),
    ...rule,
    rules: z
      .array(
        z.strictObject({
          merchants: z.array(z.string().min(1)).min(1).optional(),
          operations: z.array(operation).min(1).optional(),
          ...rule,
        }),
      )
      .optional(),
  })
}

interface GivenRule {
  readonly merchants?: readonly string[] | undefined
  readonly operations?: readonly Operation[] | undefined
  readonly four_eyes?: boolean | undefined
  readonly bands?: Readonly<Record<string, readonly (readonly [string | null, number])[]>> | undefined
  readonly row_over?: string | Readonly<Record<string, string>> | undefined
}

function asksAnything({ four_eyes, bands = {}, row_over = {} }: GivenRule): boolean {
  const banded = Object.values(bands).flat()
  return four_eyes === true || banded.some(([, approvals]) => approvals > 0) || Object.keys(Object(row_over)).length > 0
}

function toRule({ merchants, operations, four_eyes, bands = {}, row_over = {} }: GivenRule): ApprovalRule {
  const toBands = (given: readonly (readonly [string | null, number])[]): readonly Band[] =>
    given.map(([upTo, approvals]) => ({ upTo, approvals }))
  return {
    merchants: merchants ?? null,
    operations: operations ?? null,
    fourEyes: four_eyes ?? false,
    bands: Object.fromEntries(Object.entries(bands).map(([currency, given]) => [currency, toBands(given)])),
    rowOver: typeof row_over === 'string' ? { '*': row_over } : row_over,
  }
}
