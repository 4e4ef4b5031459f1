-- A take may send many requests: its steps and where each tool result came from
-- have rows of their own, so that one that grows is not written anew each time.
-- A step is written before its request is sent, so that the exchange is known
-- for a replay whenever it comes.
DROP INDEX take_exchange; -- first, so that its page is used again
CREATE TABLE take_step (
  exchange ANY     PRIMARY KEY,
  take     INTEGER NOT NULL, -- take.n
  step     INTEGER NOT NULL, -- 0 for a side call
  attempt  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX take_step_take ON take_step (take, step, attempt);
INSERT OR IGNORE INTO take_step SELECT exchange, n, 1, 1 FROM take WHERE exchange <> '';

CREATE TABLE take_result (
  take       INTEGER NOT NULL, -- take.n
  n          INTEGER NOT NULL, -- in the order in which the model got them, from 1
  call_id    TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  source     TEXT    NOT NULL,
  exchange   ANY     NOT NULL,
  taken_from ANY,
  PRIMARY KEY (take, n)
) STRICT, WITHOUT ROWID;

ALTER TABLE take ADD COLUMN ended INTEGER;
ALTER TABLE take ADD COLUMN parent ANY; -- id of the take that it goes on from
ALTER TABLE take ADD COLUMN mode TEXT NOT NULL DEFAULT 'once';
ALTER TABLE take ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE take ADD COLUMN sample TEXT NOT NULL DEFAULT ''; -- the group that it is compared in
ALTER TABLE take ADD COLUMN arm TEXT NOT NULL DEFAULT '';
ALTER TABLE take ADD COLUMN outcome TEXT NOT NULL DEFAULT 'in_progress';
ALTER TABLE take ADD COLUMN stop_reason TEXT NOT NULL DEFAULT '';
UPDATE take SET stop_reason = 'once',
  ended = (SELECT ended FROM exchange e WHERE e.id = take.exchange),
  outcome = coalesce((SELECT outcome FROM exchange e WHERE e.id = take.exchange), 'ok');

ALTER TABLE take DROP COLUMN exchange;
