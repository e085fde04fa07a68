"""Figures as Vega-Lite specs and small drawings."""
