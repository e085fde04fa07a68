"""Refuse programs that tests start what tests are refused: imported where PYTHONPATH leads here."""

import real_time

real_time.forbid_real_time()
