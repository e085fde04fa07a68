"""The tester's own limits, measured without a device.

proven      what a verdict reads
document    a calibration as a value, and as text
shelf       where calibrations are kept, and which one a case may rest on
traffic     which frames are the same work
looping     which streams run on joined ports, so that each port does what it does in the lab
by_host     the same on other hosts, and what of several a trial may rest on
suite       the measuring itself, C0 to C10; not imported here, since verdicts and reports read proofs only
"""

from netdyno.calibration.document import Calibration, CalibrationError, Check
from netdyno.values.proven import Proven

__all__ = ["Calibration", "CalibrationError", "Check", "Proven"]
