// The tables of doors, as migrations: they are published, so they are never edited.

/** Keys of services, and requests that had their effect. */
export const KEYS = `
  CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL, -- of the whole key
    scopes TEXT NOT NULL, -- JSON: words
    merchants TEXT, -- JSON: names; null: those of all
    networks TEXT, -- JSON: CIDRs; null: anywhere
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    makers TEXT NOT NULL, -- JSON: every identity of whoever made it
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  -- Requests that had their effect: written in its own transaction.
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
  `

/** People of the console, their links and sessions. */
export const PEOPLE = `
  CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE, -- with which they sign in; never given twice
    grants TEXT NOT NULL, -- JSON: roles, with who gave each and when
    password TEXT, -- digest by argon2id, with its parameters; null: none was chosen
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE invitation (
    sha256 TEXT PRIMARY KEY,
    person_id TEXT NOT NULL UNIQUE, -- '': the first administrator, who is nobody yet
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE session (
    sha256 TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE, -- nobody gets in by it
    person_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    proved_at INTEGER NOT NULL, -- the password was shown
    address TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sign_in_try (
    name_sha256 TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    until INTEGER NOT NULL -- before it no password is looked at
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX session_person ON session (person_id);
  `

export const PROVIDED_PEOPLE = `
  ALTER TABLE person ADD COLUMN issuer TEXT; -- of the identity provider by which they come; null: by a password
  ALTER TABLE person ADD COLUMN subject TEXT; -- as that provider knows them
  CREATE UNIQUE INDEX person_identity ON person (issuer, subject) WHERE issuer IS NOT NULL;
  `
