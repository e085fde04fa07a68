-- What was observed of a stream beyond counts (netdyno/observations.py), as JSON: only what was asked of its trial.
ALTER TABLE streams ADD COLUMN observed TEXT;
