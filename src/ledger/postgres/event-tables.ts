// The tables of what other programs are told, as a migration: it is published, so it is never edited. What they hold is said where SQLite
// makes its own.

import { NOT_TOLD } from '../texts/events/not-told.ts'

export const EVENTS = `
 
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
  CREATE TABLE event_position (name TEXT COLLATE "C" PRIMARY KEY, last BIGINT NOT NULL);
  CREATE TABLE told_batch (
    batch_id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    late_answers BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    stale BIGINT
  );
  CREATE TABLE told_up_to (reader TEXT COLLATE "C" PRIMARY KEY, move BIGINT NOT NULL, event BIGINT NOT NULL);
 
  CREATE TABLE refused (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source_id TEXT COLLATE "C" NOT NULL UNIQUE, reference TEXT COLLATE "C", reply_to TEXT COLLATE "C");
 
  CREATE TABLE reply_to (row_id BIGINT NOT NULL, queue TEXT COLLATE "C" NOT NULL, PRIMARY KEY (row_id, queue));
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
  ${NOT_TOLD}
`
