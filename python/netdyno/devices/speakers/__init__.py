"""Routing speakers of the tester: a BIRD beside each port that a plan has `routing` for, and its table.

table     a table of routes: a synthetic one, and BIRD's words for it
mrt       a table that a route collector dumped
announced what the speakers of a plan announce, and which of its prefixes test frames go to
bird      the configuration of BIRD
port      the speaker's own interface, in a namespace of its own, above that of the test frames
taps      interfaces of a speaker on VLANs of its port
speaking  all speakers of a case: started, waited for, watched, asked
"""
