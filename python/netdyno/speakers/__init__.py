"""Routing protocols that the tester speaks on its ports, beside the traffic."""
