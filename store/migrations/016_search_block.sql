-- The search index tells which terms are in which cell, in tables of its own and
-- no longer in FTS5: all is indexed anew. search_term and search_index, which held
-- the terms before, are dropped by the first build with FTS5 that opens the file.
DELETE FROM search_text;
DELETE FROM search_place;
DELETE FROM search_again;
UPDATE search_state SET done = 0, next = 1, part_of = 0, part = 0;
ALTER TABLE search_state DROP COLUMN words_from;

-- A block has the terms of the cells from first to first + span - 1. The id of a
-- search_text is the number of its first cell. Later texts have higher ones, but
-- for those of exchanges that were indexed once more: these are in lane 1.
CREATE TABLE search_block (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  lane  INTEGER NOT NULL,
  first INTEGER NOT NULL,
  span  INTEGER NOT NULL,
  rows  INTEGER NOT NULL, -- in how many rows its terms are: 1, 2, 4 …
  made  INTEGER NOT NULL, -- cells with text when it was made
  live  INTEGER NOT NULL, -- and now
  state INTEGER NOT NULL, -- 0: being put together; 1: is asked; 2: to be removed
  done  INTEGER NOT NULL  -- rows that are put together, of one in state 0
) STRICT;
CREATE INDEX search_block_first ON search_block (state, first);

-- The terms of a block: of 2^30 possible ones each row has as many, in their
-- order. id is that of the block times 65536, and the number of the row.
CREATE TABLE search_row (
  id    INTEGER PRIMARY KEY,
  terms BLOB NOT NULL -- see store/postings.go
) STRICT;
