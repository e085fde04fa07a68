-- The tables of a result: JSON list of {name, caption, columns: [[name, unit]], rows, figure}. A cell is an exact number as
-- text (`7/3`), {"text": ...}, or null where nothing was measured. figure: NULL, or how it is drawn (Figure of netdyno/trial.py).
ALTER TABLE results ADD COLUMN tables TEXT NOT NULL DEFAULT '[]';
-- What the standard recommends and was not done, JSON list of sentences; `compliance` is what it requires. Stores before
-- do not tell the two apart, and do not name the standard.
ALTER TABLE results ADD COLUMN recommended TEXT NOT NULL DEFAULT '[]';
ALTER TABLE results ADD COLUMN standard TEXT NOT NULL DEFAULT '';
-- Values that stand for the case, and what each is: JSON object. Stores before have these two.
ALTER TABLE results ADD COLUMN headlines TEXT NOT NULL DEFAULT '{"throughput": "the highest load at which no frame was lost (RFC 1242, section 3.17)", "ramp max Rx": "the best rate received in the rise or the hold, over at least 1,000 frames at line rate and 1/120 of the rise; frames may be lost at it, so it is not a throughput"}';
