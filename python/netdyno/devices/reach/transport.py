"""paramiko's transport that asks for the service of logins once, as servers may end a connection that asks
again; and that misses no answer."""

from __future__ import annotations

import threading
from typing import Any

import paramiko
from paramiko.auth_handler import AuthOnlyHandler


class _Answered:
    """Set where one of two events is."""

    def __init__(self, first: threading.Event, second: threading.Event) -> None:
        self._first, self._second = first, second

    def wait(self, for_s: float) -> bool:
        """Whether it is set, after so long at most."""
        return self._first.is_set() or self._second.wait(for_s) or self._first.is_set()

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._first.is_set() or self._second.is_set()


class _Handler(AuthOnlyHandler):  # type: ignore[misc]
    """paramiko 4 makes the event that an answer sets after it has sent: a quick answer would set none, and
    the login wait for it until its time is over."""

    def send_auth_request(self, *given: Any, **named: Any) -> Any:
        self.auth_event = self._early = threading.Event()
        return super().send_auth_request(*given, **named)

    def wait_for_response(self, event: threading.Event) -> Any:
        return super().wait_for_response(_Answered(self._early, event))


class Transport(paramiko.ServiceRequestingTransport):  # type: ignore[misc]
    """A connection of a login."""

    def get_auth_handler(self) -> AuthOnlyHandler:
        """What asks, and hears the answers."""
        return _Handler(self)
