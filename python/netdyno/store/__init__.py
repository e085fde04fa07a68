"""The record of a run: one folder, one SQLite file, every trial as it ends.

A run is written by one process through `RunWriter` and read by any number through `open_run`, also
while it is being written. Every call of the writer is one transaction: once it has returned, what it
wrote survives a kill and a power cut. The store neither judges nor renders.
"""

from netdyno.store.hold import Hold, is_held
from netdyno.store.listing import list_runs
from netdyno.store.notes import add_notes, read_notes
from netdyno.store.read import StoredRun, Verified, open_run
from netdyno.store.schema import FILE, SQLITE_VERSION, DamagedError, NoRoomError, StoreError
from netdyno.store.write import RunWriter, new_folder

__all__ = [
    "FILE",
    "SQLITE_VERSION",
    "DamagedError",
    "Hold",
    "NoRoomError",
    "RunWriter",
    "StoreError",
    "StoredRun",
    "Verified",
    "add_notes",
    "is_held",
    "list_runs",
    "new_folder",
    "open_run",
    "read_notes",
]
