-- `seq` is the order in which things were created. Times come from a clock that may jump, so they only sort, and `seq`
-- decides between equal ones. JSON is kept as text: it is read as a whole and never searched.

CREATE TABLE threads (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    user_id      TEXT,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    config       TEXT    NOT NULL,
    -- Sequence of the last observation. Counted here so that a deleted one would not be given again.
    observations INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX threads_by_update ON threads (updated, seq);
CREATE INDEX threads_by_user ON threads (user_id, updated, seq);

CREATE TABLE messages (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT    NOT NULL UNIQUE,
    thread    INTEGER NOT NULL REFERENCES threads (seq) ON DELETE CASCADE,
    role      TEXT    NOT NULL,
    content   TEXT    NOT NULL,
    timestamp INTEGER NOT NULL,
    metadata  TEXT    NOT NULL
) STRICT;
CREATE INDEX messages_by_time ON messages (thread, timestamp, seq);

CREATE TABLE observations (
    id        TEXT    NOT NULL,
    thread    INTEGER NOT NULL REFERENCES threads (seq) ON DELETE CASCADE,
    sequence  INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    trace_id  TEXT,
    parent_id TEXT,
    type      TEXT    NOT NULL,
    content   TEXT    NOT NULL,
    metadata  TEXT    NOT NULL,
    UNIQUE (thread, sequence)
) STRICT;

CREATE TABLE states (
    thread   INTEGER PRIMARY KEY REFERENCES threads (seq) ON DELETE CASCADE,
    version  INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    data     TEXT    NOT NULL
) STRICT;

CREATE TABLE runs (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    trace_id TEXT    NOT NULL UNIQUE,
    thread   INTEGER NOT NULL REFERENCES threads (seq) ON DELETE CASCADE,
    query    TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    started  INTEGER NOT NULL,
    ended    INTEGER,
    model    TEXT,
    summary  TEXT    NOT NULL,
    -- Sequence of the last journal entry, and bytes of all payloads.
    entries  INTEGER NOT NULL DEFAULT 0,
    bytes    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_start ON runs (started, seq);
CREATE INDEX runs_by_thread ON runs (thread, started, seq);
CREATE INDEX runs_by_status ON runs (status, started, seq);

CREATE TABLE journal (
    run       INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    sequence  INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    UNIQUE (run, sequence)
) STRICT;
