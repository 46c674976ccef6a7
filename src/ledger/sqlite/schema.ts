// The tables of a ledger in SQLite, as `make-tables.ts` makes them.
//
// Amounts are in minor units, times in epoch milliseconds, and flags are 0 or 1, unless a comment says otherwise. JSON is kept as text.

import { IS_CARD_EVENT, keepsCard, STORED_UNDER } from '../texts/review/reattempts.ts'
import { PLANNER } from './planner.ts'

/** Any change of the tables takes another number. Those below 38 belong to ledgers that this program never opens. */
export const SCHEMA_VERSION = 41

export const SCHEMA = `
  -- What the ledger knows of itself: its id, the identity of its file, the approval policy.
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- Gateway accounts. An account is its address and user; the name is only what people call it.
  CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    username TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    stopped_reason TEXT, -- null: it is not stopped
    tried_credentials TEXT, -- digests, with blanks between them: refused, or tried in place of refused ones, since a person resumed it
    wait_until INTEGER, -- the gateway asked to wait until then
    new_doubts INTEGER NOT NULL DEFAULT 0, -- since the start of the worker or the last resume
    resumes INTEGER NOT NULL DEFAULT 0,
    rate REAL, -- requests per second, as a person turned the dial; null: as configured
    condition TEXT, -- JSON: what the worker last said of the way to this account
    doubt_rest INTEGER NOT NULL DEFAULT 0, -- how long a request in doubt rests, as the worker that sent it said
    held_reason TEXT, -- too many doubts: nothing is claimed until a person has looked
    environment TEXT, -- live or test; null: nobody has said
    clock_ahead INTEGER, -- by how far the clock was ahead of the gateway's at the last answer; null: it is believed
    clock_ahead_at INTEGER, -- by that clock
    clock_meant INTEGER, -- how far ahead a person said is right
    UNIQUE (url, username)
  ) STRICT;

  -- Who acted, in parts.
  CREATE TABLE actor (
    id INTEGER PRIMARY KEY,
    parts TEXT NOT NULL UNIQUE -- JSON
  ) STRICT;

  -- What counts towards the limit of a day: a memory of the record, for accounts that have a limit.
  CREATE TABLE limited_day (
    account_id INTEGER NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('out', 'in')),
    currency TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    time_zone TEXT NOT NULL,
    limit_minor INTEGER NOT NULL,
    amount_minor INTEGER, -- claimed, and executed or in doubt; null: to be added up from the record
    PRIMARY KEY (account_id, direction, currency, starts_at)
  ) STRICT, WITHOUT ROWID;

  -- Run keys as they were spelled first, by the form that all spellings of one have: see domain/run-key.ts.
  CREATE TABLE run_key (account_id INTEGER NOT NULL, form TEXT NOT NULL, spelling TEXT NOT NULL, PRIMARY KEY (account_id, form))
    STRICT, WITHOUT ROWID;

  -- One line for each file that was submitted, and for each day of messages.
  CREATE TABLE batch (
    id TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id),
    source TEXT NOT NULL CHECK (source IN ('file', 'queue')),
    source_day TEXT, -- of a batch of messages: its day, or the name that a service gave it
    stage TEXT NOT NULL CHECK (stage IN ('draft', 'open')), -- a draft is invisible to everyone
    hold TEXT NOT NULL DEFAULT 'none' CHECK (hold IN ('none', 'paused', 'cancelled')),
    hold_reason TEXT,
    file_name TEXT,
    file_sha256 TEXT,
    run_key TEXT,
    reading TEXT NOT NULL, -- JSON: how the file was read
    columns TEXT NOT NULL, -- JSON: the names of its columns
    sandbox INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    rows INTEGER NOT NULL,
    money_warned INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0, -- grows with every change of a row
    results_path TEXT, -- where its results were written last
    results_version INTEGER, -- its version then
    canary_rows INTEGER, -- only so many are claimed until a person has looked; null: no canary, or resumed since
    canary_execute_at INTEGER, -- of the last row of the canary, in the order in which rows are due
    canary_row_no INTEGER, -- of the same row
    expires_after INTEGER, -- rows that name no expires_at expire so many milliseconds after they were handed in or may be sent; null: they do not
    max_declined INTEGER, -- per cent of the last 100 answered rows; null: no limit
    recent_answers TEXT NOT NULL DEFAULT '', -- of those, oldest first: A or D
    short_refunds TEXT NOT NULL DEFAULT '{"since":0,"at":[]}', -- JSON: which of its answered refunds were declined because their orders had too little left
    late_answers INTEGER NOT NULL DEFAULT 0, -- that no person has looked at yet
    results_move INTEGER, -- the newest move when the results were written
    actor_id INTEGER REFERENCES actor (id),
    purged_at INTEGER, -- when the last purge of it began
    purged_to INTEGER NOT NULL DEFAULT 0, -- rows up to this one have been purged
    needs_file INTEGER NOT NULL DEFAULT 0, -- it has rows with card details, which only its file has
    fed_back INTEGER NOT NULL DEFAULT 0, -- its file was results, handed in again
    approvals_needed INTEGER NOT NULL DEFAULT 0, -- it is sent only once so many people have approved it
    approvals_given INTEGER NOT NULL DEFAULT 0, -- rows of the table approval
    approval_until INTEGER, -- then it expires; null: it needs none
    submitter TEXT, -- the identity of who submitted it; null: it is a draft
    lookalikes_allowed INTEGER NOT NULL DEFAULT 0, -- how many look-alikes a person took
    capture_tolerance INTEGER NOT NULL DEFAULT 0, -- per cent by which captures may exceed their authorization
    arrivals TEXT, -- JSON: what a batch of messages took by the hour; null: nothing
    repeats_at INTEGER, -- all of it was recorded before, longer ago than look-alikes count: when the last of that was sent; null: not so
    arrived_hour INTEGER -- the beginning of the last hour in which it took a message
  ) STRICT;
  CREATE INDEX batch_file ON batch (file_sha256, account_id);
  CREATE UNIQUE INDEX batch_queue_day ON batch (account_id, source_day) WHERE source = 'queue' AND hold <> 'cancelled';
  CREATE INDEX batch_created ON batch (created_at);
  CREATE INDEX batch_cancelled ON batch (account_id, created_at) WHERE hold = 'cancelled';
  CREATE INDEX batch_awaiting ON batch (approval_until) WHERE approvals_needed > approvals_given;
  -- Of a batch that is older than 24 hours, only what came since is summed.
  CREATE INDEX batch_arrived ON batch (account_id, arrived_hour) WHERE arrived_hour IS NOT NULL;

  -- Who approved a batch.
  CREATE TABLE approval (
    batch_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    actor_id INTEGER NOT NULL,
    by TEXT NOT NULL,
    digest TEXT NOT NULL, -- of what was shown
    at INTEGER NOT NULL,
    PRIMARY KEY (batch_id, identity)
  ) STRICT, WITHOUT ROWID;

  -- The keys by which messages of a batch came.
  CREATE TABLE batch_key (
    batch_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    PRIMARY KEY (batch_id, key_id)
  ) STRICT, WITHOUT ROWID;

  -- One line for each row that came in, in a file or as a message.
  CREATE TABLE instruction (
    id INTEGER PRIMARY KEY, -- grows in the order of arrival, which is the order in which rows of one order are sent
    batch_id TEXT NOT NULL REFERENCES batch (id),
    account_id INTEGER NOT NULL,
    row_no INTEGER NOT NULL, -- counts the rows of the batch
    line INTEGER NOT NULL, -- of the file
    cells TEXT NOT NULL, -- JSON: as they stood in the file
    state TEXT NOT NULL,
    reference TEXT NOT NULL,
    holds_reference INTEGER NOT NULL, -- 0 for INVALID and DUPLICATE rows and for those a later attempt has taken over
    run_key TEXT,
    operation TEXT,
    amount_minor INTEGER,
    currency TEXT,
    order_id TEXT,
    order_key TEXT, -- rows with the same one are sent one at a time; null: any order will do
    vault_id TEXT,
    xtl_order_id TEXT, -- as sent
    save_card INTEGER NOT NULL DEFAULT 0,
    details TEXT, -- JSON: what the gateway is told of the customer
    execute_at INTEGER,
    expires_at INTEGER, -- from this moment on it is not sent any more; null: it does not expire
    content TEXT, -- what makes two rows under one reference the same instruction
    lookalike TEXT, -- what makes two rows under different references look alike
    due_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    ever_in_doubt INTEGER NOT NULL DEFAULT 0,
    forbidden_count INTEGER NOT NULL DEFAULT 0, -- answers 403
    claimed_at INTEGER,
    send_by INTEGER, -- sent by then, or not in this attempt
    answer_by INTEGER, -- answered by then, or in doubt
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
    money_warning INTEGER NOT NULL DEFAULT 0, -- the warning is about money that moved
    duplicate_of INTEGER, -- id of the row it repeats
    supersedes INTEGER, -- id of the row whose reference it took over
    noted_at INTEGER, -- when a late answer was noted beside the row's state
    card TEXT, -- what may be kept of the card that the row has details of: BIN-last four-MM/YYYY
    answered_customer_id TEXT, -- by the vault
    answered_card TEXT, -- by the vault, as in card
    arrived_at INTEGER, -- of a message; null: it came with its batch
    reattempt_of TEXT, -- the reference of the first attempt at a charge that was declined
    made INTEGER NOT NULL DEFAULT 0, -- the reference was made by this program and does not come from the file
    given TEXT, -- the reference in its file, where it names an instruction that is recorded under another one
    accepted_limit INTEGER, -- of a whole day: a person has accepted that the row is above it; null: nobody was asked
    UNIQUE (batch_id, row_no)
  ) STRICT;
  -- With execute_at, so that rows which wait for the clock are passed over without being read.
  CREATE INDEX instruction_due ON instruction (batch_id, due_at, row_no, execute_at) WHERE state = 'READY';
  CREATE INDEX instruction_expiry ON instruction (expires_at) WHERE state = 'READY' AND expires_at IS NOT NULL;
  CREATE INDEX instruction_sending ON instruction (id) WHERE state = 'SENDING';
  CREATE INDEX instruction_doubt ON instruction (id) WHERE state = 'IN_DOUBT';
  CREATE INDEX instruction_open_order ON instruction (account_id, order_key, state, id)
    WHERE order_key IS NOT NULL AND state IN ('READY', 'SENDING', 'IN_DOUBT');
  -- One instruction holds a reference, and a transaction settles one.
  CREATE UNIQUE INDEX instruction_reference ON instruction (account_id, reference) WHERE holds_reference = 1;
  CREATE UNIQUE INDEX instruction_transaction ON instruction (account_id, transaction_id) WHERE transaction_id IS NOT NULL;
  CREATE INDEX instruction_plain_transaction ON instruction (account_id, ltrim(transaction_id, '0')) WHERE transaction_id IS NOT NULL;
  CREATE INDEX instruction_history ON instruction (reference);
  CREATE INDEX instruction_given ON instruction (account_id, given) WHERE given IS NOT NULL;
  CREATE INDEX instruction_xtl ON instruction (account_id, ltrim(xtl_order_id, '0')) WHERE xtl_order_id IS NOT NULL;
  -- Not narrowed by state: every move would then touch a random page of it.
  CREATE INDEX instruction_lookalike ON instruction (account_id, lookalike) WHERE lookalike IS NOT NULL;
  -- Rows of one card that name no order, whatever they ask for: by the expression in texts/review/corrections.ts.
  CREATE INDEX instruction_target ON instruction (
    account_id, coalesce(ltrim(order_id, '0'), '') || ' ' || coalesce(ltrim(vault_id, '0'), '') || ' ' || coalesce(substr(card, 1, 11), ''))
    WHERE order_key IS NULL AND lookalike IS NOT NULL;
  -- What is recorded of an order: its sale, its captures, its refunds.
  CREATE INDEX instruction_order ON instruction (account_id, order_key) WHERE order_key IS NOT NULL;
  CREATE INDEX instruction_sale ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND operation IN ('CAPTURE', 'CAUTH') AND state = 'APPROVED';
  CREATE INDEX instruction_authorization ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE operation = 'AUTH';
  CREATE INDEX instruction_declined ON instruction (account_id, ltrim(answered_order_id, '0'))
    WHERE answered_order_id IS NOT NULL AND state = 'DECLINED';
  CREATE INDEX instruction_stored ON instruction (account_id, ${STORED_UNDER})
    WHERE ${keepsCard('')};
  CREATE INDEX instruction_stored_card ON instruction (account_id, card) WHERE ${keepsCard('')};
  CREATE INDEX instruction_card_event ON instruction (account_id, ltrim(vault_id, '0')) WHERE ${IS_CARD_EVENT};
  CREATE INDEX instruction_duplicate ON instruction (batch_id) WHERE state = 'DUPLICATE';
  CREATE INDEX instruction_duplicate_of ON instruction (duplicate_of) WHERE duplicate_of IS NOT NULL;
  CREATE INDEX instruction_invalid ON instruction (batch_id) WHERE state = 'INVALID';
  CREATE INDEX instruction_expired ON instruction (batch_id) WHERE state = 'CANCELLED' AND expires_at IS NOT NULL;
  CREATE INDEX instruction_money_warning ON instruction (batch_id) WHERE money_warning = 1;
  CREATE INDEX instruction_submitted_again ON instruction (batch_id) WHERE holds_reference = 0 AND state IN ('FAILED', 'CANCELLED');
  CREATE INDEX instruction_reattempt ON instruction (account_id, reattempt_of) WHERE reattempt_of IS NOT NULL;

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
    reason TEXT,
    actor_id INTEGER REFERENCES actor (id), -- null: the machine
    answered TEXT -- JSON: transaction id and what else the row took from the answer
  ) STRICT;
  CREATE INDEX move_row ON move (row_id);
  CREATE INDEX move_resolved ON move (at) WHERE cause = 'resolve';

  -- What people and the machine did to batches and accounts.
  CREATE TABLE act (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    what TEXT NOT NULL,
    batch_id TEXT,
    account_id INTEGER,
    reason TEXT,
    actor_id INTEGER REFERENCES actor (id), -- null: the machine
    details TEXT -- JSON: names of files and columns, and counts
  ) STRICT;
  CREATE INDEX act_at ON act (at);
  CREATE INDEX act_batch ON act (batch_id) WHERE batch_id IS NOT NULL;
  CREATE INDEX act_card ON act (details) WHERE what = 'card-refused';

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

  -- When the machine had booted, by the wall clock that held when the row came into doubt last. See clock-steps.ts.
  CREATE TABLE doubted (row_id INTEGER PRIMARY KEY, boot TEXT NOT NULL, booted_at INTEGER NOT NULL) STRICT;

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

  -- A digest over each batch and its rows as they were recorded: see texts/record/recorded.ts.
  CREATE TABLE recorded (
    id INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL,
    first_row INTEGER NOT NULL, -- 0: with the batch's own columns
    last_row INTEGER NOT NULL,
    digest TEXT NOT NULL,
    UNIQUE (batch_id, first_row)
  ) STRICT;

  -- One line for each commit that made a move or an act: up to which ones, and the hash over them and the line before.
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    last_move INTEGER NOT NULL,
    last_act INTEGER NOT NULL,
    hash TEXT NOT NULL,
    last_recorded INTEGER NOT NULL -- up to which digest of what was submitted
  ) STRICT;
  INSERT INTO chain (id, last_move, last_act, hash, last_recorded) VALUES (1, 0, 0, '', 0);

  -- Messages that were not taken, by the id of their job.
  CREATE TABLE refusal (
    source_id TEXT PRIMARY KEY,
    account_name TEXT NOT NULL,
    reasons TEXT NOT NULL, -- JSON
    text TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refusal_at ON refusal (at);

  -- Two rings of marks, one for each commit, in turn: see copies/continuity.ts.
  CREATE TABLE even_commit (slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, word INTEGER NOT NULL) STRICT;
  CREATE TABLE odd_commit (slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, word INTEGER NOT NULL) STRICT;

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

  -- Keys of services.
  CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL, -- of the whole key
    scopes TEXT NOT NULL, -- JSON: words
    merchants TEXT, -- JSON: names; null: those of all
    environment TEXT, -- of them all when it was made; null: none, or several
    networks TEXT, -- JSON: CIDRs; null: anywhere
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    makers TEXT NOT NULL, -- JSON: every identity of whoever made it
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;

  -- Requests of services that had their effect: written in its own transaction.
  CREATE TABLE api_request (
    holder TEXT NOT NULL, -- of the key
    target TEXT NOT NULL, -- method and path
    idempotency_key TEXT NOT NULL,
    sha256 TEXT NOT NULL, -- of the body
    subject TEXT NOT NULL, -- JSON: what it came to
    at INTEGER NOT NULL,
    PRIMARY KEY (holder, target, idempotency_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_request_at ON api_request (at);

  -- People of the console.
  CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE, -- with which they sign in; never given twice
    grants TEXT NOT NULL, -- JSON: roles, with who gave each and when
    waiting TEXT NOT NULL, -- JSON: those that a second person has not confirmed yet
    makers TEXT NOT NULL, -- JSON: identities of whoever made the account, or gave a link to it
    confirmed_by TEXT, -- the second person, in words
    signed_in TEXT NOT NULL, -- JSON: from which addresses and when, the latest
    password TEXT, -- digest by argon2id, with its parameters; null: none was chosen
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    revoked_at INTEGER,
    issuer TEXT, -- of the identity provider by which they come; null: by a password
    subject TEXT -- as that provider knows them
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX person_identity ON person (issuer, subject) WHERE issuer IS NOT NULL;

  -- Links by which people choose a password.
  CREATE TABLE invitation (
    sha256 TEXT PRIMARY KEY, -- of the secret in the link
    person_id TEXT NOT NULL UNIQUE, -- '': the first administrator, who is nobody yet
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- People who are signed in.
  CREATE TABLE session (
    sha256 TEXT PRIMARY KEY, -- of the secret in the cookie
    id TEXT NOT NULL UNIQUE, -- nobody gets in by it
    person_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    proved_at INTEGER NOT NULL, -- the password was shown
    address TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX session_person ON session (person_id);

  -- Names under which somebody failed to sign in.
  CREATE TABLE sign_in_try (
    name_sha256 TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    until INTEGER NOT NULL -- before it no password is looked at
  ) STRICT, WITHOUT ROWID;

  -- What is told of batches, accounts and refused messages; of rows their moves tell. It is noted by who reads events.
  CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    after_move INTEGER NOT NULL, -- the last move there was
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    batch_id TEXT,
    account_id INTEGER,
    endpoint TEXT, -- null: for all
    said TEXT NOT NULL -- JSON
  ) STRICT;
  CREATE INDEX event_after ON event (after_move, id);

  -- Up to which line of each table events were noted.
  CREATE TABLE event_position (name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- What the last event of a batch said.
  CREATE TABLE told_batch (
    batch_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    late_answers INTEGER NOT NULL,
    state TEXT NOT NULL,
    stale INTEGER -- the version of the results that were said to be stale
  ) STRICT, WITHOUT ROWID;

  -- Up to which move and event each reader of events has come.
  CREATE TABLE told_up_to (reader TEXT PRIMARY KEY, move INTEGER NOT NULL, event INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Messages that were refused, in the order of their refusal. said: as JSON, what their event says beside the reasons.
  CREATE TABLE refused (id INTEGER PRIMARY KEY, source_id TEXT NOT NULL UNIQUE, said TEXT NOT NULL, reply_to TEXT) STRICT;

  -- The queues that are told what becomes of a row.
  CREATE TABLE reply_to (row_id INTEGER NOT NULL, queue TEXT NOT NULL, PRIMARY KEY (row_id, queue)) STRICT, WITHOUT ROWID;

  -- Where webhooks go.
  CREATE TABLE endpoint (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    earlier_secret TEXT, -- also signs for some time after a rotation
    rotated_at INTEGER,
    types TEXT, -- JSON; null: all but those of single rows
    merchant TEXT, -- null: of all
    private INTEGER NOT NULL, -- private addresses are allowed
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_why TEXT,
    failing_since INTEGER,
    move INTEGER NOT NULL, -- up to which its events were taken
    event INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What each endpoint was or will be sent.
  CREATE TABLE delivery (
    endpoint_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    attempts INTEGER NOT NULL,
    next_at INTEGER,
    created_at INTEGER NOT NULL,
    at INTEGER, -- of the last attempt
    http_status INTEGER,
    said TEXT, -- the answer
    replay TEXT, -- what it was before a person asked for one more attempt
    PRIMARY KEY (endpoint_id, event_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (endpoint_id, next_at) WHERE state = 'pending';
  CREATE INDEX delivery_created ON delivery (created_at);

  ${PLANNER}
`
