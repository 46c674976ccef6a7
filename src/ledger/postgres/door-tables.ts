// The tables of doors, as migrations: they are published, so they are never edited.

/** Keys of services, and requests that had their effect. */
export const KEYS = `
  CREATE TABLE api_key (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    merchants TEXT COLLATE "C",
    networks TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    makers TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_used_at BIGINT
  );
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
  `

/** People of the console, their links and sessions. */
export const PEOPLE = `
  CREATE TABLE person (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    grants TEXT COLLATE "C" NOT NULL,
    password TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    revoked_at BIGINT
  );
  CREATE TABLE invitation (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    person_id TEXT COLLATE "C" NOT NULL UNIQUE,
    until BIGINT NOT NULL
  );
  CREATE TABLE session (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    person_id TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    proved_at BIGINT NOT NULL,
    address TEXT COLLATE "C"
  );
  CREATE TABLE sign_in_try (
    name_sha256 TEXT COLLATE "C" PRIMARY KEY,
    failures BIGINT NOT NULL,
    until BIGINT NOT NULL
  );
  CREATE INDEX session_person ON session (person_id);
  `

export const PROVIDED_PEOPLE = `
  ALTER TABLE person ADD COLUMN issuer TEXT COLLATE "C";
  ALTER TABLE person ADD COLUMN subject TEXT COLLATE "C";
  CREATE UNIQUE INDEX person_identity ON person (issuer, subject) WHERE issuer IS NOT NULL;
  `
