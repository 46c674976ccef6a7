// The tables of the ledger, as numbered migrations: what is published is never edited, only added to.

import { IS_CARD_EVENT } from '../texts/review/reattempts.ts'
import { KEYS, PEOPLE, PROVIDED_PEOPLE } from './door-tables.ts'
import { EVENTS } from './event-tables.ts'
import { GIVEN_REFERENCES } from './given-references.ts'
import { MADE_REFERENCES } from './made-references.ts'
import { ODD_REFERENCES } from './odd-references.ts'
import { PLANNER } from './planner.ts'
import { PLAIN_TARGET_INDEX, TARGET_INDEX } from './targets.ts'
import { XTL_INDEX } from './xtl-order-ids.ts'

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- A gateway account is its address and user; the name is only what people call it.
  CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    username TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    stopped_reason TEXT,
    wait_until INTEGER, -- the gateway asked to wait until then
    new_doubts INTEGER NOT NULL DEFAULT 0, -- since the start of the worker or the last resume
    resumes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (url, username)
  ) STRICT;

  CREATE TABLE batch (
    id TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id),
    source TEXT NOT NULL CHECK (source IN ('file', 'queue')),
    source_day TEXT, -- of a queue batch
    stage TEXT NOT NULL CHECK (stage IN ('draft', 'open')), -- a draft is invisible to everyone
    hold TEXT NOT NULL DEFAULT 'none' CHECK (hold IN ('none', 'paused', 'cancelled')),
    hold_reason TEXT,
    file_name TEXT,
    file_sha256 TEXT,
    run_key TEXT,
    reading TEXT NOT NULL,
    columns TEXT NOT NULL, -- JSON
    sandbox INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    rows INTEGER NOT NULL,
    money_warned INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0, -- grows with every change of a row
    results_path TEXT,
    results_version INTEGER
  ) STRICT;
  CREATE INDEX batch_file ON batch (file_sha256, account_id);
  CREATE UNIQUE INDEX batch_queue_day ON batch (account_id, source_day) WHERE source = 'queue' AND hold <> 'cancelled';

  -- One line per row that came in. Amounts are minor units; times are epoch milliseconds.
  CREATE TABLE instruction (
    id INTEGER PRIMARY KEY, -- grows in the order of arrival, which is the order in which rows of one order are sent
    batch_id TEXT NOT NULL REFERENCES batch (id),
    account_id INTEGER NOT NULL,
    row_no INTEGER NOT NULL,
    line INTEGER NOT NULL,
    cells TEXT NOT NULL, -- JSON
    state TEXT NOT NULL,
    reference TEXT NOT NULL,
    holds_reference INTEGER NOT NULL, -- 0 for INVALID and DUPLICATE rows and for those a later attempt has taken over
    run_key TEXT,
    operation TEXT,
    amount_minor INTEGER,
    currency TEXT,
    order_id TEXT,
    order_key TEXT, -- order id without leading zeros
    vault_id TEXT,
    xtl_order_id TEXT, -- as sent
    save_card INTEGER NOT NULL DEFAULT 0,
    details TEXT, -- JSON
    execute_at INTEGER,
    content TEXT,
    lookalike TEXT,
    due_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    ever_in_doubt INTEGER NOT NULL DEFAULT 0,
    forbidden_count INTEGER NOT NULL DEFAULT 0,
    claimed_at INTEGER,
    send_by INTEGER,
    answer_by INTEGER,
    sent_at INTEGER,
    completed_at INTEGER,
    reason TEXT,
    transaction_id TEXT,
    answered_order_id TEXT,
    answered_record_id TEXT,
    answered_amount TEXT,
    answered_currency TEXT,
    answered_vault_id TEXT,
    answered_xtl_order_id TEXT,
    warning TEXT,
    money_warning INTEGER NOT NULL DEFAULT 0,
    duplicate_of INTEGER, -- id of the row it repeats
    supersedes INTEGER, -- id of the row whose reference it took over
    UNIQUE (batch_id, row_no)
  ) STRICT;
  CREATE INDEX instruction_due ON instruction (batch_id, due_at, row_no) WHERE state = 'READY';
  CREATE INDEX instruction_sending ON instruction (id) WHERE state = 'SENDING';
  CREATE INDEX instruction_doubt ON instruction (id) WHERE state = 'IN_DOUBT';
  CREATE INDEX instruction_open_order ON instruction (account_id, order_key, state, id)
    WHERE order_key IS NOT NULL AND state IN ('READY', 'SENDING', 'IN_DOUBT');
  CREATE UNIQUE INDEX instruction_reference ON instruction (account_id, reference) WHERE holds_reference = 1;
  CREATE INDEX instruction_history ON instruction (reference);
  CREATE UNIQUE INDEX instruction_transaction ON instruction (account_id, transaction_id) WHERE transaction_id IS NOT NULL;
  -- Not narrowed by state: every move would then touch a random page of it.
  CREATE INDEX instruction_lookalike ON instruction (account_id, lookalike) WHERE lookalike IS NOT NULL;
  CREATE INDEX instruction_duplicate ON instruction (batch_id) WHERE state = 'DUPLICATE';
  CREATE INDEX instruction_money_warning ON instruction (batch_id) WHERE money_warning = 1;

  -- Every move a row made: who, when, which attempt, what the gateway said.
  CREATE TABLE move (
    id INTEGER PRIMARY KEY,
    row_id INTEGER NOT NULL REFERENCES instruction (id),
    attempt INTEGER NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    cause TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    http_status INTEGER,
    answer TEXT,
    reason TEXT
  ) STRICT;
  CREATE INDEX move_row ON move (row_id);

  -- What people and the machine did to batches and accounts.
  CREATE TABLE act (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    what TEXT NOT NULL,
    batch_id TEXT,
    account_id INTEGER,
    reason TEXT
  ) STRICT;

  -- Rows and amounts per state, kept in the transaction of every move, so that a status costs the same for any size.
  CREATE TABLE tally (
    batch_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    currency TEXT NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    amount_minor INTEGER NOT NULL,
    PRIMARY KEY (batch_id, operation, currency, state)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tally_ready ON tally (batch_id) WHERE state = 'READY' AND count > 0;

  -- Messages that were not taken.
  CREATE TABLE refusal (
    source_id TEXT PRIMARY KEY,
    account_name TEXT NOT NULL,
    reasons TEXT NOT NULL, -- JSON
    text TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE account ADD COLUMN rate REAL; -- requests per second, as a person turned the dial; null: as configured
  ALTER TABLE account ADD COLUMN condition TEXT; -- JSON: what the worker last said of the way to this account

  -- Of the rows due first only so many are claimed until a person has looked: those up to this one.
  ALTER TABLE batch ADD COLUMN canary_rows INTEGER; -- how many were asked for; null: no canary, or resumed since
  ALTER TABLE batch ADD COLUMN canary_execute_at INTEGER;
  ALTER TABLE batch ADD COLUMN canary_row_no INTEGER;
  ALTER TABLE batch ADD COLUMN max_declined INTEGER; -- per cent of the last 100 answered rows; null: no limit
  ALTER TABLE batch ADD COLUMN recent_answers TEXT NOT NULL DEFAULT ''; -- of those, oldest first: A or D
  ALTER TABLE batch ADD COLUMN late_answers INTEGER NOT NULL DEFAULT 0; -- that no person has looked at yet
  ALTER TABLE batch ADD COLUMN results_move INTEGER; -- the newest move when the results were written

  ALTER TABLE instruction ADD COLUMN noted_at INTEGER; -- when a late answer was noted beside the row's state
  `,
  `
  -- What is recorded of an order: its sale, its captures, its refunds.
  CREATE INDEX instruction_order ON instruction (account_id, order_key) WHERE order_key IS NOT NULL;
  CREATE INDEX instruction_sale ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND operation IN ('CAPTURE', 'CAUTH') AND state = 'APPROVED';
  `,
  ODD_REFERENCES,
  `
  -- Who acted, in parts: JSON. Rows of an earlier version have the text alone.
  CREATE TABLE actor (id INTEGER PRIMARY KEY, parts TEXT NOT NULL UNIQUE) STRICT;
  ALTER TABLE act ADD COLUMN actor_id INTEGER REFERENCES actor (id);
  ALTER TABLE act ADD COLUMN details TEXT; -- JSON: names of files and columns, and counts
  ALTER TABLE move ADD COLUMN actor_id INTEGER REFERENCES actor (id);
  ALTER TABLE batch ADD COLUMN actor_id INTEGER REFERENCES actor (id);

  -- The log of acts is read by time.
  CREATE INDEX act_at ON act (at);
  CREATE INDEX act_card ON act (details) WHERE what = 'card-refused';
  CREATE INDEX move_resolved ON move (at) WHERE cause = 'resolve';
  CREATE INDEX batch_created ON batch (created_at);
  `,
  `
  -- One line for each commit that made a move or an act: up to which ones, and the hash over them and the line before.
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    last_move INTEGER NOT NULL,
    last_act INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  -- What an earlier version recorded is not in it.
  INSERT INTO chain SELECT 1, coalesce((SELECT max(id) FROM move), 0), coalesce((SELECT max(id) FROM act), 0), '';
  `,
  `
  ALTER TABLE batch ADD COLUMN purged_at INTEGER; -- when the last purge of it began
  ALTER TABLE batch ADD COLUMN purged_to INTEGER NOT NULL DEFAULT 0; -- rows up to this one have been purged
  `,
  `
  -- See continuity.ts.
  CREATE TABLE even_commit (slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, word INTEGER NOT NULL) STRICT;
  CREATE TABLE odd_commit (slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, word INTEGER NOT NULL) STRICT;
  `,
  `
  CREATE TABLE recorded (
    id INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL,
    first_row INTEGER NOT NULL, -- 0: with the batch's own columns
    last_row INTEGER NOT NULL,
    digest TEXT NOT NULL, -- empty: an earlier version recorded it and kept none
    UNIQUE (batch_id, first_row)
  ) STRICT;
  INSERT INTO recorded (batch_id, first_row, last_row, digest)
    SELECT id, 0, coalesce((SELECT max(row_no) FROM instruction i WHERE i.batch_id = b.id), 0), ''
    FROM batch b WHERE stage = 'open' ORDER BY rowid;
  ALTER TABLE chain ADD COLUMN form INTEGER NOT NULL DEFAULT 1; -- what its hash is over: see texts/record/chain.ts
  ALTER TABLE chain ADD COLUMN last_recorded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE move ADD COLUMN answered TEXT; -- JSON: transaction id and what else the row took from the answer
  `,
  `
  -- Rows of a draft that lost its batch held their references permanently. What was visible once is in "recorded" and stays.
  DELETE FROM instruction WHERE batch_id NOT IN (SELECT id FROM batch) AND batch_id NOT IN (SELECT batch_id FROM recorded);
  `,
  'ALTER TABLE account ADD COLUMN doubt_rest INTEGER NOT NULL DEFAULT 0; -- ms: how long a request in doubt rests, as the worker that sent it said',
  XTL_INDEX,
  'ALTER TABLE account ADD COLUMN held_reason TEXT; -- too many doubts: nothing is claimed until a person has looked',
  `
  CREATE INDEX instruction_plain_transaction ON instruction (account_id, ltrim(transaction_id, '0')) WHERE transaction_id IS NOT NULL;
  `,
  "CREATE INDEX instruction_submitted_again ON instruction (batch_id) WHERE holds_reference = 0 AND state IN ('FAILED', 'CANCELLED');",
  `
  -- When the machine had booted, by the wall clock that held when the row came into doubt last. See clock-steps.ts.
  CREATE TABLE doubted (row_id INTEGER PRIMARY KEY, boot TEXT NOT NULL, booted_at INTEGER NOT NULL) STRICT;
  `,
  `
  ALTER TABLE instruction ADD COLUMN card TEXT; -- what may be kept of the card that the row has details of: BIN-last four-MM/YYYY
  ALTER TABLE instruction ADD COLUMN answered_customer_id TEXT; -- by the vault
  ALTER TABLE instruction ADD COLUMN answered_card TEXT; -- by the vault, as in card
  ALTER TABLE batch ADD COLUMN needs_file INTEGER NOT NULL DEFAULT 0; -- it has rows with card details, which only its file has
  `,
  `
  CREATE INDEX instruction_stored ON instruction (account_id, ltrim(answered_vault_id, '0'))
    WHERE operation = 'VAULT_CREATE' AND answered_vault_id IS NOT NULL;
  `,
  'ALTER TABLE instruction ADD COLUMN arrived_at INTEGER; -- of a message; null: it came with its batch',
  `
  -- One row for each process that works. In this engine there is one; what a dead one left goes with the next one's first beat.
  CREATE TABLE heartbeat (
    worker TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    command TEXT NOT NULL,
    since INTEGER NOT NULL,
    batch_id TEXT, -- null: it works off all
    beat_at INTEGER NOT NULL, -- its last tick, or nearly
    activity TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE instruction ADD COLUMN reattempt_of TEXT; -- the reference of the first attempt at a charge that was declined
  ALTER TABLE batch ADD COLUMN fed_back INTEGER NOT NULL DEFAULT 0; -- its file was results, handed in again
  CREATE INDEX instruction_reattempt ON instruction (account_id, reattempt_of) WHERE reattempt_of IS NOT NULL;
  CREATE INDEX instruction_duplicate_of ON instruction (duplicate_of) WHERE duplicate_of IS NOT NULL;
  CREATE INDEX instruction_card_event ON instruction (account_id, ltrim(vault_id, '0')) WHERE ${IS_CARD_EVENT};
  `,
  MADE_REFERENCES,
  GIVEN_REFERENCES,
  TARGET_INDEX,
  PLAIN_TARGET_INDEX,
  PLANNER,
  'ALTER TABLE batch ADD COLUMN archived_in TEXT; -- the file in which its record was before it was purged, without its folder',
  `
  -- A batch is sent only once so many people have approved it.
  ALTER TABLE batch ADD COLUMN approvals_needed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE batch ADD COLUMN approvals_given INTEGER NOT NULL DEFAULT 0; -- rows of approval
  ALTER TABLE batch ADD COLUMN approval_until INTEGER; -- then it expires; null: it needs none
  ALTER TABLE batch ADD COLUMN submitter TEXT; -- one identity; null: an earlier version recorded it
  ALTER TABLE batch ADD COLUMN lookalikes_allowed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX instruction_authorization ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND operation = 'AUTH';
  CREATE INDEX batch_awaiting ON batch (approval_until) WHERE approvals_needed > approvals_given;
  CREATE TABLE approval (
    batch_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    actor_id INTEGER NOT NULL,
    by TEXT NOT NULL,
    digest TEXT NOT NULL, -- of what was shown
    at INTEGER NOT NULL,
    PRIMARY KEY (batch_id, identity)
  ) STRICT, WITHOUT ROWID;
  `,
  'CREATE INDEX refusal_at ON refusal (at);',
  KEYS,
  EVENTS,
  `
  -- What a batch of messages took by the hour, in which of them last: of a batch that is older than 24 hours, only what came since is summed.
  ALTER TABLE batch ADD COLUMN arrivals TEXT; -- JSON; null: nothing, or an earlier version took it
  ALTER TABLE batch ADD COLUMN arrived_hour INTEGER; -- its beginning, in epoch milliseconds
  CREATE INDEX batch_arrived ON batch (account_id, arrived_hour) WHERE arrived_hour IS NOT NULL;
  `,
  PEOPLE,
  'CREATE INDEX act_batch ON act (batch_id) WHERE batch_id IS NOT NULL;',
  PROVIDED_PEOPLE,
  `
  -- That a row in doubt be sent again: one person's word, until another one's.
  CREATE TABLE proposal (
    row_id INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL,
    attempt INTEGER NOT NULL, -- that is in doubt: of another one it is void
    identity TEXT NOT NULL, -- of who proposed it
    actor_id INTEGER NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  `,
]
