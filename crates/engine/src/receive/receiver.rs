//! The receiving side: whose frame it is, whether it is new, in order, intact, and how long it took.

use super::arrivals::{Arrivals, PortArrivals, extremes};
use super::bound::Bound;
use super::strangers::{is_load, is_quoting};
use super::tuples::Tuples;
use crate::observe::{Flows, Series};
use netdyno_frame::checksum::{Checked, verify_counting};
use netdyno_frame::parse::parse;
use netdyno_frame::probe::{Probe, find};
use netdyno_frame::side_by_side::{PLAIN, Probes, WIDTH, are_plain_and_intact};
use netdyno_frame::tuple::FourTuple;
use netdyno_io::port::{Burst, Slot};
use netdyno_io::tail::Seen;
use std::ops::Range;

/// Bytes of the FCS, which no slot holds and every count does.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// The departure of frames that open flows before traffic: of no trial's time.
pub const OPENING_PS: u64 = u64::MAX;

/// The receiving side of all ports.
#[derive(Debug)]
pub struct Receiver {
    /// Streams, in the order of the trial.
    pub streams: Vec<Arrivals>,
    bounds: Vec<Bound>,
    /// Where samples of time lie.
    time: Series,
    /// Ports, in the order of the trial.
    pub ports: Vec<PortArrivals>,
    /// What is remembered of each flow.
    pub flows: Flows,
    /// With which addresses and ports each comes, if any stream's are looked at.
    tuples: Option<Box<Tuples>>,
    verify: bool,
    /// Whether streams are observed: all of them or none.
    observes: bool,
    /// Whether frames of any stream hold a probe.
    has_probes: bool,
    /// Length of an interval, and when the one under way ends at each port; never, if none is asked for.
    interval_ps: u64,
    intervals_end_ps: Vec<u64>,
    /// Departures outside of these are not of this trial.
    from_ps: u64,
    until_ps: u64,
}

impl Receiver {
    /// Receives `streams` on as many ports as `homes`, each the port that stands for its bundle; checks checksums if `verify`.
    #[must_use]
    pub fn new(mut streams: Vec<Arrivals>, flows: Flows, homes: &[usize], verify: bool) -> Self {
        let ports = homes.len();
        for stream in &mut streams {
            stream.rx_port = homes[stream.rx_port];
        }
        Self {
            observes: streams.iter().any(|stream| stream.observer.is_some()),
            has_probes: streams.iter().any(|stream| !stream.is_bare),
            bounds: streams.iter().map(Bound::of).collect(),
            time: Series::new(0, 1, 1),
            streams,
            ports: homes.iter().map(|&home| PortArrivals::none(home)).collect(),
            flows,
            tuples: None,
            verify,
            interval_ps: 0,
            intervals_end_ps: vec![u64::MAX; ports],
            from_ps: u64::MAX,
            until_ps: 0,
        }
    }

    /// Frames of stream `stream` have sequence numbers below `sequences` in their flows.
    pub fn expect(&mut self, stream: usize, sequences: u32) {
        self.bounds[stream].sequences = sequences;
    }

    /// The flows of stream `stream`, from number `first_flow` on, come with these addresses and ports, which begin `back` bytes
    /// before the probe.
    pub fn expect_tuples(&mut self, stream: usize, first_flow: u32, back: usize, tuples: &[FourTuple]) {
        let (streams, flows) = (self.streams.len(), self.flows.len());
        let known = self.tuples.get_or_insert_with(|| Box::new(Tuples::new(streams, flows)));
        known.expect(stream, first_flow, back, tuples);
    }

