// The tables of what other programs are told, as a migration: it is published, so it is never edited.

import { NOT_TOLD } from '../texts/events/not-told.ts'

export const EVENTS = `
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
  CREATE TABLE event_position (name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE told_batch (
    batch_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    late_answers INTEGER NOT NULL,
    state TEXT NOT NULL,
    stale INTEGER -- the version of the results that were said to be stale
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE told_up_to (reader TEXT PRIMARY KEY, move INTEGER NOT NULL, event INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- Messages that were refused, in the order of their refusal.
  CREATE TABLE refused (id INTEGER PRIMARY KEY, source_id TEXT NOT NULL UNIQUE, reference TEXT, reply_to TEXT) STRICT;
  -- The queues that are told what becomes of a row.
  CREATE TABLE reply_to (row_id INTEGER NOT NULL, queue TEXT NOT NULL, PRIMARY KEY (row_id, queue)) STRICT, WITHOUT ROWID;
  CREATE TABLE endpoint (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    earlier_secret TEXT,
    rotated_at INTEGER,
    types TEXT, -- JSON; null: all but those of single rows
    merchant TEXT,
    private INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_why TEXT,
    failing_since INTEGER,
    move INTEGER NOT NULL, -- up to which its events were taken
    event INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
    said TEXT,
    replay TEXT, -- what it was before a person asked for one more attempt
    PRIMARY KEY (endpoint_id, event_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (endpoint_id, next_at) WHERE state = 'pending';
  CREATE INDEX delivery_created ON delivery (created_at);
  ${NOT_TOLD}
`
