-- A search that is narrowed by status or time looks here first.
CREATE INDEX exchange_status  ON exchange (status) WHERE status <> 200;
CREATE INDEX exchange_started ON exchange (started);
