-- Where each stream of a case runs and its share of its port's load, as JSON. Absent from stores before: each had its ports
-- to itself.
ALTER TABLE cases ADD COLUMN places TEXT NOT NULL DEFAULT '[]';