    /// Traffic departs from `start_ps` to `until_ps` and is counted in `samples` samples of `sample_ps`.
    pub fn begin(&mut self, start_ps: u64, until_ps: u64, sample_ps: u64, samples: usize) {
        let series = Series::new(start_ps, sample_ps, samples);
        (self.from_ps, self.until_ps) = (start_ps, until_ps);
        for stream in &mut self.streams {
            (stream.rx, stream.arrived) = (series.clone(), series.clone());
            if let Some(observer) = &mut stream.observer {
                observer.begin(start_ps);
            }
        }
        for port in &mut self.ports {
            (port.rx, port.rx_bytes) = (series.clone(), series.clone());
            // What came before displaced no frame of the test.
            (port.others, port.others_bytes) = (0, 0);
        }
        self.time = series;
    }

    /// Intervals of `interval_ps` begin at `start_ps`.
    pub fn begin_intervals(&mut self, start_ps: u64, interval_ps: u64) {
        self.interval_ps = interval_ps;
        self.intervals_end_ps.fill(start_ps + interval_ps);
    }

    /// Ends the intervals until `at_ps` that no frame behind them has ended.
    pub fn end_intervals(&mut self, at_ps: u64) {
        for port in 0..self.ports.len() {
            while self.intervals_end_ps[port] <= at_ps {
                self.end_interval(port);
            }
        }
    }

    fn end_interval(&mut self, port: usize) {
        for stream in self.streams.iter_mut().filter(|stream| stream.rx_port == port) {
            stream.intervals.end(&stream.timing);
        }
        self.intervals_end_ps[port] += self.interval_ps;
    }

    /// Puts down with each stream what was counted of it.
    pub fn settle(&mut self) {
        for (bound, stream) in self.bounds.iter_mut().zip(&mut self.streams) {
            bound.settle(stream);
        }
    }

    /// Adds what another worker received in the same trial. Returns how many flows both saw frames of.
    pub fn absorb(&mut self, other: &Self) -> u64 {
        for (stream, more) in self.streams.iter_mut().zip(&other.streams) {
            stream.absorb(more);
        }
        for (port, more) in self.ports.iter_mut().zip(&other.ports) {
            port.absorb(more);
        }
        self.flows.absorb(&other.flows)
    }

    /// Takes in a burst that arrived on `port`. Frames later than `until_ps` do not count. `foreign` is
    /// called with what is not a test frame and when it arrived.
    pub fn take(&mut self, port: usize, burst: &Burst<'_>, until_ps: u64, foreign: &mut dyn FnMut(&[u8], u64)) {
        let (home, mut first) = (self.ports[port].home, 0);
        let is_behind = |slot: &Slot, end_ps: u64| slot.at.ps >= end_ps;
        loop {
            let end_ps = self.intervals_end_ps[home];
            if end_ps > until_ps || !burst.slots().last().is_some_and(|slot| is_behind(slot, end_ps)) {
                break;
            }
            let next = (first..burst.len())
                .find(|&index| is_behind(&burst.slots()[index], end_ps))
                .unwrap_or(first);
            self.take_some(port, burst, first..next, until_ps, foreign);
            self.end_interval(home);
            first = next;
        }
        self.take_some(port, burst, first..burst.len(), until_ps, foreign);
    }

    /// Takes in frames of a burst that arrived in one interval.
    fn take_some(&mut self, port: usize, burst: &Burst<'_>, of: Range<usize>, until_ps: u64, foreign: &mut dyn FnMut(&[u8], u64)) {
        if self.observes {
            self.take_burst::<true>(port, burst, of, until_ps, foreign);
        } else {
            self.take_burst::<false>(port, burst, of, until_ps, foreign);
        }
    }

    /// As [`Self::take`], of streams that are `OBSERVED` or not: each of its own, so that the one is compiled as if the other
    /// were not there.
    #[inline(never)]
    fn take_burst<const OBSERVED: bool>(
        &mut self,
        port: usize,
        burst: &Burst<'_>,
        of: Range<usize>,
        until_ps: u64,
        foreign: &mut dyn FnMut(&[u8], u64),
    ) {
        for first in of.clone().step_by(WIDTH) {
            let run = first..of.end.min(first + WIDTH);
            if !self.take_as_one::<OBSERVED>(port, burst, run.clone(), until_ps) {
                self.take_each::<OBSERVED>(port, burst, run, until_ps, foreign);
            }
        }
    }

