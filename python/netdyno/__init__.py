"""netdyno: a dynamometer for routers and switches."""
