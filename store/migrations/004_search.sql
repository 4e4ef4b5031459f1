-- Search. The terms of texts are in the FTS5 table search_index, which is made
-- when the first text is indexed, since a build without FTS5 can read the rest.
-- It keeps no texts: these are in the bodies.

-- One row: up to which exchange all are indexed, the next id of a text, and the
-- exchange of which a part is indexed, with how many of its texts are in.
CREATE TABLE search_state (
  done    INTEGER NOT NULL,
  next    INTEGER NOT NULL,
  part_of INTEGER NOT NULL,
  part    INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (0, 1, 0, 0);

-- Exchanges to index once more, with all the history that they resend, because
-- the one that brought it was removed.
CREATE TABLE search_again (
  exchange INTEGER PRIMARY KEY
) STRICT;

-- A text is what some neighbouring items of exchanges first to last say. id is
-- its row in search_index, higher for later exchanges; items says where they
-- are, see searchitems.go. same is set for a text that is kept once, however
-- many exchanges bring it.
CREATE TABLE search_text (
  id    INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,
  last  INTEGER NOT NULL,
  items BLOB    NOT NULL,
  same  INTEGER
) STRICT;
CREATE INDEX search_text_first ON search_text (first);
CREATE UNIQUE INDEX search_text_same ON search_text (same) WHERE same IS NOT NULL;

-- The other exchanges that bring such a text.
CREATE TABLE search_place (
  text     INTEGER NOT NULL, -- search_text.id
  exchange INTEGER NOT NULL,
  items    BLOB    NOT NULL,
  PRIMARY KEY (text, exchange)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_place_exchange ON search_place (exchange);

CREATE TABLE search_tool (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
