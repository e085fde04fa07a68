-- What the tester was proven to do itself: for each case what it could rest on, and the calibrations it comes from.
ALTER TABLE cases ADD COLUMN proven TEXT;
CREATE TABLE calibrations (
    id TEXT NOT NULL PRIMARY KEY,
    document TEXT NOT NULL
) STRICT;
