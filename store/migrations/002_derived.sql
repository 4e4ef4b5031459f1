-- What reindex and prune need to know: which exchanges came with the label of
-- their run themselves, how the transport saw an end that was told otherwise
-- since, the results that a request brought, small notes on what is under way,
-- and the lookups that lead to what was removed and are still to be deleted.
ALTER TABLE exchange ADD COLUMN labelled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN seen TEXT; -- JSON, NULL where outcome and error tell it
UPDATE exchange SET labelled = 1 WHERE run IN (SELECT id FROM run WHERE label IS NOT NULL);

CREATE INDEX result_exchange ON result (exchange);

CREATE TABLE note (
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- kind is that of the lookup, see lookup.go.
CREATE TABLE lookup_gone (
  kind   INTEGER NOT NULL,
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL
) STRICT;
