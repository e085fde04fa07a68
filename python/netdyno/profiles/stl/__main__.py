"""The child: limits itself, runs a profile and prints its streams. Only these go to the first stdout."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile

CPU_S, MEMORY = 10, 1 << 30


def limit() -> None:
    """No more time, memory and processes than a profile needs, and no file written."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Of the superuser none are counted.
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def main() -> None:
    """The request is a JSON object in the first argument: path, tunables, ports, library."""
    request = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    limit()
    sys.argv[:] = [request["path"]]
    from netdyno.profiles.stl import load

    if request["library"]:
        sys.path.insert(0, request["library"])
        # Scapy asks where temporary files may be, and Python would try by writing one.
        tempfile.tempdir = "/tmp"
    else:
        from netdyno.profiles.stl.names import Finder

        sys.meta_path.insert(0, Finder())
    found = load.ask(request["path"], request["tunables"], request["ports"])
    json.dump(found, answers)
    answers.flush()
    # Not through what a profile left to be done at the end.
    os._exit(0)


if __name__ == "__main__":
    main()
