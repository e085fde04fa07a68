-- Frames of a modifier (RFC 2544 section 11) that took the place of some of the streams': JSON list of their counts. Absent from
-- stores before: none.
ALTER TABLE trials ADD COLUMN beside TEXT NOT NULL DEFAULT '[]';
