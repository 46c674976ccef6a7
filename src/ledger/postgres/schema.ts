// The tables of a ledger on a server, as `make-tables.ts` makes them. They are those of SQLite, with the same names and columns, so that the
// scripts run on both: `../sqlite/schema.ts` says what the columns mean. What differs:
// - instructions and moves are partitioned by id, so that old ones can be taken away as a whole. What must be unique over all
//   partitions is therefore kept in tables of its own, by triggers;
// - a batch has a `rowid`, which tells the order in which batches were made;
// - several processes work at once, on several machines: the tables `worker` to `claim` belong to them.

import { IS_CARD_EVENT, keepsCard, STORED_UNDER } from '../texts/review/reattempts.ts'

/** Any change of the tables takes another number. Those below 15 belong to ledgers that this program never opens. */
export const SCHEMA_VERSION = 19

/** A partition is taken away as a whole, and its indexes stay in memory while rows are added to it. */
export const ROWS_PER_PARTITION = 16_000_000

const TABLES = `
  -- The number of these tables, and since when.
  CREATE TABLE migration (version BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp());

  -- What the ledger knows of itself: its id, its server and database, the approval policy.
  CREATE TABLE meta (key TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL);

  -- Gateway accounts.
  CREATE TABLE account (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    url TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    stopped_reason TEXT,
    tried_credentials TEXT,
    wait_until BIGINT,
    new_doubts BIGINT NOT NULL DEFAULT 0,
    resumes BIGINT NOT NULL DEFAULT 0,
    rate DOUBLE PRECISION,
    condition TEXT,
    doubt_rest BIGINT NOT NULL DEFAULT 0,
    held_reason TEXT,
    environment TEXT,
    clock_ahead BIGINT,
    clock_ahead_at BIGINT,
    clock_meant BIGINT,
    UNIQUE (url, username)
  );

  -- What counts towards the limit of a day: a memory of the record, for accounts that have a limit.
  CREATE TABLE limited_day (
    account_id BIGINT NOT NULL,
    direction TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    time_zone TEXT COLLATE "C" NOT NULL,
    limit_minor BIGINT NOT NULL,
    amount_minor BIGINT,
    PRIMARY KEY (account_id, direction, currency, starts_at)
  ) WITH (fillfactor = 50);

  -- Who acted, in parts.
  CREATE TABLE actor (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parts TEXT COLLATE "C" NOT NULL UNIQUE);

  -- Run keys as they were spelled first, by the form that all spellings of one have: see domain/run-key.ts.
  CREATE TABLE run_key (
    account_id BIGINT NOT NULL, form TEXT COLLATE "C" NOT NULL, spelling TEXT COLLATE "C" NOT NULL, PRIMARY KEY (account_id, form));

  -- One line for each file that was submitted, and for each day of messages.
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
    expires_after BIGINT,
    max_declined BIGINT,
    recent_answers TEXT NOT NULL DEFAULT '',
    short_refunds TEXT NOT NULL DEFAULT '{"since":0,"at":[]}',
    late_answers BIGINT NOT NULL DEFAULT 0,
    results_move BIGINT,
    actor_id BIGINT,
    purged_at BIGINT,
    purged_to BIGINT NOT NULL DEFAULT 0,
    needs_file BIGINT NOT NULL DEFAULT 0,
    fed_back BIGINT NOT NULL DEFAULT 0,
    approvals_needed BIGINT NOT NULL DEFAULT 0,
    approvals_given BIGINT NOT NULL DEFAULT 0,
    approval_until BIGINT,
    submitter TEXT COLLATE "C",
    lookalikes_allowed BIGINT NOT NULL DEFAULT 0,
    capture_tolerance BIGINT NOT NULL DEFAULT 0,
    arrivals TEXT COLLATE "C",
    repeats_at BIGINT,
    arrived_hour BIGINT
  );
  CREATE INDEX batch_file ON batch (file_sha256, account_id);
  CREATE UNIQUE INDEX batch_queue_day ON batch (account_id, source_day) WHERE source = 'queue' AND hold <> 'cancelled';
  CREATE INDEX batch_created ON batch (created_at);
  CREATE INDEX batch_cancelled ON batch (account_id, created_at) WHERE hold = 'cancelled';
  CREATE INDEX batch_awaiting ON batch (approval_until) WHERE approvals_needed > approvals_given;
  CREATE INDEX batch_arrived ON batch (account_id, arrived_hour) WHERE arrived_hour IS NOT NULL;

  -- Who approved a batch.
  CREATE TABLE approval (
    batch_id TEXT COLLATE "C" NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    actor_id BIGINT NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (batch_id, identity)
  );

  -- The keys by which messages of a batch came.
  CREATE TABLE batch_key (
    batch_id TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (batch_id, key_id)
  );

  -- One line for each row that came in, in a file or as a message.
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
    expires_at BIGINT,
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
    given TEXT COLLATE "C",
    accepted_limit BIGINT
  ) PARTITION BY RANGE (id);
  CREATE INDEX instruction_row ON instruction (batch_id, row_no);
  -- With execute_at, so that rows which wait for the clock are passed over without being read.
  CREATE INDEX instruction_due ON instruction (batch_id, due_at, row_no, execute_at) WHERE state = 'READY';
  CREATE INDEX instruction_expiry ON instruction (expires_at) WHERE state = 'READY' AND expires_at IS NOT NULL;
  CREATE INDEX instruction_sending ON instruction (id) WHERE state = 'SENDING';
  CREATE INDEX instruction_doubt ON instruction (id) WHERE state = 'IN_DOUBT';
  CREATE INDEX instruction_open_order ON instruction (account_id, order_key, state, id)
    WHERE order_key IS NOT NULL AND state IN ('READY', 'SENDING', 'IN_DOUBT');
  CREATE INDEX instruction_reference ON instruction (reference, account_id);
  CREATE INDEX instruction_transaction ON instruction (account_id, ltrim(transaction_id, '0')) WHERE transaction_id IS NOT NULL;
  CREATE INDEX instruction_given ON instruction (account_id, given) WHERE given IS NOT NULL;
  CREATE INDEX instruction_xtl ON instruction (account_id, ltrim(xtl_order_id, '0')) WHERE xtl_order_id IS NOT NULL;
  CREATE INDEX instruction_lookalike ON instruction (account_id, lookalike) WHERE lookalike IS NOT NULL;
  CREATE INDEX instruction_target ON instruction (
    account_id, (coalesce(ltrim(order_id, '0'), '') || ' ' || coalesce(ltrim(vault_id, '0'), '') || ' ' || coalesce(substr(card, 1, 11), '')))
    WHERE order_key IS NULL AND lookalike IS NOT NULL;
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

  -- Every move a row made: who, when, which attempt, what the gateway said.
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

  -- What people and the machine did to batches and accounts.
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
  CREATE INDEX act_batch ON act (batch_id) WHERE batch_id IS NOT NULL;
  CREATE INDEX act_card ON act (id) WHERE what = 'card-refused';

  -- That a row in doubt be sent again: one person's word, until another one's.
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

  -- Rows and amounts per state, kept in the transaction of every move.
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

  -- A digest over each batch and its rows as they were recorded.
  CREATE TABLE recorded (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id TEXT COLLATE "C" NOT NULL,
    first_row BIGINT NOT NULL,
    last_row BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    UNIQUE (batch_id, first_row)
  );

  -- One line for the commits since the line before: up to which move and act, and the hash over them and that line.
  CREATE TABLE chain (
    id BIGINT PRIMARY KEY,
    last_move BIGINT NOT NULL,
    last_act BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    last_recorded BIGINT NOT NULL
  );
  INSERT INTO chain (id, last_move, last_act, hash, last_recorded) VALUES (1, 0, 0, '', 0);

  -- Messages that were not taken, by the id of their job.
  CREATE TABLE refusal (
    source_id TEXT COLLATE "C" PRIMARY KEY,
    account_name TEXT COLLATE "C" NOT NULL,
    reasons TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
  );
  CREATE INDEX refusal_at ON refusal (at);

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

  -- Who sends for an account: one worker at a time. The term is another whenever it changes hands, and is part of a key: so that waits for
  -- the claims of the term before, which hold that key.
  CREATE TABLE sender (
    account_id BIGINT PRIMARY KEY,
    term BIGINT NOT NULL,
    owner BIGINT, -- a worker, with its place and its lease; null: it was given back
    asked_by BIGINT, -- a worker whose rows the owner does not send
    asked_until TIMESTAMPTZ,
    UNIQUE (account_id, term)
  ) WITH (fillfactor = 50);

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

  -- Keys of services.
  CREATE TABLE api_key (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    merchants TEXT COLLATE "C",
    environment TEXT COLLATE "C",
    networks TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    makers TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_used_at BIGINT
  );

  -- Requests of services that had their effect.
  CREATE TABLE api_request (
    holder TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (holder, target, idempotency_key)
  );
  CREATE INDEX api_request_at ON api_request (at);

  -- People of the console.
  CREATE TABLE person (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    grants TEXT COLLATE "C" NOT NULL,
    waiting TEXT COLLATE "C" NOT NULL,
    makers TEXT COLLATE "C" NOT NULL,
    confirmed_by TEXT COLLATE "C",
    signed_in TEXT COLLATE "C" NOT NULL,
    password TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    revoked_at BIGINT,
    issuer TEXT COLLATE "C",
    subject TEXT COLLATE "C"
  );
  CREATE UNIQUE INDEX person_identity ON person (issuer, subject) WHERE issuer IS NOT NULL;

  -- Links by which people choose a password.
  CREATE TABLE invitation (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    person_id TEXT COLLATE "C" NOT NULL UNIQUE,
    until BIGINT NOT NULL
  );

  -- People who are signed in.
  CREATE TABLE session (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    person_id TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    proved_at BIGINT NOT NULL,
    address TEXT COLLATE "C"
  );
  CREATE INDEX session_person ON session (person_id);

  -- Names under which somebody failed to sign in.
  CREATE TABLE sign_in_try (
    name_sha256 TEXT COLLATE "C" PRIMARY KEY,
    failures BIGINT NOT NULL,
    until BIGINT NOT NULL
  );

  -- What is told of batches, accounts and refused messages; of rows their moves tell.
  CREATE TABLE event (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    after_move BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    batch_id TEXT COLLATE "C",
    account_id BIGINT,
    endpoint TEXT COLLATE "C",
    said TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX event_after ON event (after_move, id);

  -- Up to which line of each table events were noted.
  CREATE TABLE event_position (name TEXT COLLATE "C" PRIMARY KEY, last BIGINT NOT NULL);

  -- What the last event of a batch said.
  CREATE TABLE told_batch (
    batch_id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    late_answers BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    stale BIGINT
  );

  -- Up to which move and event each reader of events has come.
  CREATE TABLE told_up_to (reader TEXT COLLATE "C" PRIMARY KEY, move BIGINT NOT NULL, event BIGINT NOT NULL);

  -- Messages that were refused, in the order of their refusal. said: as JSON, what their event says beside the reasons.
  CREATE TABLE refused (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id TEXT COLLATE "C" NOT NULL UNIQUE,
    said TEXT COLLATE "C" NOT NULL,
    reply_to TEXT COLLATE "C"
  );

  -- The queues that are told what becomes of a row.
  CREATE TABLE reply_to (row_id BIGINT NOT NULL, queue TEXT COLLATE "C" NOT NULL, PRIMARY KEY (row_id, queue));

  -- Where webhooks go.
  CREATE TABLE endpoint (
    id TEXT COLLATE "C" PRIMARY KEY,
    url TEXT COLLATE "C" NOT NULL,
    secret TEXT COLLATE "C" NOT NULL,
    earlier_secret TEXT COLLATE "C",
    rotated_at BIGINT,
    types TEXT COLLATE "C",
    merchant TEXT COLLATE "C",
    private BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    disabled_why TEXT COLLATE "C",
    failing_since BIGINT,
    move BIGINT NOT NULL,
    event BIGINT NOT NULL
  );

  -- What each endpoint was or will be sent.
  CREATE TABLE delivery (
    endpoint_id TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
    attempts BIGINT NOT NULL,
    next_at BIGINT,
    created_at BIGINT NOT NULL,
    at BIGINT,
    http_status BIGINT,
    said TEXT COLLATE "C",
    replay TEXT COLLATE "C",
    PRIMARY KEY (endpoint_id, event_id)
  );
  CREATE INDEX delivery_due ON delivery (endpoint_id, next_at) WHERE state = 'pending';
  CREATE INDEX delivery_created ON delivery (created_at);
`

