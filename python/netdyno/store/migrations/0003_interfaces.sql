-- What the interfaces under the tester's ports counted during a trial: JSON list of {port, interface, counters,
-- driver, kinds, downs}. Stores before have none.
ALTER TABLE trials ADD COLUMN interfaces TEXT NOT NULL DEFAULT '[]';
