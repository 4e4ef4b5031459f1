-- The first schema. Exchanges point at bodies, bodies list segments, segments
-- lie in packs: what an agent sends again at each step is stored once. Ids that
-- are UUIDs are kept as 16 bytes, any other id as its text; times are
-- nanoseconds since 1970; NULL is the zero value wherever a column allows it.

-- One row: the numbers given out so far, so that none is ever given twice; the
-- salt of the lookup keys; how often stored segments or bodies were removed,
-- which tells a writer that what it remembers may be gone; and how many rows
-- lookup_recent has.
CREATE TABLE state (
  salt     BLOB    NOT NULL,
  removals INTEGER NOT NULL,
  exchange INTEGER NOT NULL,
  run      INTEGER NOT NULL,
  take     INTEGER NOT NULL,
  body     INTEGER NOT NULL,
  piece    INTEGER NOT NULL,
  whole    INTEGER NOT NULL,
  lookups  INTEGER NOT NULL
) STRICT;
INSERT INTO state VALUES (randomblob(16), 0, 0, 0, 0, 0, 0, 0, 0);

-- Finds segments, exchanges and calls by 8 bytes of a hash (see lookup.go). New
-- entries go to the small table first: an index whose keys are spread evenly
-- writes a whole page for each.
CREATE TABLE lookup_recent (
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (key, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE lookup (
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (key, target)
) STRICT, WITHOUT ROWID;

-- Few rows that many exchanges share; a listing by model or dialect looks here first.
CREATE TABLE model (
  id       INTEGER PRIMARY KEY,
  dialect  TEXT NOT NULL,
  asked    TEXT NOT NULL,
  answered TEXT NOT NULL,
  UNIQUE (dialect, asked, answered)
) STRICT;

-- names_hash finds the set of the same names; data is a JSON array of [name, [value…]].
CREATE TABLE header_set (
  id         INTEGER PRIMARY KEY,
  names_hash INTEGER NOT NULL,
  data       TEXT    NOT NULL
) STRICT;
CREATE INDEX header_set_names ON header_set (names_hash);

-- What the wire showed comes first, what was derived from it second, what only
-- the view of one exchange needs last.
CREATE TABLE exchange (
  n                  INTEGER PRIMARY KEY,
  id                 ANY     NOT NULL,
  started            INTEGER,
  ended              INTEGER,
  upstream           TEXT    NOT NULL,
  method             TEXT    NOT NULL,
  url                TEXT    NOT NULL,
  status             INTEGER NOT NULL,
  outcome            TEXT    NOT NULL,
  lossy              INTEGER NOT NULL,
  error_type         TEXT,
  error_code         TEXT,
  error_message      TEXT,
  request_headers    BLOB,
  request_bytes      INTEGER NOT NULL,
  request_sha256     ANY,
  request_encoding   TEXT    NOT NULL,
  request_problem    TEXT    NOT NULL,
  request_body       INTEGER NOT NULL,
  response_headers   BLOB,
  response_bytes     INTEGER NOT NULL,
  response_sha256    ANY,
  response_encoding  TEXT    NOT NULL,
  response_problem   TEXT    NOT NULL,
  response_body      INTEGER NOT NULL,
  first_byte         INTEGER NOT NULL,
  first_token        INTEGER NOT NULL,
  duration           INTEGER NOT NULL,
  events             INTEGER NOT NULL,

  model              INTEGER NOT NULL, -- model.id: dialect, model asked for, model that answered
  stream             INTEGER NOT NULL,
  complete           INTEGER NOT NULL,
  response_id        TEXT,
  finish_reason      TEXT    NOT NULL,
  input_total        INTEGER,          -- NULL: no usage was reported
  input_uncached     INTEGER,
  cache_read         INTEGER,
  cache_write        INTEGER,
  output             INTEGER,
  reasoning          INTEGER,
  total              INTEGER,
  usage_complete     INTEGER,
  preview            TEXT    NOT NULL,
  calls              INTEGER NOT NULL,
  results            INTEGER NOT NULL,
  warnings           TEXT,             -- JSON array
  run                ANY,
  parent             ANY,
  link_by            TEXT    NOT NULL,
  evidence           TEXT    NOT NULL,
  shared             INTEGER NOT NULL,
  in_len             INTEGER NOT NULL,
  out_len            INTEGER NOT NULL,
  in_node            BLOB,
  out_node           BLOB,

  chunks             BLOB
) STRICT;
CREATE UNIQUE INDEX exchange_id   ON exchange (id);
CREATE INDEX exchange_model       ON exchange (model);
CREATE INDEX exchange_run         ON exchange (run)         WHERE run IS NOT NULL;
CREATE INDEX exchange_parent      ON exchange (parent)      WHERE parent IS NOT NULL;
CREATE INDEX exchange_outcome     ON exchange (outcome)     WHERE outcome <> 'ok';

-- A recipe for each body of more than one segment. base is the body that it is a
-- delta against, 0 for none; step is its place in the chain of deltas.
CREATE TABLE body (
  n      INTEGER PRIMARY KEY,
  bytes  INTEGER NOT NULL,
  base   INTEGER NOT NULL,
  step   INTEGER NOT NULL,
  recipe BLOB    NOT NULL
) STRICT;

-- A pack holds segments first, first+1, … of its lane; lengths are varints,
-- data is one zstd frame of bytes bytes.
CREATE TABLE piece_pack (
  first   INTEGER PRIMARY KEY,
  count   INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  lengths BLOB    NOT NULL,
  data    BLOB    NOT NULL
) STRICT;
CREATE TABLE whole_pack (
  first   INTEGER PRIMARY KEY,
  count   INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  lengths BLOB    NOT NULL,
  data    BLOB    NOT NULL
) STRICT;

CREATE TABLE run (
  n       INTEGER PRIMARY KEY,
  id      ANY  NOT NULL UNIQUE,
  label   TEXT UNIQUE,
  name    TEXT NOT NULL,
  started INTEGER
) STRICT;

CREATE TABLE take (
  n        INTEGER PRIMARY KEY,
  id       ANY  NOT NULL UNIQUE,
  origin   ANY  NOT NULL,
  exchange ANY  NOT NULL,
  edits    TEXT NOT NULL,
  created  INTEGER
) STRICT;
CREATE INDEX take_origin   ON take (origin);
CREATE INDEX take_exchange ON take (exchange);

CREATE TABLE call (
  id       INTEGER PRIMARY KEY,
  exchange ANY     NOT NULL,
  at       TEXT    NOT NULL,
  key      BLOB    NOT NULL, -- key of the call item
  call_id  TEXT    NOT NULL,
  name     TEXT    NOT NULL
) STRICT;
CREATE INDEX call_exchange ON call (exchange);

CREATE TABLE result (
  call     INTEGER NOT NULL, -- call.id
  exchange ANY     NOT NULL,
  at       TEXT    NOT NULL,
  found_by TEXT    NOT NULL,
  latency  REAL    NOT NULL,
  is_error INTEGER NOT NULL,
  PRIMARY KEY (call, exchange, at)
) STRICT, WITHOUT ROWID;
