-- Each headline of a case has a verdict of its own; `place` is its place among them. Empty: the first, of records
-- in which no other had one.
CREATE TABLE verdicts_by_value (
    case_number INTEGER NOT NULL REFERENCES cases,
    place INTEGER NOT NULL,
    value TEXT NOT NULL,
    scope TEXT NOT NULL,
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (case_number, place, scope)
) STRICT, WITHOUT ROWID;

INSERT INTO verdicts_by_value SELECT case_number, 0, '', scope, who, reason FROM verdicts;

DROP TABLE verdicts;

ALTER TABLE verdicts_by_value RENAME TO verdicts;
