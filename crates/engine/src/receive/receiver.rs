//! The receiving side: whose frame it is, whether it is new, in order, intact, and how long it took.

use super::signature::Signature;
use crate::observe::Observer;
use crate::observe::Series;
use crate::observe::Timing;
use crate::observe::{Flows, Order};
use netdyno_frame::checksum::verify_frame;
use netdyno_frame::lanes::{LANES, Probes, are_plain_and_intact};
use netdyno_frame::parse::parse;
use netdyno_frame::probe::{Probe, find};
use netdyno_io::port::{Burst, Slot};
use std::ops::Range;

/// Bytes of the FCS, which no slot holds and every count does.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// A stream as it arrives.
#[derive(Debug)]
pub struct Arrivals {
    rx_port: usize,
    /// Flow numbers are counted over all streams: this stream has those below `end` that are not below
    /// the end of the stream before it.
    end: u32,
    signature: Signature,
    /// One more than the highest sequence number sent so far in any flow.
    pub sequences: u32,
    /// Distinct frames received intact at the intended port.
    pub received: u64,
    /// Their bytes, FCS counted.
    pub received_bytes: u64,
    /// Further copies.
    pub duplicates: u64,
    /// Received at another port.
    pub elsewhere: u64,
    /// Of `received`, those a later frame of their flow overtook.
    pub out_of_order: u64,
    /// Content not as sent.
    pub corrupted: u64,
    /// The first of those whose probe could be read, counted in order of departure from 0; `u64::MAX` if there is none.
    pub first_corrupted: u64,
    /// Too late to tell copies from late frames.
    pub beyond_window: u64,
    /// Latency of `received`.
    pub timing: Timing,
    /// What is observed beyond that, if anything is.
    pub observer: Option<Box<Observer>>,
    /// `received` by arrival.
    pub rx: Series,
    /// `received` by departure.
    pub arrived: Series,
}

impl Arrivals {
    /// A stream whose flows have numbers below `end`, intended for port `rx_port`.
    #[must_use]
    pub fn new(rx_port: usize, end: u32, signature: Signature, observer: Option<Observer>) -> Self {
        Self {
            rx_port,
            end,
            signature,
            sequences: 0,
            received: 0,
            received_bytes: 0,
            duplicates: 0,
            elsewhere: 0,
            out_of_order: 0,
            corrupted: 0,
            first_corrupted: u64::MAX,
            beyond_window: 0,
            timing: Timing::new(),
            observer: observer.map(Box::new),
            rx: Series::new(0, 1, 1),
            arrived: Series::new(0, 1, 1),
        }
    }

    /// Adds what another worker received of the same stream.
    fn absorb(&mut self, more: &Self) {
        self.received += more.received;
        self.received_bytes += more.received_bytes;
        self.duplicates += more.duplicates;
        self.elsewhere += more.elsewhere;
        self.out_of_order += more.out_of_order;
        self.corrupted += more.corrupted;
        self.first_corrupted = self.first_corrupted.min(more.first_corrupted);
        self.beyond_window += more.beyond_window;
        self.timing.absorb(&more.timing);
        if let (Some(observer), Some(more)) = (&mut self.observer, &more.observer) {
            observer.absorb(more);
        }
        self.rx.absorb(&more.rx);
        self.arrived.absorb(&more.arrived);
    }

    /// Takes note of an intact frame: whether it is new. What it is to its flow is counted. If `OBSERVED`, the stream has an
    /// observer.
    #[inline(always)]
    fn is_new<const OBSERVED: bool>(&mut self, flows: &mut Flows, probe: Probe) -> bool {
        let flow = probe.flow as usize;
        let expected = if OBSERVED { flows.next_intact(flow) } else { 0 };
        match flows.see(flow, probe.sequence) {
            Order::Next => {
                if OBSERVED && let Some(observer) = &mut self.observer {
                    observer.came_next(flows, probe, expected);
                }
                return true;
            }
            Order::Late => {
                self.take_late(flows, probe);
                return true;
            }
            Order::Copy => self.duplicates += 1,
            Order::Beyond => self.beyond_window += 1,
        }
        false
    }

