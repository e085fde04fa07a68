-- What devices printed for the commands of instruments in a trial: zlib (RFC 1950) of JSON, `{"left_out": texts without room,
-- "texts": [[command, text, [ns from the begin of traffic, ...]], ...]}`.
CREATE TABLE transcripts (
    trial INTEGER PRIMARY KEY REFERENCES trials,
    data INTEGER NOT NULL REFERENCES contents
) STRICT;
