"""The table of members of LAGs that died during a load: its name, and the columns that first screens read."""

from __future__ import annotations

TABLE = "Failures of members"
MEMBER, BY, LEFT = "member", "died by", "left after"
LOST, LASTED = "lost", "for"
LOST_BACK, LASTED_BACK = "lost on return", "on return for"