    /// Hands over what other workers that receive the same streams wait for.
    pub fn tend(&mut self) {
        if self.observes {
            let observers = self.streams.iter_mut().filter_map(|stream| stream.observer.as_mut());
            observers.for_each(|observer| observer.tend());
        }
    }

    /// Takes in up to [`WIDTH`] frames at once, if they are all test frames, intended for this port and intact.
    /// If not, nothing has been counted.
    fn take_as_one<const OBSERVED: bool>(&mut self, port: usize, burst: &Burst<'_>, run: Range<usize>, until_ps: u64) -> bool {
        let to = &mut self.ports[port];
        if to.hint == 0 {
            return false;
        }
        let home = to.home;
        let frames = || run.clone().map(|index| burst.frame(index));
        let Some(probes) = Probes::read(frames(), to.hint as usize) else {
            return false;
        };
        // The flows of the frames behind these, most often: four states to a cache line.
        let last = (probes.who[frames().len() - 1] >> 32) as usize;
        for ahead in (4..=WIDTH + WIDTH / 2).step_by(4) {
            self.flows.expect(last + ahead);
        }
        let current = self.bounds.partition_point(|stream| stream.end <= probes.probe(0).flow);
        let from = if current == 0 { 0 } else { self.bounds[current - 1].end };
        let Some(bound) = self.bounds.get(current).filter(|bound| bound.rx_port as usize == home) else {
            return false;
        };
        let slots = &burst.slots()[run.clone()];
        let count = slots.len();
        // Lanes without a frame repeat the first, as in the probes.
        let (mut arrivals, mut bytes) = ([slots[0].at.ps; WIDTH], FCS_BYTES * count as u64);
        for (arrival, slot) in arrivals.iter_mut().zip(slots) {
            *arrival = slot.at.ps;
            bytes += u64::from(slot.len);
        }
        let (low, high) = extremes(&arrivals);
        // Where streams take turns, the second frame or the last one is of another stream.
        let is_of_it = |lane: usize| (from..bound.end).contains(&probes.probe(lane).flow);
        let is_one = is_of_it(1) && is_of_it(count - 1) && probes.are_all(from, bound.end, bound.sequences, self.from_ps, self.until_ps);
        let all = self.bounds.last().map_or(0, |bound| bound.end);
        if high > until_ps
            || !is_one && !probes.are_all(0, all, u32::MAX, self.from_ps, self.until_ps)
            || self.verify && !are_intact(burst, run.clone())
        {
            return false;
        }
        let mut of = [0; WIDTH];
        if !is_one && !self.find_each(home, &probes, current, &mut of[..count]) {
            return false;
        }
        if let Some(tuples) = &mut self.tuples {
            let place = self.ports[port].hint as usize;
            for (lane, frame) in run.clone().map(|index| burst.frame(index)).enumerate() {
                let of = if is_one { current } else { of[lane] };
                self.streams[of].retranslated += tuples.look(of, probes.probe(lane).flow, frame, place);
            }
        }
        let to = &mut self.ports[port];
        to.frames += count as u64;
        to.bytes += bytes;
        to.rx.add_each(&arrivals[..count], low, high);
        if to.rx.holds(low) && to.rx.holds(high) {
            to.rx_bytes.add(low, bytes);
        } else {
            for slot in slots {
                to.rx_bytes.add(slot.at.ps, u64::from(slot.len) + FCS_BYTES);
            }
        }
        if !is_one {
            self.take_mixed::<OBSERVED>(port, slots, &probes, &of[..count]);
            return true;
        }
        let stream = &mut self.streams[current];
        // Nothing but the flows' states depends on each other in this loop, so that waiting for memory overlaps.
        let mut again = 0_u64;
        for lane in 0..count {
            if !stream.is_new::<OBSERVED>(&mut self.flows, probes.probe(lane)) {
                again |= 1 << lane;
            }
        }
        if OBSERVED && let Some(observer) = &mut stream.observer {
            for lane in (0..count).filter(|lane| again >> lane & 1 == 0) {
                observer.record_arrival(probes.probe(lane), arrivals[lane], port);
            }
        }
        if again != 0 {
            stream.take_new::<OBSERVED>(&probes.departure_ps, slots, again);
            return true;
        }
        stream.received += count as u64;
        stream.received_bytes += bytes;
        if OBSERVED && !stream.times_all(&probes.departure_ps) {
            stream.time_observed(&probes.departure_ps[..count], &arrivals);
        } else {
            stream.timing.record_side_by_side(&probes.departure_ps, &arrivals, count);
        }
        stream.rx.add_each(&arrivals[..count], low, high);
        let (low, high) = extremes(&probes.departure_ps);
        stream.arrived.add_each(&probes.departure_ps[..count], low, high);
        true
    }