    /// Counts an intact frame behind one with a higher number, which may have been broken: then it is in order.
    #[cold]
    #[inline(never)]
    fn take_late(&mut self, flows: &mut Flows, probe: Probe) {
        let was_next = flows.was_next(probe.flow as usize, probe.sequence);
        self.out_of_order += u64::from(was_next.is_none());
        let Some(observer) = &mut self.observer else { return };
        match was_next {
            Some(expected) => observer.came_next(flows, probe, expected),
            None => observer.came_late(flows, probe),
        }
    }

    /// Whether frames that departed at `departures` are all to be timed.
    fn times_all(&self, departures: &[u64; LANES]) -> bool {
        let (first, _) = extremes(departures);
        self.observer.as_ref().is_none_or(|observer| observer.times(first))
    }

    /// Times frames that departed at `departures` and arrived at `arrivals`, as far as they are to be timed.
    fn time_observed(&mut self, departures: &[u64], arrivals: &[u64]) {
        for (&departure, &arrival) in departures.iter().zip(arrivals) {
            if self.observer.as_ref().is_none_or(|observer| observer.times(departure)) {
                self.timing.record(departure, arrival);
            }
        }
    }

    /// Counts a frame whose content is not as sent, though its probe is. `from` is the stream's first flow.
    #[cold]
    #[inline(never)]
    fn take_broken(&mut self, flows: &mut Flows, from: u32, probe: Probe) {
        // It arrived, once: a broken copy of a frame that is here must not stand for one that is not.
        match flows.see_broken(probe.flow as usize, probe.sequence) {
            Order::Next | Order::Late => {
                self.corrupted += 1;
                let number = u64::from(probe.sequence) * u64::from(self.end - from) + u64::from(probe.flow - from);
                self.first_corrupted = self.first_corrupted.min(number);
            }
            Order::Copy => self.duplicates += 1,
            Order::Beyond => self.beyond_window += 1,
        }
    }

    /// Counts the frames in `slots`, which departed at `departures`, except those with a bit in `again`.
    #[cold]
    fn take_new<const OBSERVED: bool>(&mut self, departures: &[u64], slots: &[Slot], again: u64) {
        let frames = departures.iter().zip(slots).enumerate();
        for (_, (&departure, slot)) in frames.filter(|(lane, _)| again >> lane & 1 == 0) {
            self.received += 1;
            self.received_bytes += u64::from(slot.len) + FCS_BYTES;
            if OBSERVED {
                self.time_observed(&[departure], &[slot.at.ps]);
            } else {
                self.timing.record(departure, slot.at.ps);
            }
            self.rx.add(slot.at.ps, 1);
            self.arrived.add(departure, 1);
        }
    }
}

/// What one port received.
#[derive(Debug)]
pub struct PortArrivals {
    /// Where the last probe was found.
    hint: u32,
    /// All frames.
    pub frames: u64,
    /// Their bytes, FCS counted.
    pub bytes: u64,
    /// Frames that are not test frames.
    pub foreign: u64,
    /// Test frames that departed before this trial.
    pub stale: u64,
    /// Test frames by arrival.
    pub rx: Series,
    /// Their bytes.
    pub rx_bytes: Series,
}

impl PortArrivals {
    /// Adds what another worker received on the same port.
    fn absorb(&mut self, more: &Self) {
        self.frames += more.frames;
        self.bytes += more.bytes;
        self.foreign += more.foreign;
        self.stale += more.stale;
        self.rx.absorb(&more.rx);
        self.rx_bytes.absorb(&more.rx_bytes);
    }
}

/// The receiving side of all ports.
#[derive(Debug)]
pub struct Receiver {
    /// Streams, in the order of the trial.
    pub streams: Vec<Arrivals>,
    /// Ports, in the order of the trial.
    pub ports: Vec<PortArrivals>,
    /// What is remembered of each flow.
    pub flows: Flows,
    verify: bool,
    /// Whether streams are observed: all of them or none.
    observes: bool,
    /// Departures outside of these are not of this trial.
    from_ps: u64,
    until_ps: u64,
}

