"""The formats that load tests are imported from: one file and one line each."""

from __future__ import annotations

from netdyno.imports.imported import Importer
from netdyno.values.table import load_table

MODULES = ("ipng", "iperf3")
"""Each has its format as `IMPORTER`."""

IMPORTERS: dict[str, Importer] = {
    one.name: one for one in load_table(__name__, "IMPORTER", Importer, MODULES)
}
"""By the name that `netdyno import` calls them."""
