// The tables of the ledger in PostgreSQL, as numbered migrations: what is published is never edited, only added to. They are those of
// SQLite, with the same names and columns, so that the scripts run on both. What differs:
// - instructions and moves are partitioned by id, so that old ones can be taken away as a whole. What must be unique over all
//   partitions is therefore kept in tables of its own, by triggers;
// - a batch has a `rowid`, which tells the order in which batches were made.

import { IS_CARD_EVENT } from '../texts/review/reattempts.ts'
import { KEYS, PEOPLE, PROVIDED_PEOPLE } from './door-tables.ts'
import { EVENTS } from './event-tables.ts'
import { FUNCTIONS, GROUPS_KEEP_KEYS } from './functions.ts'

/** A partition is taken away as a whole, and its indexes stay in memory while rows are added to it. */
export const ROWS_PER_PARTITION = 16_000_000

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL);

  CREATE TABLE account (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    url TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    stopped_reason TEXT,
    wait_until BIGINT,
    new_doubts BIGINT NOT NULL DEFAULT 0,
    resumes BIGINT NOT NULL DEFAULT 0,
    rate DOUBLE PRECISION,
    condition TEXT,
    doubt_rest BIGINT NOT NULL DEFAULT 0,
    held_reason TEXT,
    UNIQUE (url, username)
  );

  CREATE TABLE actor (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parts TEXT COLLATE "C" NOT NULL UNIQUE);

  CREATE TABLE batch (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id BIGINT NOT NULL,
    source TEXT COLLATE "C" NOT NULL CHECK (source IN ('file', 'queue')),
    source_day TEXT COLLATE "C",
    stage TEXT COLLATE "C" NOT NULL CHECK (stage IN ('draft', 'open')),
    hold TEXT COLLATE "C" NOT NULL DEFAULT 'none' CHECK (hold IN ('none', 'paused', 'cancelled')),
    hold_reason TEXT,
    file_name TEXT,
    file_sha256 TEXT COLLATE "C",
    run_key TEXT COLLATE "C",
    reading TEXT COLLATE "C" NOT NULL,
    columns TEXT COLLATE "C" NOT NULL,
    sandbox BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    rows BIGINT NOT NULL,
    money_warned BIGINT NOT NULL DEFAULT 0,
    version BIGINT NOT NULL DEFAULT 0,
    results_path TEXT,
    results_version BIGINT,
    canary_rows BIGINT,
    canary_execute_at BIGINT,
    canary_row_no BIGINT,
    max_declined BIGINT,
    recent_answers TEXT NOT NULL DEFAULT '',
    late_answers BIGINT NOT NULL DEFAULT 0,
    results_move BIGINT,
    actor_id BIGINT,
    purged_at BIGINT,
    purged_to BIGINT NOT NULL DEFAULT 0,
    needs_file BIGINT NOT NULL DEFAULT 0,
    fed_back BIGINT NOT NULL DEFAULT 0
  );
  CREATE INDEX batch_file ON batch (file_sha256, account_id);
  CREATE INDEX batch_created ON batch (created_at);
  CREATE UNIQUE INDEX batch_queue_day ON batch (account_id, source_day) WHERE source = 'queue' AND hold <> 'cancelled';

  CREATE SEQUENCE instruction_id;
  CREATE TABLE instruction (
    id BIGINT NOT NULL DEFAULT nextval('instruction_id') PRIMARY KEY,
    batch_id TEXT COLLATE "C" NOT NULL,
    account_id BIGINT NOT NULL,
    row_no BIGINT NOT NULL,
    line BIGINT NOT NULL,
    cells TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    holds_reference BIGINT NOT NULL,
    run_key TEXT COLLATE "C",
    operation TEXT COLLATE "C",
    amount_minor BIGINT,
    currency TEXT COLLATE "C",
    order_id TEXT COLLATE "C",
    order_key TEXT COLLATE "C",
    vault_id TEXT COLLATE "C",
    xtl_order_id TEXT COLLATE "C",
    save_card BIGINT NOT NULL DEFAULT 0,
    details TEXT COLLATE "C",
    execute_at BIGINT,
    content TEXT COLLATE "C",
    lookalike TEXT COLLATE "C",
    due_at BIGINT NOT NULL,
    attempt BIGINT NOT NULL DEFAULT 0,
    ever_in_doubt BIGINT NOT NULL DEFAULT 0,
    forbidden_count BIGINT NOT NULL DEFAULT 0,
    claimed_at BIGINT,
    send_by BIGINT,
    answer_by BIGINT,
    sent_at BIGINT,
    completed_at BIGINT,
    reason TEXT COLLATE "C",
    transaction_id TEXT COLLATE "C",
    answered_order_id TEXT COLLATE "C",
    answered_record_id TEXT COLLATE "C",
    answered_amount TEXT COLLATE "C",
    answered_currency TEXT COLLATE "C",
    answered_vault_id TEXT COLLATE "C",
    answered_xtl_order_id TEXT COLLATE "C",
    warning TEXT COLLATE "C",
    money_warning BIGINT NOT NULL DEFAULT 0,
    duplicate_of BIGINT,
    supersedes BIGINT,
    noted_at BIGINT,
    card TEXT COLLATE "C",
    answered_customer_id TEXT COLLATE "C",
    answered_card TEXT COLLATE "C",
    arrived_at BIGINT,
    reattempt_of TEXT COLLATE "C",
    made BIGINT NOT NULL DEFAULT 0,
    given TEXT COLLATE "C"
  ) PARTITION BY RANGE (id);
  CREATE INDEX instruction_row ON instruction (batch_id, row_no);
  CREATE INDEX instruction_due ON instruction (batch_id, due_at, row_no) WHERE state = 'READY';
  CREATE INDEX instruction_sending ON instruction (id) WHERE state = 'SENDING';
  CREATE INDEX instruction_doubt ON instruction (id) WHERE state = 'IN_DOUBT';
  CREATE INDEX instruction_open_order ON instruction (account_id, order_key, state, id)
    WHERE order_key IS NOT NULL AND state IN ('READY', 'SENDING', 'IN_DOUBT');
  CREATE INDEX instruction_reference ON instruction (reference, account_id);
  CREATE INDEX instruction_transaction ON instruction (account_id, ltrim(transaction_id, '0')) WHERE transaction_id IS NOT NULL;
  CREATE INDEX instruction_lookalike ON instruction (account_id, lookalike) WHERE lookalike IS NOT NULL;
  CREATE INDEX instruction_duplicate ON instruction (batch_id) WHERE state = 'DUPLICATE';
  CREATE INDEX instruction_duplicate_of ON instruction (duplicate_of) WHERE duplicate_of IS NOT NULL;
  CREATE INDEX instruction_money_warning ON instruction (batch_id) WHERE money_warning = 1;
  CREATE INDEX instruction_order ON instruction (account_id, order_key) WHERE order_key IS NOT NULL;
  CREATE INDEX instruction_sale ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND operation IN ('CAPTURE', 'CAUTH') AND state = 'APPROVED';
  CREATE INDEX instruction_xtl ON instruction (account_id, ltrim(xtl_order_id, '0')) WHERE xtl_order_id IS NOT NULL;
  CREATE INDEX instruction_submitted_again ON instruction (batch_id) WHERE holds_reference = 0 AND state IN ('FAILED', 'CANCELLED');
  CREATE INDEX instruction_stored ON instruction (account_id, ltrim(answered_vault_id, '0'))
    WHERE operation = 'VAULT_CREATE' AND answered_vault_id IS NOT NULL;
  CREATE INDEX instruction_reattempt ON instruction (account_id, reattempt_of) WHERE reattempt_of IS NOT NULL;
  CREATE INDEX instruction_card_event ON instruction (account_id, ltrim(vault_id, '0')) WHERE ${IS_CARD_EVENT};
  CREATE INDEX instruction_given ON instruction (account_id, given) WHERE given IS NOT NULL;
  CREATE INDEX instruction_target ON instruction (
    account_id, (coalesce(ltrim(order_id, '0'), '') || ' ' || coalesce(ltrim(vault_id, '0'), '') || ' ' || coalesce(substr(card, 1, 11), '')))
    WHERE order_key IS NULL AND lookalike IS NOT NULL;

  CREATE SEQUENCE move_id;
  CREATE TABLE move (
    id BIGINT NOT NULL DEFAULT nextval('move_id') PRIMARY KEY,
    row_id BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    from_state TEXT COLLATE "C" NOT NULL,
    to_state TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    http_status BIGINT,
    answer TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    actor_id BIGINT,
    answered TEXT COLLATE "C",
    worker BIGINT, -- of a claim: whose it was, and which of its claims
    claim_no BIGINT
  ) PARTITION BY RANGE (id);
  CREATE INDEX move_row ON move (row_id);
  CREATE INDEX move_resolved ON move (at) WHERE cause = 'resolve';

  CREATE TABLE act (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    batch_id TEXT COLLATE "C",
    account_id BIGINT,
    reason TEXT COLLATE "C",
    actor_id BIGINT,
    details TEXT COLLATE "C"
  );
  CREATE INDEX act_at ON act (at);
  CREATE INDEX act_card ON act (id) WHERE what = 'card-refused';

  CREATE TABLE tally (
    batch_id TEXT COLLATE "C" NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL CHECK (count >= 0),
    amount_minor NUMERIC NOT NULL,
    PRIMARY KEY (batch_id, operation, currency, state)
  ) WITH (fillfactor = 50);
  CREATE INDEX tally_ready ON tally (batch_id) WHERE state = 'READY' AND count > 0;

  CREATE TABLE refusal (
    source_id TEXT COLLATE "C" PRIMARY KEY,
    account_name TEXT COLLATE "C" NOT NULL,
    reasons TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
  );

  CREATE TABLE odd_reference (
    account_id BIGINT NOT NULL,
    as_read TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, as_read, reference)
  );

  CREATE TABLE chain (
    id BIGINT PRIMARY KEY,
    last_move BIGINT NOT NULL,
    last_act BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    form BIGINT NOT NULL DEFAULT 1,
    last_recorded BIGINT NOT NULL DEFAULT 0
  );
  INSERT INTO chain (id, last_move, last_act, hash) VALUES (1, 0, 0, '');

  CREATE TABLE recorded (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id TEXT COLLATE "C" NOT NULL,
    first_row BIGINT NOT NULL,
    last_row BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    UNIQUE (batch_id, first_row)
  );

  -- One row for each start of a process that works. Its id is random, so that none comes again in a database that was put back.
  CREATE TABLE worker (
    id BIGINT PRIMARY KEY,
    place TEXT COLLATE "C", -- where it works, one process at a time; null: nobody can tell that it is dead but by its lease
    name TEXT COLLATE "C" NOT NULL, -- host and process
    host TEXT COLLATE "C" NOT NULL,
    pid BIGINT NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    batch_id TEXT COLLATE "C", -- null: it works off all
    beat_at BIGINT NOT NULL,
    activity TEXT COLLATE "C" NOT NULL,
    merchants TEXT COLLATE "C", -- a list in JSON; null: it has not said
    lease_until TIMESTAMPTZ NOT NULL, -- by the clock of the server, like all of these
    fenced_at TIMESTAMPTZ, -- its lease was over: it claims nothing until it has joined again
    ended_at TIMESTAMPTZ
  ) WITH (fillfactor = 50);

  -- What each worker may use of an account. rate: null is no limit.
  CREATE TABLE share (
    account_id BIGINT NOT NULL,
    worker BIGINT NOT NULL,
    rate DOUBLE PRECISION,
    places BIGINT NOT NULL,
    asked_rate DOUBLE PRECISION, -- as it is configured
    asked_places BIGINT NOT NULL,
    rests BIGINT NOT NULL,
    PRIMARY KEY (account_id, worker)
  ) WITH (fillfactor = 50);
  -- What was given up, and may still be in use.
  CREATE TABLE freed (account_id BIGINT NOT NULL, rate DOUBLE PRECISION, places BIGINT NOT NULL, until TIMESTAMPTZ NOT NULL);
  CREATE INDEX freed_account ON freed (account_id);

  -- Renewed while a worker runs; a state that is put back has one that is over. Those of the last days.
  CREATE TABLE epoch (
    no BIGINT PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
  );

  -- The last transaction of each lane that was committed.
  CREATE TABLE lane (id BIGINT PRIMARY KEY, last BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()) WITH (fillfactor = 50);

  -- What is SENDING, and whose it is. Of one order there is one.
  CREATE TABLE claim (
    row_id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL,
    order_key TEXT COLLATE "C",
    worker BIGINT NOT NULL,
    claim_no BIGINT NOT NULL, -- counted by the worker
    answer_by TIMESTAMPTZ NOT NULL, -- by the clock of the server
    UNIQUE (account_id, order_key)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  -- Which row holds a reference, and which one a transaction has settled, told without zeros in front: for ever, over all partitions.
  CREATE TABLE held_reference (
    account_id BIGINT NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    row_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, reference)
  );
  CREATE TABLE seen_transaction (
    account_id BIGINT NOT NULL,
    transaction_id TEXT COLLATE "C" NOT NULL,
    row_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, transaction_id)
  );

  ${FUNCTIONS}
  SELECT make_partitions(${ROWS_PER_PARTITION});
  `,
  'ALTER TABLE batch ADD COLUMN archived_in TEXT; -- the file in which its record was before it was purged, without its folder',
  `
  ALTER TABLE batch ADD COLUMN approvals_needed BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE batch ADD COLUMN approvals_given BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE batch ADD COLUMN approval_until BIGINT;
  ALTER TABLE batch ADD COLUMN submitter TEXT COLLATE "C";
  ALTER TABLE batch ADD COLUMN lookalikes_allowed BIGINT NOT NULL DEFAULT 0;
  CREATE INDEX instruction_authorization ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND operation = 'AUTH';
  CREATE INDEX batch_awaiting ON batch (approval_until) WHERE approvals_needed > approvals_given;
  CREATE TABLE approval (
    batch_id TEXT COLLATE "C" NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    actor_id BIGINT NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (batch_id, identity)
  );
  `,
  'CREATE INDEX refusal_at ON refusal (at);',
  KEYS,
  EVENTS,
  `
  ALTER TABLE batch ADD COLUMN arrivals TEXT COLLATE "C";
  ALTER TABLE batch ADD COLUMN arrived_hour BIGINT;
  CREATE INDEX batch_arrived ON batch (account_id, arrived_hour) WHERE arrived_hour IS NOT NULL;
  `,
  PEOPLE,
  'CREATE INDEX act_batch ON act (batch_id) WHERE batch_id IS NOT NULL;',
  PROVIDED_PEOPLE,
  `
  CREATE TABLE proposal (
    row_id BIGINT PRIMARY KEY,
    batch_id TEXT COLLATE "C" NOT NULL,
    attempt BIGINT NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    actor_id BIGINT NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
  );
  `,
  GROUPS_KEEP_KEYS,
  `
  INSERT INTO meta (key, value)
  SELECT 'database', (SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || CAST(CAST('meta' AS regclass) AS oid)
  WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'ledger_id') ON CONFLICT DO NOTHING;
  `,
]
