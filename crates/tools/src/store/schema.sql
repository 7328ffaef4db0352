CREATE TABLE IF NOT EXISTS plans (
    id         TEXT PRIMARY KEY,
    caller     TEXT NOT NULL,
    tool       TEXT NOT NULL,
    arguments  TEXT NOT NULL, -- hash of the caller's arguments
    digest     TEXT NOT NULL,
    plan       TEXT NOT NULL, -- frozen, as JSON
    state      TEXT NOT NULL,
    expires    INTEGER NOT NULL,
    decided_by TEXT,
    seal       TEXT,          -- over the decision, so that a row edited by hand approves nothing
    outcome    TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS plans_by_call ON plans (caller, tool, arguments, state);
CREATE INDEX IF NOT EXISTS plans_by_expiry ON plans (expires);

CREATE TABLE IF NOT EXISTS leases (
    caller  TEXT NOT NULL,
    guest   TEXT NOT NULL,
    expires INTEGER NOT NULL,
    seal    TEXT NOT NULL,    -- over all of it, as with plans
    PRIMARY KEY (caller, guest)
) STRICT;

CREATE TABLE IF NOT EXISTS audit (
    seq   INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,      -- as JSON, exactly the bytes that the link covers
    link  TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS handles (
    plan         TEXT PRIMARY KEY,
    worker       TEXT NOT NULL,    -- who sends the steps; holds a lock of this name as long as it lives
    begun        INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    cancelled_by TEXT,
    insists      INTEGER           -- the second decision: 1 stop it all the same, 0 let it end
) STRICT;

CREATE TABLE IF NOT EXISTS steps (
    plan     TEXT NOT NULL,
    position INTEGER NOT NULL,
    outcome  TEXT NOT NULL,        -- as JSON
    before   TEXT,                 -- how things stood right before it was sent, as JSON
    PRIMARY KEY (plan, position)
) STRICT;

CREATE TABLE IF NOT EXISTS looks ( -- inside guests, while they are taken
    id      TEXT PRIMARY KEY,
    worker  TEXT NOT NULL,         -- as with handles
    summary TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS baselines (
    name   TEXT PRIMARY KEY,
    taken  INTEGER NOT NULL,
    estate TEXT NOT NULL           -- guests by cluster and number, as JSON, without secrets
) STRICT;

CREATE TABLE IF NOT EXISTS meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS tokens (
    id      TEXT PRIMARY KEY,  -- the part that is no secret
    name    TEXT NOT NULL UNIQUE,
    hash    TEXT NOT NULL,     -- of the part that is
    bounds  TEXT NOT NULL,     -- as JSON
    person  INTEGER NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    seal    TEXT NOT NULL      -- over all of it: a row written by hand lets nobody in
) STRICT;

CREATE TABLE IF NOT EXISTS sessions (
    id      TEXT PRIMARY KEY,  -- a keyed hash of what the browser holds
    token   TEXT,              -- the open part of the token that was brought along; none: the code of a single machine
    name    TEXT NOT NULL,
    expires INTEGER NOT NULL,
    seal    TEXT NOT NULL      -- over all of it, as with tokens
) STRICT;
