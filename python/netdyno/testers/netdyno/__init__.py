"""netdyno's own engine as a tester."""
