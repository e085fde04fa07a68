"""What a plan's `service` does to each packet: put in place, proven, switched off and on between trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from netdyno.devices.kind import Program
from netdyno.devices.linux.features import FEATURES, tracking
from netdyno.devices.linux.features.feature import Feature
from netdyno.devices.linux.features.proof import prove
from netdyno.devices.linux.features.tracking import prepare, read_refused
from netdyno.devices.linux.leftovers import own_folder
from netdyno.devices.linux.programs import tool
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.wiring import LabError, Trait, Wiring
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING


@dataclass(frozen=True)
class Features(Service):
    """One of `FEATURES`, on the way from the first port to the second."""

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        if value == NO_SERVICE:
            return wiring
        if len(wiring.ports) != 2:
            raise ValueError(f"the service `{value}` is between two ports, and there are {len(wiring.ports)}")
        feature = FEATURES[value]
        has = {Trait.KEEPS_STATE: feature.keeps_state, Trait.WORKS_APART: feature.works_apart}
        traits = wiring.traits | {trait for trait, is_so in has.items() if is_so}
        return replace(wiring, switched=(*wiring.switched, self.setting), traits=traits)

    def list_programs(self, settings: Mapping[str, str]) -> tuple[Program, ...]:
        return FEATURES[settings[self.setting]].programs

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        feature = FEATURES[lab.wiring.settings[self.setting]]
        for program in feature.programs:
            tool(program)
        with own_folder("service") as folder:
            lab = replace(lab, folder=folder)
            switch = Switch(feature, lab)
            yield Installed(
                switch=switch,
                look=switch.look,
                instruments=feature.instruments(lab),
                of_links=(feature.restore(lab),),
                notes=switch.notes,
                queue_drops=partial(feature.queue_drops, lab),
            )
            if switch.is_on and feature.count(lab) is None:
                # No counter has shown that it was at work to the last.
                prove(feature, lab, lab.interfaces)


class Switch:
    """A feature that trials are made with and without: put in place and proven, and looked at after each."""

    def __init__(self, feature: Feature, lab: Lab) -> None:
        """Raises LabError."""
        self._feature = feature
        self._lab = lab
        self.is_on = True
        self._put_in_place()
        prove(feature, lab, lab.interfaces)
        # The test may have the flow of the proof.
        feature.forget(lab)
        self._mark_counters()

    def __call__(self, settings: Mapping[str, str]) -> None:
        """Before a trial. Raises LabError."""
        is_wanted = settings.get(SERVICE_SETTING) != NO_SERVICE
        if is_wanted and not self.is_on:
            self._put_in_place()
            self._mark_counters()
        elif self.is_on and not is_wanted:
            self._feature.remove(self._lab)
        self.is_on = is_wanted

    def _put_in_place(self) -> None:
        self._feature.install(self._lab)
        self.notes = self._feature.notes()
        if self._feature.keeps_state:
            self.notes = (*self.notes, prepare(self._lab, self._feature.name))

    def _mark_counters(self) -> None:
        """Where its counters stand before the first trial."""
        self._first = self._counted = self._feature.count(self._lab)
        self._refused = read_refused(self._lab, self._feature.name) if self._feature.keeps_state else None

    def look(self, frames: int) -> None:
        """After a trial in which so many test frames came out. Raises LabError where they came past it: then
        they cost nothing."""
        if not self.is_on:
            return
        if self._refused is not None:
            tracking.check_table(self._lab, self._feature, self._refused)
        if not frames:
            return
        before, self._counted = self._counted, self._feature.count(self._lab)
        if before is None or self._counted is None:
            return
        hint = "it works from the first port to the second, on IPv4: look at what the profile sends"
        if self._counted == self._first:
            raise LabError(
                f"no test frame came to the service `{self._feature.name}`: its own counter stands still at"
                f" {self._counted}",
                hint,
                code="service-idle",
            )
        if self._feature.counts_frames and self._counted - before < frames:
            raise LabError(
                f"{frames} test frames came out, and the service `{self._feature.name}` counted only"
                f" {self._counted - before}: the others came past it",
                hint,
                code="service-bypassed",
            )


SERVICE = Features(SERVICE_SETTING, (NO_SERVICE, *FEATURES))
