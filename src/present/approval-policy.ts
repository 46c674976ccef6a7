// An approval policy, in words.

import type { ApprovalPolicy, ApprovalRule } from '../domain/approval.ts'
import { plural } from './text.ts'

/** Said where it begins. */
export const FOUR_EYES_BEGUN =
  'Two people have roles that move money now, so from now on every batch waits, also those of the command line, cron, services and messages, until another person approves it in the console; a new approver can approve after 24 hours. People whom one person made approve nothing for each other until a second person confirms one of them: another administrator, or the owner of this machine (tranche people confirm NAME). For another policy, or none, change TRANCHE_CONFIG and adopt it: tranche policy adopt --reason TEXT'

export function policyLines(policy: ApprovalPolicy | null): string[] {
  if (policy === null) return ['No approval is needed: no policy is in force.']
  const days = Math.round(policy.expireAfterMs / 86_400_000)
  return [
    'The strictest rule that fits a batch counts. Sums are those of everything that its submitter handed in within 24 hours.',
    ...policy.rules.flatMap(ruleLines),
    `A batch that nobody decides on is cancelled after ${plural(days, 'day')}.`,
    policy.osUsers
      ? 'Users of the operating system may approve at a terminal, each under their own name.'
      : 'Users of the operating system may not approve.',
  ]
}

function ruleLines({ merchants, operations, fourEyes, bands, rowOver }: ApprovalRule): string[] {
  const where = [merchants?.join(', ') ?? 'every merchant', operations?.join(', ') ?? 'every operation'].join(', ')
  return [
    `For ${where}:`,
    ...(fourEyes ? ['  everything needs 1 approval'] : []),
    ...Object.entries(bands).flatMap(([currency, list]) =>
      list.map(
        ({ upTo, approvals }) =>
          `  ${currency} ${upTo === null ? 'above that' : `up to ${upTo}`}: ${plural(approvals, 'approval')}`,
      ),
    ),
    ...Object.entries(rowOver).map(
      ([currency, limit]) =>
        `  one more where a row is above ${limit} ${currency === '*' ? 'of its currency' : currency}`,
    ),
  ]
}

export function toJsonPolicy({ rules, expireAfterMs, osUsers }: ApprovalPolicy): object {
  return {
    rules: rules.map(({ merchants, operations, fourEyes, bands, rowOver }) => ({
      merchants,
      operations,
      four_eyes: fourEyes,
      bands: Object.fromEntries(
        Object.entries(bands).map(([currency, list]) => [
          currency,
          list.map(({ upTo, approvals }) => [upTo, approvals]),
        ]),
      ),
      row_over: rowOver,
    })),
    expire_days: expireAfterMs / 86_400_000,
    os_users: osUsers,
  }
}
