-- Runs are trees of agents: who made an exchange, as which step and attempt,
-- what clients call their sessions and agents, and which texts a call passed on
-- to the agent that it started.
ALTER TABLE exchange ADD COLUMN tools   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN agent   ANY;
ALTER TABLE exchange ADD COLUMN step    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN side    INTEGER NOT NULL DEFAULT 0;

CREATE TABLE agent (
  n             INTEGER PRIMARY KEY,
  id            ANY     NOT NULL UNIQUE,
  run           ANY     NOT NULL,
  client_key    TEXT,                -- what the client calls it
  main          INTEGER NOT NULL,
  call_exchange ANY,                -- the call that started it
  call_at       TEXT,
  evidence      TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_run ON agent (run, client_key); -- those without a name are all different

CREATE TABLE run_key (
  client_key TEXT PRIMARY KEY,
  run        ANY  NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE prompt (
  text     BLOB    NOT NULL, -- hash of the text
  n        INTEGER NOT NULL, -- number of the exchange whose answer holds the call
  at       TEXT    NOT NULL, -- where the call is
  PRIMARY KEY (text, n, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX prompt_n ON prompt (n);
CREATE INDEX run_key_run ON run_key (run);

-- What names a run, or was passed on by an exchange, goes with it.
CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
  DELETE FROM agent WHERE run = OLD.id;
  DELETE FROM run_key WHERE run = OLD.id;
END;
CREATE TRIGGER exchange_gone AFTER DELETE ON exchange BEGIN
  DELETE FROM prompt WHERE n = OLD.n;
END;
