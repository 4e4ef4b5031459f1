-- Calls and results lie in one table, by the exchange that holds them: with a table
-- and an index each, a step wrote four pages for them. Programs change lookups to
-- the new ids of calls after this, and drop call_moved.
CREATE TABLE pair (
  n        INTEGER NOT NULL, -- exchange.n
  kind     INTEGER NOT NULL, -- 0: a call of its answer; 1: a result of that call; 2: a result that its request brought
  call     INTEGER NOT NULL, -- id of the call: the number of its exchange, then 24 bits for its place in the answer
  other    INTEGER NOT NULL, -- 1: number of the exchange that brought the result; else 0
  at       TEXT    NOT NULL, -- of the call or the result
  key      BLOB,             -- 0: key of the call item
  call_id  TEXT,
  name     TEXT,
  found_by TEXT,             -- 1
  latency  REAL,
  is_error INTEGER,
  PRIMARY KEY (n, kind, call, other, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE call_moved (
  id   INTEGER PRIMARY KEY,
  call INTEGER NOT NULL
) STRICT;
INSERT INTO call_moved
  SELECT c.id, (e.n << 24) + row_number() OVER (PARTITION BY e.n ORDER BY c.id) - 1 FROM call c JOIN exchange e ON e.id = c.exchange;

INSERT INTO pair (n, kind, call, other, at, key, call_id, name)
  SELECT m.call >> 24, 0, m.call, 0, c.at, c.key, c.call_id, c.name FROM call c JOIN call_moved m ON m.id = c.id;
INSERT INTO pair (n, kind, call, other, at, found_by, latency, is_error)
  SELECT m.call >> 24, 1, m.call, e.n, r.at, r.found_by, r.latency, r.is_error
  FROM result r JOIN call_moved m ON m.id = r.call JOIN exchange e ON e.id = r.exchange;
INSERT INTO pair (n, kind, call, other, at)
  SELECT other, 2, call, 0, at FROM pair WHERE kind = 1;
DROP TABLE call;
DROP TABLE result;
