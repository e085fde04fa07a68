-- The tester's threads in a trial, as JSON: per worker its core, share, rounds, longest gap, frames and time. Absent from
-- stores before: nothing is known of them.
ALTER TABLE trials ADD COLUMN threads TEXT NOT NULL DEFAULT '{}';
