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
CREATE INDEX mark_first ON mark (first);

-- The last word on each exchange; target is an exchange, a run, or NULL.
CREATE TABLE override (
  exchange ANY PRIMARY KEY,
  verb     TEXT NOT NULL,
  target   ANY,
  said     INTEGER
) STRICT, WITHOUT ROWID;

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
CREATE TRIGGER exchange_marks_move AFTER DELETE ON exchange BEGIN
  DELETE FROM override WHERE exchange = OLD.id;
  UPDATE mark SET first = (SELECT id FROM exchange WHERE run = mark.run ORDER BY n LIMIT 1) WHERE first = OLD.id;
END;
