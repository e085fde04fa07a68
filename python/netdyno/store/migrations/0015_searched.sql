-- Whether a value is the highest load that passed, of all streams at once. Stores before tell by its name.
ALTER TABLE result_values ADD COLUMN searched INTEGER NOT NULL DEFAULT 0;
UPDATE result_values SET searched = 1 WHERE name IN ('throughput', 'NDR', 'PDR');
