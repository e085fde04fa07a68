"""The tester's ports: backends, network cards, threads, interface counters, memif peers."""
