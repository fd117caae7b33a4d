-- What each tool call of a run used, by the digest of its tool. Estimates of later calls read the newest ones.

CREATE TABLE calls (
    seq               INTEGER PRIMARY KEY AUTOINCREMENT,
    run               INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    tool_digest       TEXT    NOT NULL,
    fuel              INTEGER NOT NULL,
    peak_memory_bytes INTEGER NOT NULL,
    wall_us           INTEGER NOT NULL,
    cpu_us            INTEGER NOT NULL,
    bytes_in          INTEGER NOT NULL,
    bytes_out         INTEGER NOT NULL,
    host_calls        INTEGER NOT NULL
) STRICT;
CREATE INDEX calls_by_tool ON calls (tool_digest, seq);
CREATE INDEX calls_by_run ON calls (run);
