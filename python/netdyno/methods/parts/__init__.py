"""Shared pieces of methods."""
