"""What the tester proved about itself before it judges a device: its own limits, measured without one."""

from netdyno.calibration.proven import Proven

__all__ = ["Proven"]
