// From an answer of the customer vault to its verdict, beside that of transactions in `verdict.ts`. Pure; tried from the top.

import { present } from './answer-text.ts'
import type { CardMask } from './card.ts'
import { type Instruction, plainId, type VaultOperation } from './instruction.ts'
import type { Answer, Connection } from './outcome.ts'
import { nameKey } from './person-name.ts'
import type { AnswerFacts, Verdict } from './verdict.ts'

/** What the verdict on an answer of the vault depends on. */
export interface VaultJudging {
  readonly operation: VaultOperation
  readonly sent: Pick<Instruction, 'vaultId' | 'card' | 'details'>
  readonly everInDoubt: boolean
  readonly httpStatus: number
  readonly connection: Connection
}

export function verdictOnVaultStatus(status: string, answer: Answer, judging: VaultJudging): Verdict {
  const { httpStatus, operation } = judging
  const facts = vaultFactsOf(answer)
  const doubt = (reason: string): Verdict => ({ kind: 'in-doubt', reason: `${reason}${mayBeStored(operation)}` })
  const is2xx = httpStatus >= 200 && httpStatus <= 299
  const is4xx = httpStatus >= 400 && httpStatus <= 499

  if (status !== 'Success' && status !== 'Failed')
    return doubt(`the vault answered with the unknown status "${status}"`)
  if (!(is2xx || (is4xx && status === 'Failed'))) return doubt(`the vault answered ${status} with HTTP ${httpStatus}`)
  return status === 'Failed' ? verdictOnFailed(answer, judging, doubt) : verdictOnSuccess(answer, facts, judging, doubt)
}

type Doubt = (reason: string) => Verdict

/** A create in doubt may have left a card in the vault that no file names: a person must look for that. */
export function mayBeStored(operation: VaultOperation): string {
  return operation === 'VAULT_CREATE' ? '; the card may be stored' : ''
}

/** A refusal that names one of these speaks of a record, not of the merchant. */
const OF_A_RECORD = /\b(?:vault|customer|card|record|token)/i

export function namesRecord(text: string): boolean {
  return OF_A_RECORD.test(text)
}

function verdictOnFailed(answer: Answer, { connection, everInDoubt }: VaultJudging, doubt: Doubt): Verdict {
  const reason = present(answer.errorMessage) ?? 'refused without a reason'
  // A refusal repeats no id: behind another request it may be the second answer to that one.
  if (connection === 'warm') {
    return doubt(
      `Failed (${reason}) over a kept-alive connection, without anything that ties the answer to this request`,
    )
  }
  if (saysNoMerchant(reason)) {
    return { kind: 'stop-account', reason: `the gateway refuses the username or password (${reason})` }
  }
  if (everInDoubt) return doubt(`Failed (${reason}), but an earlier attempt was in doubt and may be what was executed`)
  return { kind: 'declined', facts: vaultFactsOf(answer), reason, warnings: [] }
}

/** By what is in front of "not found": what follows may name the card that was to be stored. */
function saysNoMerchant(reason: string): boolean {
  const missing = /^.*?(?=\bnot found\b)/i.exec(reason)?.[0] ?? ''
  return /\bmerchant\b/i.test(missing) && !namesRecord(missing)
}

function verdictOnSuccess(answer: Answer, facts: AnswerFacts, judging: VaultJudging, doubt: Doubt): Verdict {
  const { operation, connection, sent } = judging
  const differences = differencesIn(answer, sent)
  if (differences.length > 0) return doubt(`the answer belongs to another request: ${differences.join(', ')}`)
  if (operation === 'VAULT_CREATE' && !/[1-9]/.test(facts.vaultId ?? '')) return doubt('Success without a vault id')
  if (facts.vaultId !== null && !/^\d+$/.test(facts.vaultId)) return doubt('Success with a vault id that is no number')
  const told = present(answer.errorMessage)
  if (told !== null) return doubt(`Success with an error (${told})`)
  const isTied = ties(answer, operation)
  if (!isTied && connection === 'warm') {
    return doubt('Success over a kept-alive connection, without anything that ties the answer to this request')
  }
  // The answer to a delete is not documented: its status is all that it need say.
  const lacks = isTied || operation === 'VAULT_DELETE' ? [] : ['the answer does not repeat what was sent']
  return { kind: 'approved', facts, warnings: lacks.map((text) => ({ text, aboutMoney: false })) }
}

/** Of what was sent and is repeated, all that differs, without a value: it could be another card's. */
function differencesIn(answer: Answer, { vaultId, card, details }: VaultJudging['sent']): readonly string[] {
  const asked: readonly (readonly [name: string, asked: string | null | undefined, keyOf: (text: string) => string])[] =
    [
      ['customer_vault_id', vaultId, plainId],
      ['cc_bin', card?.bin, (text) => text],
      ['cc_last_4_digit', card?.lastFour, (text) => text],
      ['cc_expiry_mm', card?.expiry.month, (text) => text.padStart(2, '0')],
      ['cc_expiry_yy', card?.expiry.year, (text) => text.slice(-2)],
      ['first_name', details.first_name, nameKey],
      ['last_name', details.last_name, nameKey],
    ]
  return asked.flatMap(([name, wanted, keyOf]) => {
    const answered = present(answer[name])
    const isOther =
      answered !== null && wanted !== null && wanted !== undefined && wanted !== '' && keyOf(answered) !== keyOf(wanted)
    return isOther ? [`${name} is another`] : []
  })
}

/** Whether it repeats something that another request would not: the card, or the vault id that was sent. */
function ties(answer: Answer, operation: VaultOperation): boolean {
  return TIES[operation].every((name) => present(answer[name]) !== null)
}

const TIES: Readonly<Record<VaultOperation, readonly string[]>> = {
  VAULT_CREATE: ['cc_bin', 'cc_last_4_digit'],
  VAULT_UPDATE: ['customer_vault_id', 'cc_bin', 'cc_last_4_digit'],
  VAULT_DELETE: ['customer_vault_id'],
}

/** `text`: what stood in an answer that the contract does not describe. No setting makes a success of what speaks of a failure. */
export function isPlainSuccess(text: string): boolean {
  return !/<[a-z!]|\b(?:error|fail|invalid|unknown|denied|refus|reject|not|no|false|login|sign)/i.test(text)
}

function vaultFactsOf(answer: Answer): AnswerFacts {
  return {
    ...{ transactionId: null, orderId: null, recordId: null, amount: null, currency: null, xtlOrderId: null },
    vaultId: present(answer.customer_vault_id),
    customerId: present(answer.customer_id),
    card: cardIn(answer),
  }
}

/** null: the answer does not name it whole, or not in digits. */
function cardIn(answer: Answer): CardMask | null {
  const found = (name: string, form: RegExp) => form.exec(answer[name] ?? '')?.[0] ?? null
  const bin = found('cc_bin', /^\d{6}$/)
  const lastFour = found('cc_last_4_digit', /^\d{4}$/)
  const month = found('cc_expiry_mm', /^\d{1,2}$/)
  const year = found('cc_expiry_yy', /^(?:20)?\d\d$/)
  if (bin === null || lastFour === null || month === null || year === null) return null
  return { bin, lastFour, expiry: { month: month.padStart(2, '0'), year: `20${year.slice(-2)}` } }
}
