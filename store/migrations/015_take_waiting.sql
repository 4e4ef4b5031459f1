-- What a tool gave a take that no request has brought to the model yet: a take that
-- goes on from it need not run the tool again. NULL once a request holds it.
ALTER TABLE take_result ADD COLUMN text TEXT;
ALTER TABLE take_result ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
