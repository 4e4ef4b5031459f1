-- The newest lookups lie in a table of one page: spread over the pages of
-- lookup_recent, those of one step were a third of what its commit wrote.
-- state.new_lookups is how many there are.
CREATE TABLE lookup_new (
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (key, target)
) STRICT, WITHOUT ROWID;
ALTER TABLE state ADD COLUMN new_lookups INTEGER NOT NULL DEFAULT 0;
