"""What a plan's `service` does to each packet: put in place, proven, switched off and on between trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from netdyno.devices.kind import Program
from netdyno.devices.linux.features import FEATURES
from netdyno.devices.linux.features.feature import Feature
from netdyno.devices.linux.features.proof import prove
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.wiring import LabError, Wiring
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING


@dataclass(frozen=True)
class Features(Service):
    """One of `FEATURES`, on the way from the first port to the second."""

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        if value == NO_SERVICE:
            return wiring
        if len(wiring.ports) != 2:
            raise ValueError(f"the service `{value}` is between two ports, and there are {len(wiring.ports)}")
        return replace(wiring, switched=(*wiring.switched, self.setting))

    def list_programs(self, settings: Mapping[str, str]) -> tuple[Program, ...]:
        return FEATURES[settings[self.setting]].programs

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        feature = FEATURES[lab.wiring.settings[self.setting]]
        feature.install(lab)
        prove(feature, lab, lab.interfaces)
        yield Installed(switch=Switch(feature, lab), instruments=feature.instruments(lab))


class Switch:
    """A feature that trials are made with and without."""

    def __init__(self, feature: Feature, lab: Lab) -> None:
        self._feature = feature
        self._lab = lab
        self._is_on = True
        self._trials = 0
        """Since it was put in place."""
        self._counted = feature.count(lab)

    def __call__(self, settings: Mapping[str, str]) -> None:
        """Before a trial. Raises LabError, also where the trials with it did not move its counter."""
        is_wanted = settings.get(SERVICE_SETTING) != NO_SERVICE
        if is_wanted and not self._is_on:
            self._feature.install(self._lab)
            self._trials, self._counted = 0, self._feature.count(self._lab)
        elif self._is_on and not is_wanted:
            if self._trials:
                self._look()
            self._feature.remove(self._lab)
        self._is_on = is_wanted
        self._trials += is_wanted

    def _look(self) -> None:
        """Whether test frames came to it: what they did not come to costs them nothing."""
        counted = self._feature.count(self._lab)
        if counted is not None and self._counted is not None and counted <= self._counted:
            raise LabError(
                f"no test frame came to the service `{self._feature.name}`: its own counter stands still at"
                f" {counted}",
                "it works from the first port to the second, on IPv4: look at what the profile sends",
                code="service-idle",
            )


SERVICE = Features(SERVICE_SETTING, (NO_SERVICE, *FEATURES))
