#!/usr/bin/env python3
"""Runs a command as a stage of `make test`: notes its wall time, its processor time and the load beside it.

usage: stage.py FILE NAME COMMAND...; FILE has a line a stage, its last word the exit code.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time

file, name, *command = sys.argv[1:]
begun = time.monotonic()
try:
    code = subprocess.run(command).returncode
except KeyboardInterrupt:
    code = 130
wall_s = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu_s, load = used.ru_utime + used.ru_stime, os.getloadavg()[0]
line = f"{name:10} {wall_s:6.0f} s wall {cpu_s:6.0f} s CPU, load {load:.1f}, exit {code}"
print(f"== stage {line}", flush=True)
with open(file, "a") as notes:
    notes.write(f"{line}\n")
sys.exit(code if code >= 0 else 1)
