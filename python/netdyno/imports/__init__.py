"""Load tests of other tools as runs of netdyno: read from their files, and stored like its own.

What a tool does not know is missing in the run. The limit is not judged: nothing shows whether that tool kept
up. Adding a format is one file in `formats/` and one line in its table.
"""
