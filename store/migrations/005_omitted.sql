-- What a user chose to leave out of a stored body; its bytes are then not those
-- of the wire.
ALTER TABLE exchange ADD COLUMN request_omitted  TEXT NOT NULL DEFAULT '';
ALTER TABLE exchange ADD COLUMN response_omitted TEXT NOT NULL DEFAULT '';
