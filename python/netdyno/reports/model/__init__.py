"""What every report needs of a run, as plain values."""
