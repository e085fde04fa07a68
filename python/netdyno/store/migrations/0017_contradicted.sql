-- Which trials of the case lost frames at a throughput, a clause; stores before did not look.
ALTER TABLE result_values ADD COLUMN contradicted TEXT NOT NULL DEFAULT '';
