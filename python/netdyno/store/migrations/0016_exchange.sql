-- What came of queries to the device in a trial (JSON); none was asked of trials before.
ALTER TABLE trials ADD COLUMN exchange TEXT;