impl Receiver {
    /// Receives `streams` on `ports` ports; checks checksums if `verify`.
    #[must_use]
    pub fn new(streams: Vec<Arrivals>, ports: usize, verify: bool) -> Self {
        let silent = || PortArrivals {
            hint: 0,
            frames: 0,
            bytes: 0,
            foreign: 0,
            stale: 0,
            rx: Series::new(0, 1, 1),
            rx_bytes: Series::new(0, 1, 1),
        };
        let flows = streams.last().map_or(0, |stream| stream.end);
        Self {
            observes: streams.iter().any(|stream| stream.observer.is_some()),
            streams,
            ports: (0..ports).map(|_| silent()).collect(),
            flows: Flows::new(flows as usize),
            verify,
            from_ps: u64::MAX,
            until_ps: 0,
        }
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
        if self.observes {
            self.take_burst::<true>(port, burst, until_ps, foreign);
        } else {
            self.take_burst::<false>(port, burst, until_ps, foreign);
        }
    }

    /// As [`Self::take`], of streams that are `OBSERVED` or not: each of its own, so that the one is compiled as if the other
    /// were not there.
    #[inline(never)]
    fn take_burst<const OBSERVED: bool>(&mut self, port: usize, burst: &Burst<'_>, until_ps: u64, foreign: &mut dyn FnMut(&[u8], u64)) {
        for first in (0..burst.len()).step_by(LANES) {
            let run = first..burst.len().min(first + LANES);
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

    /// Takes in up to [`LANES`] frames at once, if they are all frames of one stream, intended for this port and intact.
    /// If not, nothing has been counted.
    fn take_as_one<const OBSERVED: bool>(&mut self, port: usize, burst: &Burst<'_>, run: Range<usize>, until_ps: u64) -> bool {
        let to = &mut self.ports[port];
        if to.hint == 0 {
            return false;
        }
        let frames = || run.clone().map(|index| burst.frame(index));
        let Some(probes) = Probes::read(frames(), to.hint as usize) else {
            return false;
        };
        // The flows of the frames behind these, most often: four states to a cache line.
        let last = (probes.who[frames().len() - 1] >> 32) as usize;
        for ahead in (4..=LANES + LANES / 2).step_by(4) {
            self.flows.expect(last + ahead);
        }
        let current = self.streams.partition_point(|stream| stream.end <= probes.probe(0).flow);
        let from = if current == 0 { 0 } else { self.streams[current - 1].end };
        let Some(stream) = self.streams.get_mut(current).filter(|stream| stream.rx_port == port) else {
            return false;
        };
        let slots = &burst.slots()[run.clone()];
        let count = slots.len();
        // Lanes without a frame repeat the first, as in the probes.
        let (mut arrivals, mut bytes) = ([slots[0].at.ps; LANES], FCS_BYTES * count as u64);
        for (arrival, slot) in arrivals.iter_mut().zip(slots) {
            *arrival = slot.at.ps;
            bytes += u64::from(slot.len);
        }
        let (low, high) = extremes(&arrivals);
        if high > until_ps
            || !probes.are_all(from, stream.end, stream.sequences, self.from_ps, self.until_ps)
            || self.verify && !are_plain_and_intact(frames()) && !frames().all(intact)
        {
            return false;
        }
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
        // Nothing but the flows' states depends on each other in this loop, so that waiting for memory overlaps.
        let mut again = 0_u64;
        for lane in 0..count {
            if !stream.is_new::<OBSERVED>(&mut self.flows, probes.probe(lane)) {
                again |= 1 << lane;
            }
        }
        if OBSERVED && let Some(observer) = &mut stream.observer {
            for lane in (0..count).filter(|lane| again >> lane & 1 == 0) {
                observer.arrived(probes.probe(lane), arrivals[lane]);
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
            stream.timing.record_lanes(&probes.departure_ps, &arrivals, count);
        }
        stream.rx.add_each(&arrivals[..count], low, high);
        let (low, high) = extremes(&probes.departure_ps);
        stream.arrived.add_each(&probes.departure_ps[..count], low, high);
        true
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
            let known = to.hint;
            let read = find(frame, &mut to.hint);
            let probe = read
                .map(|(probe, _)| probe)
                .filter(|probe| probe.flow < flows && probe.departure_ps >= self.from_ps && probe.departure_ps <= self.until_ps);
            let Some(probe) = probe else {
                // A device held it when the trial before ended. That it departed before it arrived is asked too, for
                // before traffic begins all times are: or a stranger could pass for such a frame, and go unanswered.
                let is_earlier =
                    |(probe, place): (Probe, usize)| probe.departure_ps < self.from_ps.min(at) && is_where_probes_are(frame, place, known);
                if read.is_some_and(is_earlier) {
                    to.stale += 1;
                    continue;
                }
                Self::stranger(&mut self.streams, to, port, frame, at, foreign);
                continue;
            };
            if probe.flow < from || probe.flow >= end {
                current = self.streams.partition_point(|stream| stream.end <= probe.flow);
                from = if current == 0 { 0 } else { self.streams[current - 1].end };
                end = self.streams[current].end;
            }
            let stream = &mut self.streams[current];
            if probe.sequence >= stream.sequences {
                Self::stranger(&mut self.streams, to, port, frame, at, foreign);
                continue;
            }
            to.rx.add(at, 1);
            to.rx_bytes.add(at, bytes);
            if stream.rx_port != port {
                stream.elsewhere += 1;
                continue;
            }
            if self.verify && !intact(frame) {
                stream.take_broken(&mut self.flows, from, probe);
                continue;
            }
            if !stream.is_new::<OBSERVED>(&mut self.flows, probe) {
                continue;
            }
            if OBSERVED && let Some(observer) = &mut stream.observer {
                observer.arrived(probe, at);
            }
            stream.take_new::<OBSERVED>(&[probe.departure_ps], std::slice::from_ref(slot), 0);
        }
    }

    /// A frame without a probe of this trial: a test frame whose content is broken, or none of ours.
    #[cold]
    fn stranger(streams: &mut [Arrivals], to: &mut PortArrivals, port: usize, frame: &[u8], at: u64, foreign: &mut dyn FnMut(&[u8], u64)) {
        let sending = streams.iter_mut().filter(|stream| stream.rx_port == port && stream.sequences > 0);
        if let Some(stream) = sending.into_iter().find(|stream| stream.signature.matches(frame)) {
            stream.corrupted += 1;
            to.rx.add(at, 1);
            to.rx_bytes.add(at, frame.len() as u64 + FCS_BYTES);
        } else {
            to.foreign += 1;
            foreign(frame, at);
        }
    }

    /// Flows of stream `index` of which a frame arrived intact.
    #[must_use]
    pub fn flows_received(&self, index: usize) -> u64 {
        self.flow_range(index).filter(|&flow| self.flows.received(flow) > 0).count() as u64
    }

    /// Numbers of the flows of stream `index`.
    pub fn flow_range(&self, index: usize) -> std::ops::Range<usize> {
        let from = if index == 0 { 0 } else { self.streams[index - 1].end };
        from as usize..self.streams[index].end as usize
    }
}

/// Whether the checksums that are there are right, of a frame that holds a probe.
#[inline]
fn intact(frame: &[u8]) -> bool {
    verify_frame(frame).is_good()
}

/// Whether probes are at `place` of `frame`: where the ones before it were, or at the beginning of the payload. One frame in
/// some thousands whose probe is broken has nine other words that sum up to the same.
#[cold]
fn is_where_probes_are(frame: &[u8], place: usize, known: u32) -> bool {
    known == 0 || place == known as usize || parse(frame).is_some_and(|layers| layers.inner.payload as usize == place)
}

/// The least and the greatest of `times`.
#[inline]
fn extremes(times: &[u64; LANES]) -> (u64, u64) {
    times
        .iter()
        .fold((u64::MAX, 0), |(low, high), &time| (low.min(time), high.max(time)))
}
