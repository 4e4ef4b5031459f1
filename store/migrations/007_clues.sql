-- More by which a request finds what it continues. Clues are hashes of texts that
-- calls passed on, of what a request wanted and had not come yet, of items that
-- can be referred to, of conversations … In exchange: the history after the
-- output without call ids, the settings in short, what was changed against the
-- exchange before, and up to which exchange everything was known when the link
-- was made (0: up to the exchange itself).
ALTER TABLE exchange ADD COLUMN loose_node BLOB;
ALTER TABLE exchange ADD COLUMN settings   BLOB;
ALTER TABLE exchange ADD COLUMN change     TEXT; -- JSON
ALTER TABLE exchange ADD COLUMN as_of      INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER exchange_gone;
CREATE TABLE clue (
  value BLOB    NOT NULL,
  n     INTEGER NOT NULL, -- number of the exchange
  at    TEXT    NOT NULL, -- where in its answer, '' for all of it
  PRIMARY KEY (value, n, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX clue_n ON clue (n);
INSERT INTO clue SELECT text, n, at FROM prompt;
DROP TABLE prompt;
CREATE TRIGGER exchange_gone AFTER DELETE ON exchange BEGIN
  DELETE FROM clue WHERE n = OLD.n;
END;

-- The last step of an agent, and the first requests of a run.
CREATE INDEX exchange_agent ON exchange (agent, n) WHERE agent IS NOT NULL;
CREATE INDEX exchange_first ON exchange (run, n)   WHERE parent IS NULL;
