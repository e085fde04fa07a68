-- What became of the tester's next hops, and who else claimed its addresses: JSON lists of objects (NextHop and
-- Conflict of netdyno/trial.py). Absent from stores before: none.
ALTER TABLE trials ADD COLUMN next_hops TEXT NOT NULL DEFAULT '[]';
ALTER TABLE trials ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';
-- Of the frames a port sent, the tester's own: ARP, ND, echo replies.
ALTER TABLE ports ADD COLUMN own_frames INTEGER NOT NULL DEFAULT 0;
