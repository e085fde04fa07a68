"""Messages that a run gives again and again: the first as it comes, at the end one line with their count."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from netdyno.values.reason import EXAMPLES


@dataclass
class _Message:
    text: str
    count: int = 0
    places: list[str] = field(default_factory=list)
    """The first of those it was given of, each once."""


class Merged:
    """Counts messages. Two are equal if their keys are: reasons with code and fields, or texts."""

    def __init__(self) -> None:
        self._messages: dict[Hashable, _Message] = {}

    def is_new(self, key: Hashable, text: str, place: str) -> bool:
        """Whether a message is given for the first time. place: the case or trial it is given of."""
        message = self._messages.setdefault(key, _Message(text))
        message.count += 1
        if len(message.places) < EXAMPLES and place not in message.places:
            message.places.append(place)
        return message.count == 1

    def lines(self) -> Iterator[str]:
        """One line for each message that was given more than once: its count and at most three places."""
        for one in self._messages.values():
            if one.count > 1:
                yield f"{one.count} times: {', '.join(one.places)}: {one.text}"
