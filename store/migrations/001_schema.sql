-- The schema. An exchange points at two bodies, a body lists segments, segments
-- lie in packs: what an agent sends again at each step is stored once. UUIDs are
-- stored as 16 bytes, other ids as text. Times are nanoseconds since 1970. NULL
-- is the zero value in any column that allows it.

-- One row: the last numbers given out, so that none is given twice; the salt of
-- the lookup keys; how often stored segments or bodies were removed, which tells
-- a writer that what it remembers may be gone; and the rows in lookup_recent
-- (lookups) and in lookup_new (new_lookups).
CREATE TABLE state (
  salt        BLOB    NOT NULL,
  removals    INTEGER NOT NULL,
  exchange    INTEGER NOT NULL,
  run         INTEGER NOT NULL,
  take        INTEGER NOT NULL,
  body        INTEGER NOT NULL,
  part        INTEGER NOT NULL,
  whole       INTEGER NOT NULL,
  lookups     INTEGER NOT NULL,
  new_lookups INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO state VALUES (randomblob(16), 0, 0, 0, 0, 0, 0, 0, 0, 0);

-- Small texts about what is under way.
CREATE TABLE note (
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Lookups find segments, exchanges and calls by 8 bytes of a hash (lookup.go).
-- The keys are spread evenly, so that each new row of a large table writes a page.
-- New rows therefore go to lookup_new, which has one page, from there together to
-- lookup_recent, and from there to lookup.
CREATE TABLE lookup_new (
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (key, target)
) STRICT, WITHOUT ROWID;
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

-- Lookups of removed rows that are still to be deleted. For kind see lookup.go.
CREATE TABLE lookup_gone (
  kind   INTEGER NOT NULL,
  key    INTEGER NOT NULL,
  target INTEGER NOT NULL
) STRICT;

-- Segments first, first+1, … of a stream of segments. lengths holds varints, data
-- is one zstd frame of bytes bytes.
CREATE TABLE part_pack (
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

-- The recipe of each body of more than one segment. base is the body that it is a
-- delta against, or 0; step is its place in the chain of deltas.
CREATE TABLE body (
  n      INTEGER PRIMARY KEY,
  bytes  INTEGER NOT NULL,
  base   INTEGER NOT NULL,
  step   INTEGER NOT NULL,
  recipe BLOB    NOT NULL
) STRICT;

-- A few rows that many exchanges share. Listings by model or dialect start here.
-- No two are equal; they are too few to need an index.
CREATE TABLE model (
  id       INTEGER PRIMARY KEY,
  dialect  TEXT NOT NULL,
  asked    TEXT NOT NULL,
  answered TEXT NOT NULL
) STRICT;

-- data is a JSON array of [name, [value…]]; names_hash finds the few sets of the same
-- names.
CREATE TABLE header_set (
  id         INTEGER PRIMARY KEY,
  names_hash INTEGER NOT NULL,
  data       TEXT    NOT NULL
) STRICT;

-- First what was recorded, then what was derived from it, last what only the page of
-- one exchange needs.
CREATE TABLE exchange (
  n                INTEGER PRIMARY KEY,
  id               ANY     NOT NULL,
  started          INTEGER,          -- NULL: an import does not know
  ended            INTEGER,
  upstream         TEXT    NOT NULL,
  method           TEXT    NOT NULL,
  url              TEXT    NOT NULL,
  status           INTEGER NOT NULL,
  lossy            INTEGER NOT NULL,
  request_headers  BLOB,
  request_bytes    INTEGER NOT NULL,
  request_sha256   ANY,
  request_encoding TEXT    NOT NULL,
  request_body     INTEGER NOT NULL,
  request_omitted  TEXT    NOT NULL, -- what the user chose to leave out of the stored body
  response_headers BLOB,
  response_bytes   INTEGER NOT NULL,
  response_sha256  ANY,
  response_encoding TEXT   NOT NULL,
  response_body    INTEGER NOT NULL,
  response_omitted TEXT    NOT NULL,
  first_byte       INTEGER NOT NULL,
  duration         INTEGER NOT NULL,
  imported         TEXT    NOT NULL, -- exact, rebuilt or view only; '' if it was recorded
  labelled         INTEGER NOT NULL, -- it came with the label of its run itself

  model            INTEGER NOT NULL, -- model.id: dialect, model asked for, model that answered
  outcome          TEXT    NOT NULL,
  error_type       TEXT,             -- NULL: no error
  error_code       TEXT,
  error_message    TEXT,
  seen             TEXT,             -- JSON: how the transport saw the end; NULL where outcome and error say it
  request_problem  TEXT    NOT NULL,
  response_problem TEXT    NOT NULL,
  first_token      INTEGER NOT NULL,
  events           INTEGER NOT NULL,
  stream           INTEGER NOT NULL,
  complete         INTEGER NOT NULL,
  response_id      TEXT,
  finish_reason    TEXT    NOT NULL,
  input_total      INTEGER,          -- NULL: no usage was reported
  input_uncached   INTEGER,
  cache_read       INTEGER,
  cache_write      INTEGER,
  cache_write_1h   INTEGER,          -- the part of cache_write that is kept for an hour; NULL: not known
  output           INTEGER,
  reasoning        INTEGER,
  total            INTEGER,
  usage_complete   INTEGER,
  preview          TEXT    NOT NULL,
  calls            INTEGER NOT NULL,
  results          INTEGER NOT NULL,
  tools            INTEGER NOT NULL,
  warnings         TEXT,             -- JSON array
  run              ANY,
  parent           ANY,
  agent            ANY,
  step             INTEGER NOT NULL,
  attempt          INTEGER NOT NULL,
  side             INTEGER NOT NULL,
  link_by          TEXT    NOT NULL,
  evidence         TEXT    NOT NULL,
  shared           INTEGER NOT NULL,
  in_len           INTEGER NOT NULL,
  out_len          INTEGER NOT NULL,
  in_node          BLOB,
  out_node         BLOB,
  node_without_ids       BLOB,             -- the history after the output, without call ids
  settings         BLOB,
  change           TEXT,             -- JSON: what differs from the exchange before
  as_of            INTEGER NOT NULL, -- the last exchange that was known when the link was made; 0: the one before itself

  chunks           BLOB
) STRICT;
CREATE UNIQUE INDEX exchange_id ON exchange (id);
CREATE INDEX exchange_model     ON exchange (model, started);
CREATE INDEX exchange_run       ON exchange (run)      WHERE run IS NOT NULL;
CREATE INDEX exchange_first     ON exchange (run, n)   WHERE parent IS NULL; -- the first requests of a run
CREATE INDEX exchange_agent     ON exchange (agent, n) WHERE agent IS NOT NULL;
CREATE INDEX exchange_parent    ON exchange (parent)   WHERE parent IS NOT NULL;
CREATE INDEX exchange_outcome   ON exchange (outcome)  WHERE outcome <> 'ok';
CREATE INDEX exchange_status    ON exchange (status)   WHERE status <> 200;

-- Calls and results, by the exchange that holds them.
CREATE TABLE pair (
  n        INTEGER NOT NULL, -- exchange.n
  kind     INTEGER NOT NULL, -- 0: a call of its answer; 1: a result of that call; 2: a result that its request introduced
  call     INTEGER NOT NULL, -- id of the call: the number of its exchange, then 24 bits for its place in the answer
  other    INTEGER NOT NULL, -- 1: number of the exchange that introduced the result; else 0
  at       TEXT    NOT NULL, -- of the call or the result
  key      BLOB,             -- 0: key of the call item
  call_id  TEXT,
  name     TEXT,
  found_by TEXT,             -- 1
  latency  REAL,             -- NULL: not known
  is_error INTEGER,
  PRIMARY KEY (n, kind, call, other, at)
) STRICT, WITHOUT ROWID;

-- By what a request finds the exchange that it continues: hashes of texts that
-- calls passed on, of items that can be referred to, of what a request wanted and
-- did not find …
CREATE TABLE hint (
  value BLOB    NOT NULL,
  n     INTEGER NOT NULL, -- number of the exchange
  at    TEXT    NOT NULL, -- where in its answer, '' for all of it
  PRIMARY KEY (value, n, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX hint_n ON hint (n);

CREATE TABLE run (
  n       INTEGER PRIMARY KEY,
  id      ANY  NOT NULL UNIQUE,
  label   TEXT UNIQUE,
  name    TEXT NOT NULL,
  started INTEGER
) STRICT;

-- What clients call their sessions and agents. A key of a run that is gone means
-- nothing; a prune removes it.
CREATE TABLE run_key (
  client_key TEXT PRIMARY KEY,
  run        ANY  NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
  n             INTEGER PRIMARY KEY,
  id            ANY     NOT NULL UNIQUE,
  run           ANY     NOT NULL,
  client_key    TEXT,                -- what the client calls it
  main          INTEGER NOT NULL,
  call_exchange ANY,                 -- the call that started it
  call_at       TEXT,
  evidence      TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_run ON agent (run, client_key); -- those without a name are all different

-- A take sends many requests. Its steps and results have rows of their own, so
-- that a take that grows is not written anew each time. A step is written before
-- its request is sent, so that the exchange is known for a replay when it comes.
CREATE TABLE take (
  n           INTEGER PRIMARY KEY,
  id          ANY  NOT NULL UNIQUE,
  origin      ANY  NOT NULL,
  edits       TEXT NOT NULL,
  created     INTEGER,
  ended       INTEGER,
  parent      ANY,                              -- id of the take that it goes on from
  mode        TEXT NOT NULL DEFAULT 'once',
  reason      TEXT NOT NULL DEFAULT '',
  sample      TEXT NOT NULL DEFAULT '',         -- the group that it is compared in
  arm         TEXT NOT NULL DEFAULT '',
  outcome     TEXT NOT NULL DEFAULT 'in_progress',
  stop_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX take_origin ON take (origin);
CREATE TABLE take_step (
  exchange ANY     PRIMARY KEY,
  take     INTEGER NOT NULL, -- take.n
  step     INTEGER NOT NULL, -- 0 for a side call
  attempt  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX take_step_take ON take_step (take, step, attempt);
CREATE TABLE take_result (
  take       INTEGER NOT NULL, -- take.n
  n          INTEGER NOT NULL, -- in the order in which the model got them, from 1
  call_id    TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  source     TEXT    NOT NULL,
  exchange   ANY     NOT NULL,
  taken_from ANY,
  text       TEXT,             -- NULL once a request holds it; until then a take that goes on from this one reads it here
  failed     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (take, n)
) STRICT, WITHOUT ROWID;

-- What users say of runs and exchanges. None of it is derived: reindex leaves it
-- alone, and the marks of a run that becomes part of another go there with its
-- first exchange.
CREATE TABLE mark (
  run    ANY     PRIMARY KEY,
  first  ANY,                -- the run's first exchange
  name   TEXT    NOT NULL,
  note   TEXT    NOT NULL,
  tags   TEXT    NOT NULL,   -- JSON array
  pinned INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last word on each exchange; target is an exchange, a run, or NULL.
CREATE TABLE override (
  exchange ANY PRIMARY KEY,
  verb     TEXT NOT NULL,
  target   ANY,
  said     INTEGER
) STRICT, WITHOUT ROWID;

-- What belongs to a run or an exchange goes with it; marks move on.
CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
  DELETE FROM agent WHERE run = OLD.id;
END;
CREATE TRIGGER run_marks_move AFTER DELETE ON run BEGIN
  INSERT INTO mark SELECT e.run, m.first, m.name, m.note, m.tags, m.pinned
    FROM mark m JOIN exchange e ON e.id = m.first WHERE m.run = OLD.id AND e.run IS NOT NULL AND e.run <> OLD.id
    ON CONFLICT (run) DO UPDATE SET
      name   = CASE mark.name WHEN '' THEN excluded.name ELSE mark.name END,
      note   = CASE mark.note WHEN '' THEN excluded.note ELSE mark.note END,
      tags   = (SELECT json_group_array(value) FROM (SELECT value FROM json_each(mark.tags) UNION SELECT value FROM json_each(excluded.tags))),
      pinned = max(mark.pinned, excluded.pinned);
  DELETE FROM mark WHERE run = OLD.id;
END;
CREATE TRIGGER exchange_gone AFTER DELETE ON exchange BEGIN
  DELETE FROM hint WHERE n = OLD.n;
END;
CREATE TRIGGER exchange_marks_move AFTER DELETE ON exchange BEGIN
  DELETE FROM override WHERE exchange = OLD.id;
  UPDATE mark SET first = (SELECT id FROM exchange WHERE run = mark.run ORDER BY n LIMIT 1) WHERE first = OLD.id;
END;

-- Search. Its texts are in the bodies. Which trigrams and words are in which row of
-- search_text is in search_terms and search_words, tables of FTS5 that are made with the
-- first text (search/index.go).

-- One row: the last exchange before which all are indexed, the next id of a text,
-- and the exchange of which a part is indexed, with how many of its texts are in.
CREATE TABLE search_state (
  done    INTEGER NOT NULL,
  next    INTEGER NOT NULL,
  part_of INTEGER NOT NULL,
  part    INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (0, 1, 0, 0);

-- Exchanges to index once more, with all the history that they resend, because
-- the one that introduced it was removed.
CREATE TABLE search_again (
  exchange INTEGER PRIMARY KEY
) STRICT;

-- A text is what some neighbouring items of exchanges first to last say, or a part of
-- a long item. Later exchanges have higher ids; those that were indexed once more have
-- ids from 2^40 on. items says where they are (search/places.go). same is set for a
-- text that is kept once, however many exchanges bring it.
CREATE TABLE search_text (
  id    INTEGER PRIMARY KEY, -- rowid in search_terms and search_words
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

-- Ids of removed texts whose terms are still to be removed.
CREATE TABLE search_gone (
  id INTEGER PRIMARY KEY
) STRICT;
