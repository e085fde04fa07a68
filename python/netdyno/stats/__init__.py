"""Statistics of latencies, losses and repeats."""