/** What the server does by itself: keys over all partitions, the ends of claims, new partitions. */
const FUNCTIONS = `
  -- Whether a transaction keeps the keys itself: see KEEPS_KEYS in session.ts.
  CREATE FUNCTION keeps_keys() RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT coalesce(current_setting('tranche.keeps_keys', true), '') = 'on' $$;

  CREATE FUNCTION end_claim() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM claim WHERE row_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER ends AFTER UPDATE OF state ON instruction FOR EACH ROW
    WHEN (OLD.state = 'SENDING' AND NEW.state <> 'SENDING' AND NOT keeps_keys()) EXECUTE FUNCTION end_claim();

  -- A row of a draft whose reference is taken is left out, which its submit notices. Any other is refused by the key.
  CREATE FUNCTION take_reference() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO held_reference VALUES (NEW.account_id, NEW.reference, NEW.id) ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN NEW; END IF;
    IF TG_OP = 'INSERT' AND EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND stage = 'draft') THEN RETURN NULL; END IF;
    RAISE unique_violation USING MESSAGE = 'the reference is held by another row';
  END $$;
  CREATE FUNCTION leave_reference() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM held_reference WHERE account_id = OLD.account_id AND reference = OLD.reference AND row_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER takes BEFORE INSERT ON instruction FOR EACH ROW WHEN (NEW.holds_reference = 1) EXECUTE FUNCTION take_reference();
  CREATE TRIGGER takes_over BEFORE UPDATE OF holds_reference ON instruction FOR EACH ROW
    WHEN (NEW.holds_reference = 1 AND OLD.holds_reference = 0) EXECUTE FUNCTION take_reference();
  CREATE TRIGGER leaves AFTER UPDATE OF holds_reference ON instruction FOR EACH ROW
    WHEN (NEW.holds_reference = 0 AND OLD.holds_reference = 1) EXECUTE FUNCTION leave_reference();
  CREATE TRIGGER goes AFTER DELETE ON instruction FOR EACH ROW WHEN (OLD.holds_reference = 1) EXECUTE FUNCTION leave_reference();

  CREATE FUNCTION note_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM seen_transaction WHERE account_id = OLD.account_id AND transaction_id = ltrim(OLD.transaction_id, '0') AND row_id = OLD.id;
    IF NEW.transaction_id IS NOT NULL THEN
      INSERT INTO seen_transaction VALUES (NEW.account_id, ltrim(NEW.transaction_id, '0'), NEW.id);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER settles AFTER UPDATE OF transaction_id ON instruction FOR EACH ROW
    WHEN (NEW.transaction_id IS DISTINCT FROM OLD.transaction_id AND NOT keeps_keys()) EXECUTE FUNCTION note_transaction();

  -- A list in JSON, as SQLite reads it.
  CREATE FUNCTION json_each(list TEXT, OUT key BIGINT, OUT value TEXT) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$
    SELECT ordinality - 1, element COLLATE "C" FROM json_array_elements_text(list::json) WITH ORDINALITY AS e (element, ordinality)
  $$;

  -- Whether the partition that the newest id falls into or the one after it is missing. What falls into none would be refused.
  CREATE FUNCTION lacks_partitions(size BIGINT) RETURNS boolean LANGUAGE sql AS $$
    SELECT bool_or(to_regclass(format('%I', p.parent || '_' || p.newest / size + one)) IS NULL)
    FROM (SELECT 'instruction' AS parent, last_value AS newest FROM instruction_id UNION ALL SELECT 'move', last_value FROM move_id) AS p,
      generate_series(0, 1) AS one
  $$;

  -- A table is made by itself and attached then: a table that is made as a partition would wait for every reading, and keep all others waiting.
  CREATE FUNCTION make_partitions(size BIGINT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    parent TEXT;
    newest BIGINT;
    part BIGINT;
    name TEXT;
  BEGIN
    FOREACH parent IN ARRAY ARRAY['instruction', 'move'] LOOP
      EXECUTE format('SELECT last_value FROM %I', parent || '_id') INTO newest;
      FOR part IN newest / size .. newest / size + 1 LOOP
        name := parent || '_' || part;
        IF to_regclass(format('%I', name)) IS NULL THEN
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL, CHECK (id >= %s AND id < %s))', name, parent, part * size, (part + 1) * size);
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, name, part * size, (part + 1) * size);
        END IF;
      END LOOP;
    END LOOP;
  END $$;
`

export const SCHEMA = `
  ${TABLES}
  ${FUNCTIONS}
  SELECT make_partitions(${ROWS_PER_PARTITION});
  INSERT INTO migration (version) VALUES (${SCHEMA_VERSION});
`
