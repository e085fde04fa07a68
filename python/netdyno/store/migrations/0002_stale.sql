-- Test frames of an earlier trial: a device still held them when that one ended. Absent from stores before: 0.
ALTER TABLE ports ADD COLUMN stale_frames INTEGER NOT NULL DEFAULT 0;
