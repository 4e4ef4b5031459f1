-- Texts from this id on are in search_term by their words too, and not only by
-- stretches of four characters. Those before are found as they were.
ALTER TABLE search_state ADD COLUMN words_from INTEGER NOT NULL DEFAULT 1;
UPDATE search_state SET words_from = next;
