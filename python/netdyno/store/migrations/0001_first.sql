-- The store of one run. Counts are stored, ratios derived. What was not measured is NULL or absent, never 0.
-- Times are UTC, ISO 8601. Durations and instants inside a trial are ns. Exact numbers are text, `7/3` or `14880952`.
-- Columns hold what is searched: keys, states, limits, times. Bodies are JSON, one field a value (store/codec.py).

CREATE TABLE run (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    started TEXT NOT NULL,
    ended TEXT,
    head TEXT NOT NULL             -- JSON: plan, lab, scale, seed, versions
) STRICT;

CREATE TABLE cases (
    number INTEGER PRIMARY KEY,    -- from 0, in the order of the matrix
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'interrupted', 'failed')),
    started TEXT,
    ended TEXT,
    code TEXT,                     -- of the error it failed with
    error TEXT,                    -- why it failed
    hint TEXT,
    head TEXT NOT NULL,            -- JSON: axes, device, method, seed
    wiring TEXT,                   -- JSON: streams, lines, session spec, calibration; NULL until the lab is wired
    result TEXT                    -- JSON: values, tables, notes; NULL until the method has ended
) STRICT;

-- `body`: zlib (RFC 1950) of JSON: segments, counts, health, phases. In SQL `body_bytes` is its unpacked size.
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,       -- from 0, as the method asked for them
    attempt INTEGER NOT NULL,      -- from 0; an invalid trial is retried
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'invalid', 'cancelled')),
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    spec TEXT NOT NULL,            -- JSON: the trial spec the tester was given, without secrets
    body_bytes INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (case_number, number, attempt)
) STRICT;

-- A series of a trial: of a stream, of a port, or of an instrument that was read meanwhile. Times are ns from the
-- start of traffic: `every_ns` apart from `first_ns` on, or else each in `times`.
-- `data`, `times`: signed 64 bit, little endian, packed, then zlib. In Python:
--   struct.unpack(f"<{samples}q", zlib.decompress(data))
CREATE TABLE series (
    trial INTEGER NOT NULL REFERENCES trials,
    owner TEXT NOT NULL CHECK (owner IN ('stream', 'port', 'instrument')),
    number INTEGER NOT NULL,       -- of the stream, the port, or the series
    name TEXT NOT NULL,            -- `tx`, `rx`, `ifHCInOctets`
    source TEXT NOT NULL,          -- who counted: `tester`, `kernel`, the name of a driver
    subject TEXT NOT NULL,         -- of what: a stream, a port, an interface
    unit TEXT NOT NULL,            -- `frames`, `B`, `C`
    scale INTEGER NOT NULL,        -- digits behind the decimal point: 234 at scale 1 is 23.4
    first_ns INTEGER,
    every_ns INTEGER,
    samples INTEGER NOT NULL,
    times BLOB,
    data BLOB NOT NULL,
    PRIMARY KEY (trial, owner, number, name)
) STRICT;

CREATE TABLE verdicts (
    case_number INTEGER NOT NULL REFERENCES cases,
    place INTEGER NOT NULL,        -- of the value among the case's headlines, from 0
    scope TEXT NOT NULL,           -- a stream's name, or `sum`
    value TEXT NOT NULL,           -- the name of the value it is on
    who TEXT NOT NULL,             -- the limit: `device`, `line`, `tester`, ...
    body TEXT NOT NULL,            -- JSON: the reason
    PRIMARY KEY (case_number, place, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE goals (
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,
    passed INTEGER CHECK (passed IN (0, 1)),  -- NULL: could not be judged
    body TEXT NOT NULL,            -- JSON: the goal and the reason
    PRIMARY KEY (case_number, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibrations (
    id TEXT PRIMARY KEY,
    document TEXT NOT NULL         -- JSON, whole
) STRICT, WITHOUT ROWID;
