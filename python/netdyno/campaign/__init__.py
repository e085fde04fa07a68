"""A run from plan to record: cases, attempts, workers, events."""
