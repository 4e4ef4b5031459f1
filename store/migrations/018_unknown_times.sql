-- What an import does not know is NULL: when a request began, when its answer ended,
-- how long a call took.

-- Imports invented it. An answer without a time took exactly a second, and one in a
-- file without any times began where the one before had ended.
UPDATE exchange SET started = NULL, duration = 0 WHERE imported IN ('rebuilt', 'view only') AND (
  results > 0 AND started = (SELECT p.ended FROM exchange p WHERE p.id = exchange.parent) OR
  ended - started = 1000000000 AND url = 'https://api.openai.com/v1/chat/completions');
UPDATE exchange SET ended = NULL, duration = 0 WHERE imported IN ('rebuilt', 'view only') AND ended IS NOT NULL AND (
  ended - started = 1000000000 OR started IS NULL AND url = 'https://api.openai.com/v1/chat/completions');
UPDATE run SET started = NULL WHERE id IN (SELECT run FROM exchange WHERE imported <> '')
  AND NOT EXISTS (SELECT 1 FROM exchange e WHERE e.run = run.id AND e.started IS NOT NULL);

ALTER TABLE result RENAME COLUMN latency TO told;
ALTER TABLE result ADD COLUMN latency REAL;
UPDATE result SET latency = told
  WHERE NOT EXISTS (SELECT 1 FROM exchange e WHERE e.id = result.exchange AND e.started IS NULL)
  AND NOT EXISTS (SELECT 1 FROM call c JOIN exchange e ON e.id = c.exchange WHERE c.id = result.call AND e.ended IS NULL);
ALTER TABLE result DROP COLUMN told;
