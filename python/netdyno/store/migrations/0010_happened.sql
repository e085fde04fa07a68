-- What happened to the device while a trial ran, as a JSON list; when it was asked for and when it was done.
ALTER TABLE trials ADD COLUMN happened TEXT NOT NULL DEFAULT '[]';
