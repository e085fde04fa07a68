-- How long each reading of an instrument took, ns, from question to answer: samples of their own, whose label has the
-- number -1 - n for the series n. The view `series` has them as `took`, packed as `data` is; NULL: unknown.
DROP VIEW series;
CREATE VIEW series AS
    SELECT s.trial, l.owner, l.number, l.name, l.source, l.subject, l.unit, l.scale, s.first_ns, s.every_ns, s.samples,
        t.data AS times, d.data AS data,
        (SELECT c.data FROM samples AS r JOIN labels AS k ON k.id = r.label JOIN contents AS c ON c.id = r.data
            WHERE r.trial = s.trial AND k.owner = l.owner AND k.number = -1 - l.number) AS took
    FROM samples AS s JOIN labels AS l ON l.id = s.label JOIN contents AS d ON d.id = s.data LEFT JOIN contents AS t ON t.id = s.times
    WHERE l.number >= 0;
