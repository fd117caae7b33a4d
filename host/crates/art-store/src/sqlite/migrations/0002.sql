-- Bytes that the journal of a run names by their digest: what its tools logged, and the files beside their outputs.

CREATE TABLE blobs (
    run    INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    digest TEXT    NOT NULL,
    bytes  BLOB    NOT NULL,
    UNIQUE (run, digest)
) STRICT;
