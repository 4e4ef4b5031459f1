-- The search index holds longer terms of larger texts, in the FTS5 table
-- search_term: all is indexed anew. search_index, which held the terms before, is
-- dropped by the first build with FTS5 that indexes.
DELETE FROM search_text;
DELETE FROM search_place;
DELETE FROM search_again;
UPDATE search_state SET done = 0, next = 1, part_of = 0, part = 0;
