-- How much of what was written into a prompt cache is kept for an hour, which is
-- priced otherwise than five minutes. NULL is not known: reindexing tells.
ALTER TABLE exchange ADD COLUMN cache_write_1h INTEGER;
