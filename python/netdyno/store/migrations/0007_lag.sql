-- How late the frames of a stream left, as JSON. Absent from stores before: not known.
ALTER TABLE streams ADD COLUMN lag TEXT;
