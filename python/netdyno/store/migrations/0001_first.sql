-- The store of one run. Counts are stored, ratios derived; what was not measured is NULL or absent, never 0.
-- Times are UTC, ISO 8601. Durations and instants inside a trial are ns. Exact numbers are text, `7/3` or `14880952`.

CREATE TABLE run (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,            -- short name of the plan, as in the folder's
    title TEXT NOT NULL,
    plan TEXT NOT NULL,            -- the plan file, byte for byte
    plan_path TEXT NOT NULL,       -- where it was read from
    lab TEXT NOT NULL,             -- the lab file, if the plan named one; else empty
    scale TEXT NOT NULL,           -- every duration was multiplied by this, `1/100`
    only TEXT NOT NULL,            -- JSON object: the values of the matrix that were chosen
    seed INTEGER NOT NULL,
    versions TEXT NOT NULL,        -- JSON object: netdyno, engine, python, sqlite, kernel, cpu
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    started TEXT NOT NULL,
    ended TEXT
) STRICT;

CREATE TABLE cases (
    number INTEGER PRIMARY KEY,    -- from 0, in the order of the matrix
    name TEXT NOT NULL,
    axes TEXT NOT NULL,            -- JSON object: axis of the matrix -> value
    kind TEXT NOT NULL,            -- `emulated/asr9006`
    kind_title TEXT NOT NULL,
    emulated INTEGER NOT NULL,
    settings TEXT NOT NULL,        -- JSON object: the device's settings in this case
    clock TEXT CHECK (clock IN ('virtual', 'real')),
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,      -- JSON: the method's parameters
    streams TEXT,                  -- JSON list of names; NULL until the lab is wired
    line_fps TEXT,
    mean_size TEXT,
    flow_ceiling_fps TEXT,
    enforced_rate INTEGER,         -- 0: the line rate is declared and nothing enforces it
    notes TEXT NOT NULL,           -- JSON list of sentences
    session TEXT,                  -- JSON: the session spec
    seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'interrupted', 'failed')),
    error TEXT,                    -- why it failed
    hint TEXT,
    started TEXT,
    ended TEXT
) STRICT;

CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,       -- from 0, as the method asked for them
    attempt INTEGER NOT NULL,      -- from 0; an invalid trial is repeated
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'invalid', 'cancelled')),
    segments TEXT NOT NULL,        -- JSON list: what the method asked for
    spec TEXT NOT NULL,            -- JSON: the trial spec the engine was given
    sample_ns INTEGER NOT NULL,
    unsent INTEGER NOT NULL,
    latest_departure_ns INTEGER NOT NULL,
    longest_gap_ns INTEGER NOT NULL,
    rx_dropped INTEGER NOT NULL,
    tx_full INTEGER NOT NULL,
    core_share_ppm INTEGER,
    invalid TEXT NOT NULL,         -- JSON list of reasons, empty: it counts
    devices TEXT NOT NULL,         -- JSON list: the counters of emulated devices, as they gave them
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    UNIQUE (case_number, number, attempt)
) STRICT;

CREATE TABLE streams (
    trial INTEGER NOT NULL REFERENCES trials,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    intended INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    offered_bytes INTEGER NOT NULL,
    received INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    elsewhere INTEGER NOT NULL,
    out_of_order INTEGER NOT NULL,
    corrupted INTEGER NOT NULL,
    lost INTEGER NOT NULL,         -- signed
    beyond_window INTEGER NOT NULL,
    flows_received INTEGER NOT NULL,
    first_loss_ns INTEGER,
    latency_count INTEGER,
    latency_min_ns INTEGER,
    latency_sum_ns TEXT,           -- may pass 63 bits
    latency_max_ns INTEGER,
    latency_over INTEGER,
    latency_negative INTEGER,
    latency_histogram TEXT,        -- HDR histogram, ns, V2 deflate, base64
    PRIMARY KEY (trial, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE ports (
    trial INTEGER NOT NULL REFERENCES trials,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    tx_frames INTEGER NOT NULL,
    tx_bytes INTEGER NOT NULL,
    rx_frames INTEGER NOT NULL,
    rx_bytes INTEGER NOT NULL,
    foreign_frames INTEGER NOT NULL,
    PRIMARY KEY (trial, number)
) STRICT, WITHOUT ROWID;

-- A series of a stream or port: `samples` counts, one a sample, from the start of traffic.
-- `data`: unsigned 64 bit, little endian, packed, then zlib (RFC 1950). In Python:
--   struct.unpack(f"<{samples}Q", zlib.decompress(data))
CREATE TABLE series (
    trial INTEGER NOT NULL REFERENCES trials,
    owner TEXT NOT NULL CHECK (owner IN ('stream', 'port')),
    number INTEGER NOT NULL,
    name TEXT NOT NULL CHECK (name IN ('tx', 'rx', 'arrived', 'tx_bytes', 'rx_bytes')),
    samples INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (trial, owner, number, name)
) STRICT;

CREATE TABLE phases (
    trial INTEGER NOT NULL REFERENCES trials,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    start_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    PRIMARY KEY (trial, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE resolved (
    trial INTEGER NOT NULL REFERENCES trials,
    address TEXT NOT NULL,
    mac TEXT NOT NULL,
    PRIMARY KEY (trial, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE results (
    case_number INTEGER PRIMARY KEY REFERENCES cases,
    method TEXT NOT NULL,
    trials TEXT NOT NULL,          -- JSON list: numbers of the trials it rests on
    compliance TEXT NOT NULL,      -- JSON list of sentences
    notes TEXT NOT NULL            -- JSON list of sentences
) STRICT;

CREATE TABLE result_values (
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,           -- a stream's name, or `sum`
    exact TEXT,                    -- NULL: there is none, see low, high and note
    approximate REAL,              -- the same, for SQL
    unit TEXT NOT NULL,
    low TEXT,
    high TEXT,
    note TEXT NOT NULL,
    PRIMARY KEY (case_number, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
    case_number INTEGER NOT NULL REFERENCES cases,
    scope TEXT NOT NULL,
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (case_number, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE goals (
    case_number INTEGER NOT NULL REFERENCES cases,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    passed INTEGER,                -- NULL: could not be judged
    reason TEXT NOT NULL,
    PRIMARY KEY (case_number, number)
) STRICT, WITHOUT ROWID;
