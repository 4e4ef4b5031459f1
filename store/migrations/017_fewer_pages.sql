-- One index for model and time: each index is a page that every step writes.
DROP INDEX exchange_model;
DROP INDEX exchange_started;
CREATE INDEX exchange_model ON exchange (model, started);
