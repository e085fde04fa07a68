"""Wrappers around every method of a campaign: late frames, contradicted throughputs, proven routes."""
