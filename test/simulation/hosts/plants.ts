// Bugs, planted on the way between the program and its server, to see that the simulation finds them.

import type { LedgerParts } from '../../../src/ledger/postgres/ledger.ts'
import type { SharedRegister } from '../../../src/ports/ledger/copies.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { AccountLane } from '../../../src/processors/execute-slice.ts'

export interface HostsPlant {
  /** Other texts in the statements for the server. */
  readonly sql?: (text: string) => string
  readonly ledger?: (ledger: Ledger) => Ledger
  readonly lane?: (lane: AccountLane) => AccountLane
  readonly parts?: Partial<LedgerParts>
  readonly register?: (register: SharedRegister) => SharedRegister
  /** Texts that no statement had so far, so that nothing was planted there. */
  readonly unused?: () => readonly string[]
}

/** Other texts in the statements. */
function swapping(...swaps: readonly (readonly [text: string, instead: string])[]): HostsPlant {
  const unused = new Set(swaps.map(([text]) => text))
  return {
    sql: (sql) =>
      swaps.reduce((left, [text, instead]) => {
        if (left.includes(text)) unused.delete(text)
        return left.replaceAll(text, instead)
      }, sql),
    unused: () => [...unused],
  }
}

const NEXT_NUMBER = 'UPDATE lane SET last = $2, at = clock_timestamp() WHERE id = $1 AND last >= $3 RETURNING last'

/** The number of a transactor's next transaction, written in another way. */
function makingTransactors(onConflict: string): readonly [string, string] {
  return [
    NEXT_NUMBER,
    `INSERT INTO lane (id, last) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET ${onConflict} RETURNING last`,
  ]
}

const IS_NOT_CLAIMED = "i.state = 'READY' AND i.attempt = f.attempt"

const withoutOthers = (sending: Awaited<ReturnType<Ledger['keepAccounts']>>) =>
  new Map([...sending].map(([id, one]) => [id, { ...one, openElsewhere: 0 }] as const))

export const HOSTS_PLANTS: Readonly<Record<string, HostsPlant>> = {
  'a worker sends although its lease is over': { ledger: (ledger) => ({ ...ledger, tenure: () => () => true }) },
  'a worker claims although it was given up': swapping([
    'w.id = $7 AND w.ended_at IS NULL AND w.fenced_at IS NULL',
    '$7::bigint IS NOT NULL',
  ]),
  'a claim does not ask whether the row is still READY': swapping(
    [IS_NOT_CLAIMED, "i.state <> 'nowhere'"],
    [
      'ON CONFLICT DO NOTHING RETURNING row_id, claim_no',
      'ON CONFLICT (row_id) DO UPDATE SET claim_no = excluded.claim_no RETURNING row_id, claim_no',
    ],
  ),
  'rows of one order are claimed together': swapping(
    ["e.state IN ('SENDING', 'IN_DOUBT')", 'false'],
    ["e.state = 'READY' AND e.id < i.id", 'false'],
    ['SELECT f.id, f.account_id, f.order_key, $7', 'SELECT f.id, f.account_id, NULL, $7'],
  ),
  'a group notes no transaction ids': swapping([
    'FROM settled s WHERE s.transaction_id IS NOT NULL)',
    'FROM settled s WHERE false)',
  ]),
  'a commit whose answer was lost counts as none': swapping([
    'ON CONFLICT (id) DO UPDATE SET last = lane.last RETURNING last',
    'ON CONFLICT (id) DO UPDATE SET last = lane.last RETURNING CAST(0 AS BIGINT) AS last',
  ]),
  'a row of a worker that was given up is READY at once': swapping([
    "SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at",
    "SET state = 'READY', completed_at",
  ]),
  'a server that was put back hands out rows at once': { parts: { restMs: 0 } },
  'a transactor that is gone is made anew': swapping(makingTransactors('last = excluded.last WHERE lane.last >= $3')),
  'nobody looks for what it saw committed': swapping(
    makingTransactors('last = excluded.last WHERE $3::bigint IS NOT NULL'),
    ['WHERE NOT EXISTS (SELECT 1 FROM lane l', 'WHERE FALSE AND NOT EXISTS (SELECT 1 FROM lane l'],
  ),
  'a server of another timeline hands out rows': swapping([
    "EXISTS (SELECT 1 FROM meta WHERE key = 'timeline' AND value =",
    "EXISTS (SELECT 1 FROM meta WHERE key = 'timeline' AND '' <>",
  ]),
  'a claim of before an adoption speaks for its row': swapping([
    'AND id > coalesce((SELECT',
    'AND id > 0 * coalesce((SELECT',
  ]),
  'any claim speaks for an attempt of its number': swapping(
    [
      'AND worker = :worker AND claim_no = :claimNo',
      'AND CAST(:worker AS BIGINT) > 0 AND CAST(:claimNo AS BIGINT) > 0',
    ],
    ['c.claim_no = s.claim_no AND c.worker = $21', '$21::bigint > 0'],
  ),
  'a server that was started anew is taken for the one before': swapping([
    'CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT)',
    "CAST('always' AS TEXT)",
  ]),
  'an account is taken from a worker that lives': swapping(
    ['THEN s.owner END AS owner', 'THEN CAST(NULL AS BIGINT) END AS owner'],
    ['WHERE w.id = sender.owner AND', 'WHERE w.id = sender.owner AND false AND'],
  ),
  'a claim asks for no term': swapping(['AND s.term = h.term AND s.owner = $7', 'AND $7::bigint > 0']),
  'requests of others do not count': {
    ledger: (ledger) => ({ ...ledger, keepAccounts: async (asked) => withoutOthers(await ledger.keepAccounts(asked)) }),
  },
  'what a worker saw is lost with it': {
    register: (register) => ({ ...register, testimonies: async () => new Map() }),
  },
  'a batch of a server that was put back is cancelled': swapping([
    "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unfinished')",
    "SELECT 1 WHERE true OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unfinished')",
  ]),
}
