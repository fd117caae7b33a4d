-- Leases of threads, the digest chain of journals, and blobs that are stored once for all runs.

-- The holder is the identifier of an opened store. A released lease has none.
ALTER TABLE threads ADD COLUMN lease_holder TEXT;
ALTER TABLE threads ADD COLUMN lease_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;
CREATE INDEX threads_by_lease ON threads (lease_until) WHERE lease_holder IS NOT NULL;

-- The last fencing number. One for all threads, so that a thread that is created again does not repeat the numbers of the
-- deleted one.
CREATE TABLE fence (number INTEGER NOT NULL) STRICT;
INSERT INTO fence (number) VALUES (0);

-- Digest of the last journal entry, and of each entry. The digests of existing entries are computed after this script.
ALTER TABLE runs ADD COLUMN head TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN digest TEXT NOT NULL DEFAULT '';

ALTER TABLE blobs RENAME TO run_blobs;
CREATE TABLE blobs (
    digest TEXT NOT NULL PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE blob_uses (
    run    INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    digest TEXT    NOT NULL REFERENCES blobs (digest),
    UNIQUE (run, digest)
) STRICT;
CREATE INDEX blob_uses_by_digest ON blob_uses (digest);
INSERT INTO blobs (digest, bytes) SELECT digest, bytes FROM run_blobs WHERE true ON CONFLICT DO NOTHING;
INSERT INTO blob_uses (run, digest) SELECT run, digest FROM run_blobs;
DROP TABLE run_blobs;

CREATE TRIGGER unused_blobs AFTER DELETE ON blob_uses
WHEN NOT EXISTS (SELECT 1 FROM blob_uses WHERE digest = OLD.digest)
BEGIN
    DELETE FROM blobs WHERE digest = OLD.digest;
END;

-- Calls that wait, or waited, for the decision of a person. One whose run ended without a decision is settled and has none.
CREATE TABLE suspensions (
    seq      INTEGER NOT NULL PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    run      INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    item_id  TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    call     TEXT    NOT NULL,
    decision TEXT,
    settled  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX suspensions_by_run ON suspensions (run);
CREATE INDEX pending_suspensions ON suspensions (since) WHERE settled = 0;