    /// Finds the streams `of` frames with these probes, the first of which is of stream `current`. Whether they are all intended
    /// for this port, which `home` stands for, and can have been sent.
    #[inline(never)]
    fn find_each(&self, home: usize, probes: &Probes, mut current: usize, of: &mut [usize]) -> bool {
        for (lane, of) in of.iter_mut().enumerate() {
            let probe = probes.probe(lane);
            current = self.find(probe.flow, current);
            let bound = self.bounds[current];
            if bound.rx_port as usize != home || probe.sequence >= bound.sequences {
                return false;
            }
            *of = current;
        }
        true
    }

    /// Takes in the frames in `slots`, which have these probes, are intact and of the streams `of`. Port `port` has counted them.
    #[inline(never)]
    fn take_mixed<const OBSERVED: bool>(&mut self, port: usize, slots: &[Slot], probes: &Probes, of: &[usize]) {
        let arrivals = &mut self.ports[port].rx;
        for (lane, (slot, &current)) in slots.iter().zip(of).enumerate() {
            let (probe, at, bytes) = (probes.probe(lane), slot.at.ps, u64::from(slot.len) + FCS_BYTES);
            let stream = &mut self.streams[current];
            if !stream.is_new::<OBSERVED>(&mut self.flows, probe) {
                continue;
            }
            if OBSERVED && let Some(observer) = &mut stream.observer {
                observer.record_arrival(probe, at, port);
            }
            let (rx, arrived) = (arrivals.place(at), self.time.place(probe.departure_ps));
            self.bounds[current].count(stream, rx, arrived, bytes);
            stream.time::<OBSERVED>(probe.departure_ps, at);
        }
    }

    /// The stream of flow `flow`, of which there is one: most often the one of the frame before, `current`, or the next.
    #[inline]
    fn find(&self, flow: u32, current: usize) -> usize {
        let is_in = |stream: usize| {
            let from = if stream == 0 { 0 } else { self.bounds[stream - 1].end };
            self.bounds.get(stream).is_some_and(|bound| flow >= from && flow < bound.end)
        };
        match current {
            same if is_in(same) => same,
            before if is_in(before + 1) => before + 1,
            _ => self.bounds.partition_point(|bound| bound.end <= flow),
        }
    }

