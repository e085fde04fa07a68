"""netdyno's own engine as a tester.

spec      a case and a trial as the engine gets them, and its answers as values
engine    loads the engine: the only module that drives a trial of it
session   the tester that a campaign uses; `raw` gives calibration the engine's own shapes
"""

from netdyno.testers.netdyno.session import Netdyno, raw

__all__ = ["TESTER", "Netdyno", "raw"]

TESTER = Netdyno()
