-- What an exchange is worth that was imported from another program's file: exact,
-- rebuilt or view only. Empty for what was recorded.
ALTER TABLE exchange ADD COLUMN imported TEXT NOT NULL DEFAULT '';