    /// Takes in the frames of `run` one by one.
    fn take_each<const OBSERVED: bool>(
        &mut self,
        port: usize,
        burst: &Burst<'_>,
        run: Range<usize>,
        until_ps: u64,
        foreign: &mut dyn FnMut(&[u8], u64),
    ) {
        let to = &mut self.ports[port];
        let (home, verify) = (to.home, self.verify);
        let (first_flow, flows) = (0, self.streams.last().map_or(0, |stream| stream.end));
        // The stream of the last frame and its flows: most frames are of the same one.
        let (mut current, mut from, mut end) = (usize::MAX, first_flow, first_flow);
        for index in run {
            let slot = &burst.slots()[index];
            let at = slot.at.ps;
            if at > until_ps {
                continue;
            }
            let frame = burst.frame(index);
            let bytes = u64::from(slot.len) + FCS_BYTES;
            to.frames += 1;
            to.bytes += bytes;
            let is_intact = |checked: Checked| !verify || intact(burst.seen(index)) || checked != Checked::ALL && checked.is_good(frame);
            let known = to.hint;
            let read = if self.has_probes { find(frame, &mut to.hint) } else { None };
            let (from_ps, until_ps) = (self.from_ps, self.until_ps);
            let is_of_trial = |(probe, _): &(Probe, usize)| probe.flow < flows && (from_ps..=until_ps).contains(&probe.departure_ps);
            let found = read
                .filter(is_of_trial)
                .or_else(|| find_elsewhere(frame, read?.1, &mut to.hint).filter(is_of_trial));
            let Some((probe, place)) = found else {
                if read.is_some_and(|(probe, _)| probe.departure_ps == OPENING_PS) {
                    to.foreign += 1;
                    foreign(frame, at);
                    continue;
                }
                // A device held it when the trial before ended. That it departed before it arrived is asked too, for
                // before traffic begins all times are: or a stranger could pass for such a frame, and go unanswered.
                let is_earlier =
                    |(probe, place): (Probe, usize)| probe.departure_ps < self.from_ps.min(at) && is_where_probes_are(frame, place, known);
                if read.is_some_and(is_earlier) {
                    to.stale += 1;
                    continue;
                }
                Self::stranger(&mut self.streams, &self.bounds, to, frame, at, is_intact, foreign);
                continue;
            };
            if probe.flow < from || probe.flow >= end {
                current = self.streams.partition_point(|stream| stream.end <= probe.flow);
                from = if current == 0 { 0 } else { self.streams[current - 1].end };
                end = self.streams[current].end;
            }
            let stream = &mut self.streams[current];
            // What a router says of a frame that it has no route for is none of the stream.
            let is_quoted = (stream.rx_port != home || stream.returns) && is_quoting(frame);
            if is_quoted {
                // Frames are not looked for where this one holds the probe of another.
                to.hint = known;
            }
            if is_quoted || probe.sequence >= self.bounds[current].sequences {
                Self::stranger(&mut self.streams, &self.bounds, to, frame, at, is_intact, foreign);
                continue;
            }
            to.rx.add(at, 1);
            to.rx_bytes.add(at, bytes);
            if stream.rx_port != home {
                stream.elsewhere += 1;
                if OBSERVED && let Some(observer) = &mut stream.observer {
                    observer.record_elsewhere(probe, port);
                }
                continue;
            }
            if !is_intact(stream.checked) {
                stream.take_broken(&mut self.flows, from, probe);
                continue;
            }
            if let Some(tuples) = &mut self.tuples {
                stream.retranslated += tuples.look(current, probe.flow, frame, place);
            }
            if !stream.is_new::<OBSERVED>(&mut self.flows, probe) {
                continue;
            }
            if OBSERVED && let Some(observer) = &mut stream.observer {
                observer.record_arrival(probe, at, port);
            }
            stream.take_new::<OBSERVED>(&[probe.departure_ps], std::slice::from_ref(slot), 0);
        }
    }

