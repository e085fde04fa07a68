"""Ports of the tester on several hosts: one session of the engine on each, as one.

door      the connection to Dask's scheduler and workers: it loads `distributed`, once hosts are asked for
resident  what runs on a host: the engine's session, in an actor
spread    a session over hosts with the methods of the engine's own
split     the specs of a session and a trial, by host
clocks    how far a host's clock is from ours
merge     snapshots and results of all hosts as those of one
"""
