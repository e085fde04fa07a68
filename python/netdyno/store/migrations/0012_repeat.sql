-- Which of the repeats of one case it is, from 1. Stores before have each case once.
ALTER TABLE cases ADD COLUMN repeat INTEGER NOT NULL DEFAULT 1;