    /// A frame without a probe of this trial: a test frame whose content is broken, one of a stream without a probe, or none of
    /// ours.
    #[cold]
    #[allow(clippy::too_many_arguments)] // parts of the receiver, so that others stay borrowed; and the frame
    fn stranger(
        streams: &mut [Arrivals],
        bounds: &[Bound],
        to: &mut PortArrivals,
        frame: &[u8],
        at: u64,
        is_intact: impl Fn(Checked) -> bool,
        foreign: &mut dyn FnMut(&[u8], u64),
    ) {
        // Before the traffic of a trial a frame of a stream without a probe is of the trial before.
        let layers = parse(frame);
        let home = to.home;
        let is_here = |stream: &Arrivals, bound: &Bound| bound.rx_port as usize == home && (bound.sequences > 0 || stream.is_bare);
        let looks_like = |stream: &Arrivals| layers.is_some_and(|layers| stream.signature.matches(frame, layers.outer.l3 as usize));
        let mut each = streams.iter().zip(bounds);
        if let Some(index) = each.position(|(stream, bound)| is_here(stream, bound) && looks_like(stream)) {
            if bounds[index].sequences == 0 {
                to.stale += 1;
                return;
            }
            let stream = &mut streams[index];
            let bytes = frame.len() as u64 + FCS_BYTES;
            to.rx.add(at, 1);
            to.rx_bytes.add(at, bytes);
            if stream.is_bare && is_intact(stream.checked) {
                stream.received += 1;
                stream.received_bytes += bytes;
                stream.rx.add(at, 1);
                // When it departed is not known: about when it arrived.
                stream.arrived.add(at, 1);
            } else {
                stream.corrupted += 1;
            }
            return;
        }
        let may_be_of = |stream: &Arrivals| layers.is_some_and(|layers| stream.is_bare && stream.signature.is_of_kind(frame, &layers));
        let mut each = streams.iter().zip(bounds);
        if let Some(index) = each.position(|(stream, bound)| is_here(stream, bound) && may_be_of(stream)) {
            streams[index].altered += 1;
        } else if layers.is_some_and(|layers| is_load(frame, &layers))
            // Those of a stream without a probe that come to another port than is intended are no load of others.
            && !streams.iter().any(|stream| stream.is_bare && looks_like(stream))
        {
            to.others += 1;
            to.others_bytes += frame.len() as u64 + FCS_BYTES;
        }
        to.foreign += 1;
        foreign(frame, at);
    }

    /// Returns how many flows of stream `index` had an intact frame.
    #[must_use]
    pub fn flows_received(&self, index: usize) -> u64 {
        self.flow_range(index).filter(|&flow| self.flows.received(flow) > 0).count() as u64
    }

    /// Returns the numbers of the flows of stream `index`.
    pub fn flow_range(&self, index: usize) -> std::ops::Range<usize> {
        let from = if index == 0 { 0 } else { self.streams[index - 1].end };
        from as usize..self.streams[index].end as usize
    }
}

/// Whether the checksums that are there are right, of frames that hold a probe.
#[inline(always)]
fn are_intact(burst: &Burst<'_>, run: Range<usize>) -> bool {
    // Those of plain frames, all of one length, are checked side by side.
    let len = burst.frame(run.start).len();
    let frames = run.clone().map(|index| burst.frame(index));
    (len == PLAIN || burst.count_from(run.clone(), PLAIN)) && are_plain_and_intact(frames, len)
        || run.map(|index| burst.seen(index)).all(intact)
}

/// Whether the checksums that are there are right, of a frame that holds a probe.
#[inline]
fn intact(frame: Seen<'_>) -> bool {
    verify_counting(frame.bytes(), frame.counts_from()).is_good()
}

/// The probe in the payload of `frame`, if that is not at `place`, where nine words that sum up to the same are no probe of the
/// trial: of frames with different headers each in some thousands has such words where the probe of another is.
#[cold]
fn find_elsewhere(frame: &[u8], place: usize, hint: &mut u32) -> Option<(Probe, usize)> {
    let payload = parse(frame)?.inner.payload as usize;
    let found = Probe::read(frame.get(payload..)?).map(|probe| (probe, payload));
    let found = found.filter(|_| payload != place)?;
    *hint = payload as u32;
    Some(found)
}

/// Whether probes are at `place` of `frame`: where the ones before it were, or at the beginning of the payload. One frame in
/// some thousands whose probe is broken has nine other words that sum up to the same.
#[cold]
fn is_where_probes_are(frame: &[u8], place: usize, known: u32) -> bool {
    known == 0 || place == known as usize || parse(frame).is_some_and(|layers| layers.inner.payload as usize == place)
}
