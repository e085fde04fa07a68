-- What repeats is stored once, and every run, case and trial has a hash (store/seals.py).
-- A hash is BLAKE2b of 16 bytes: hashlib.blake2b(..., digest_size=16). It protects against bit rot, not against forgery: who changes
-- a record on purpose can write its hashes anew. Those of runs stored before this migration are empty.

-- Each content once, whatever refers to it. `data`: zlib (RFC 1950) of JSON, or of numbers (`samples` below).
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,     -- of `data`, as it stands here
    data BLOB NOT NULL
) STRICT;

INSERT OR IGNORE INTO contents (hash, data) SELECT hashed(packed), packed FROM (SELECT packed(spec) AS packed FROM trials);
INSERT OR IGNORE INTO contents (hash, data) SELECT hashed(body), body FROM trials;
INSERT OR IGNORE INTO contents (hash, data) SELECT hashed(data), data FROM series;
INSERT OR IGNORE INTO contents (hash, data) SELECT hashed(times), times FROM series WHERE times IS NOT NULL;
INSERT OR IGNORE INTO contents (hash, data)
    SELECT hashed(packed), packed FROM (SELECT packed(json_set(wiring, '$.session', '')) AS packed FROM cases WHERE wiring IS NOT NULL);
INSERT OR IGNORE INTO contents (hash, data)
    SELECT hashed(packed), packed FROM (SELECT packed(json_extract(wiring, '$.session')) AS packed FROM cases WHERE wiring IS NOT NULL);
INSERT OR IGNORE INTO contents (hash, data) SELECT hashed(packed), packed FROM (SELECT packed(document) AS packed FROM calibrations);

-- `spec`: JSON, the trial spec the tester was given, without secrets. A long list in it is a content of its own: in its place
-- stands `{"stored once": "<its hash, hexadecimal>"}`. `body`: JSON: segments, counts, health, phases.
CREATE TABLE trials_hashed (
    id INTEGER PRIMARY KEY,        -- in the order in which trials ended
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,       -- from 0, as the method asked for them
    attempt INTEGER NOT NULL,      -- from 0; an invalid trial is retried
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'invalid', 'cancelled')),
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    spec INTEGER NOT NULL REFERENCES contents,
    body INTEGER NOT NULL REFERENCES contents,
    seal BLOB NOT NULL,            -- hash over the seal of the case's trial before, this row, and its samples
    UNIQUE (case_number, number, attempt)
) STRICT;

INSERT INTO trials_hashed
    SELECT id, case_number, number, attempt, name, state, started, ended,
        (SELECT id FROM contents WHERE hash = hashed(packed(trials.spec))),
        (SELECT id FROM contents WHERE hash = hashed(trials.body)), x''
    FROM trials;

-- Whose series: of a stream, of a port, or of an instrument that was read meanwhile.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL CHECK (owner IN ('stream', 'port', 'instrument')),
    number INTEGER NOT NULL,       -- of the stream, the port, or the series
    name TEXT NOT NULL,            -- `tx`, `rx`, `ifHCInOctets`
    source TEXT NOT NULL,          -- who counted: `tester`, `kernel`, the name of a driver
    subject TEXT NOT NULL,         -- of what: a stream, a port, an interface
    unit TEXT NOT NULL,            -- `frames`, `B`, `C`
    scale INTEGER NOT NULL,        -- digits behind the decimal point: 234 at scale 1 is 23.4
    UNIQUE (owner, number, name, source, subject, unit, scale)
) STRICT;

INSERT OR IGNORE INTO labels (owner, number, name, source, subject, unit, scale)
    SELECT owner, number, name, source, subject, unit, scale FROM series;

-- The samples of a series in a trial. Times are ns from the start of traffic: `every_ns` apart from `first_ns` on, or else each
-- in `times`. `data`, `times`: signed 64 bit, little endian, packed, then zlib. In Python, of the view `series`:
--   struct.unpack(f"<{samples}q", zlib.decompress(data))
CREATE TABLE samples (
    trial INTEGER NOT NULL REFERENCES trials_hashed,
    label INTEGER NOT NULL REFERENCES labels,
    first_ns INTEGER,
    every_ns INTEGER,
    samples INTEGER NOT NULL,
    times INTEGER REFERENCES contents,
    data INTEGER NOT NULL REFERENCES contents,
    PRIMARY KEY (trial, label)
) STRICT, WITHOUT ROWID;

INSERT INTO samples
    SELECT s.trial, l.id, s.first_ns, s.every_ns, s.samples,
        (SELECT id FROM contents WHERE hash = hashed(s.times)),
        (SELECT id FROM contents WHERE hash = hashed(s.data))
    FROM series AS s JOIN labels AS l
        USING (owner, number, name, source, subject, unit, scale);

DROP TABLE series;
DROP TABLE trials;
ALTER TABLE trials_hashed RENAME TO trials;

CREATE VIEW series AS
    SELECT s.trial, l.owner, l.number, l.name, l.source, l.subject, l.unit, l.scale, s.first_ns, s.every_ns, s.samples,
        t.data AS times, d.data AS data
    FROM samples AS s JOIN labels AS l ON l.id = s.label JOIN contents AS d ON d.id = s.data LEFT JOIN contents AS t ON t.id = s.times;

-- JSON without the session spec, and the session spec, in which long lists are contents of their own as in a trial's.
ALTER TABLE cases ADD COLUMN wired INTEGER REFERENCES contents;
ALTER TABLE cases ADD COLUMN session INTEGER REFERENCES contents;
UPDATE cases SET wired = (SELECT id FROM contents WHERE hash = hashed(packed(json_set(cases.wiring, '$.session', '')))),
    session = (SELECT id FROM contents WHERE hash = hashed(packed(json_extract(cases.wiring, '$.session'))))
    WHERE wiring IS NOT NULL;
ALTER TABLE cases DROP COLUMN wiring;
ALTER TABLE cases RENAME COLUMN wired TO wiring;

ALTER TABLE calibrations RENAME TO calibrations_before;
CREATE TABLE calibrations (
    id TEXT PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES contents  -- JSON, whole
) STRICT, WITHOUT ROWID;
INSERT INTO calibrations
    SELECT id, (SELECT id FROM contents WHERE hash = hashed(packed(document))) FROM calibrations_before;
DROP TABLE calibrations_before;

-- One row a case, and one of number -1 for the run.
CREATE TABLE seals (
    case_number INTEGER PRIMARY KEY,
    trials INTEGER NOT NULL,       -- how many the case has
    unsealed INTEGER NOT NULL,     -- how many of them were stored before there were hashes
    last BLOB NOT NULL,            -- the seal of the last trial
    last_number INTEGER,           -- of the last trial
    seal BLOB NOT NULL             -- hash over the case, its verdicts, goals and the row's other columns; of the run: over all cases
) STRICT;
INSERT INTO seals VALUES (-1, 0, 0, x'', NULL, x'');
INSERT INTO seals SELECT c.number, count(t.id), count(t.id), x'', max(t.number), x'' FROM cases AS c LEFT JOIN trials AS t ON t.case_number = c.number
    GROUP BY c.number;
