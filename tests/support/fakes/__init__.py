"""Devices that tests reach by SSH. Written from what the systems do, not from what our parsers read."""
