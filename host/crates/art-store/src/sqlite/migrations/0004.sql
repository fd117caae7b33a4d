-- What a model used for each step that it carried out and for each answer. Estimates of later plans read the newest ones.

CREATE TABLE model_work (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    run           INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    model         TEXT    NOT NULL,
    work          TEXT    NOT NULL,
    model_calls   INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL
) STRICT;
CREATE INDEX model_work_by_model ON model_work (model, work, seq);
CREATE INDEX model_work_by_run ON model_work (run);
