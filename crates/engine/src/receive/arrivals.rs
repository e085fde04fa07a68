//! What arrived of one stream, and at one port.

use super::signature::Signature;
use crate::observe::{Flows, Intervals, Observer, Order, Series, Timing};
use netdyno_frame::checksum::Checked;
use netdyno_frame::probe::Probe;
use netdyno_frame::side_by_side::WIDTH;
use netdyno_io::port::Slot;

/// Bytes of the FCS, which no slot holds and every count does.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// A stream as it arrives.
#[derive(Debug)]
pub struct Arrivals {
    pub(super) rx_port: usize,
    /// Whether it is sent by the port that it is for, as from VLAN to VLAN of one port.
    pub returns: bool,
    /// Flow numbers are counted over all streams: this stream has those below `end` that are not below
    /// the end of the stream before it.
    pub(super) end: u32,
    /// By which its frames are known where they hold no probe, or a broken one.
    pub signature: Box<Signature>,
    /// Whether its frames hold no probe and are known by the signature alone.
    pub is_bare: bool,
    /// The checksums by which its frames are found intact.
    pub checked: Checked,
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
    /// Of a stream without a probe, frames that came to its port with its lengths and protocol and look otherwise.
    pub altered: u64,
    /// How often a frame of a flow came with other addresses or ports than the one before, where that is looked at.
    pub retranslated: u64,
    /// Too late to tell copies from late frames.
    pub beyond_window: u64,
    /// Latency of `received`.
    pub timing: Timing,
    /// It by intervals, if that is asked.
    pub intervals: Intervals,
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
            returns: false,
            end,
            signature: Box::new(signature),
            is_bare: false,
            checked: Checked::ALL,
            received: 0,
            received_bytes: 0,
            duplicates: 0,
            elsewhere: 0,
            out_of_order: 0,
            corrupted: 0,
            first_corrupted: u64::MAX,
            altered: 0,
            retranslated: 0,
            beyond_window: 0,
            timing: Timing::new(),
            intervals: Intervals::default(),
            observer: observer.map(Box::new),
            rx: Series::new(0, 1, 1),
            arrived: Series::new(0, 1, 1),
        }
    }

    /// Adds what another worker received of the same stream.
    pub(super) fn absorb(&mut self, more: &Self) {
        self.received += more.received;
        self.received_bytes += more.received_bytes;
        self.duplicates += more.duplicates;
        self.elsewhere += more.elsewhere;
        self.out_of_order += more.out_of_order;
        self.corrupted += more.corrupted;
        self.first_corrupted = self.first_corrupted.min(more.first_corrupted);
        self.altered += more.altered;
        self.retranslated += more.retranslated;
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
    pub(super) fn is_new<const OBSERVED: bool>(&mut self, flows: &mut Flows, probe: Probe) -> bool {
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
    pub(super) fn times_all(&self, departures: &[u64; WIDTH]) -> bool {
        let (first, _) = extremes(departures);
        self.observer.as_ref().is_none_or(|observer| observer.times(first))
    }

    /// Times frames that departed at `departures` and arrived at `arrivals`, as far as they are to be timed.
    pub(super) fn time_observed(&mut self, departures: &[u64], arrivals: &[u64]) {
        for (&departure, &arrival) in departures.iter().zip(arrivals) {
            if self.observer.as_ref().is_none_or(|observer| observer.times(departure)) {
                self.timing.record(departure, arrival);
            }
        }
    }

    /// Counts a frame whose content is not as sent, though its probe is. `from` is the stream's first flow.
    #[cold]
    #[inline(never)]
    pub(super) fn take_broken(&mut self, flows: &mut Flows, from: u32, probe: Probe) {
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
    pub(super) fn take_new<const OBSERVED: bool>(&mut self, departures: &[u64], slots: &[Slot], again: u64) {
        let frames = departures.iter().zip(slots).enumerate();
        for (_, (&departure, slot)) in frames.filter(|(lane, _)| again >> lane & 1 == 0) {
            self.count::<OBSERVED>(departure, slot.at.ps, u64::from(slot.len) + FCS_BYTES);
        }
    }

    /// Counts a new frame of `bytes` bytes, FCS counted.
    #[inline(always)]
    pub(super) fn count<const OBSERVED: bool>(&mut self, departure: u64, at: u64, bytes: u64) {
        self.received += 1;
        self.received_bytes += bytes;
        self.time::<OBSERVED>(departure, at);
        self.rx.add(at, 1);
        self.arrived.add(departure, 1);
    }

    /// Times a new frame.
    #[inline(always)]
    pub(super) fn time<const OBSERVED: bool>(&mut self, departure: u64, at: u64) {
        if OBSERVED {
            self.time_observed(&[departure], &[at]);
        } else {
            self.timing.record(departure, at);
        }
    }
}

/// What one port received.
#[derive(Debug)]
pub struct PortArrivals {
    /// The port that stands for its bundle: what is for that one may arrive here.
    pub(super) home: usize,
    /// Where the last probe was found.
    pub(super) hint: u32,
    /// All frames.
    pub frames: u64,
    /// Their bytes, FCS counted.
    pub bytes: u64,
    /// Frames that are not test frames.
    pub foreign: u64,
    /// Of those, the load of others, and its bytes, FCS counted.
    pub others: u64,
    pub others_bytes: u64,
    /// Test frames that departed before this trial.
    pub stale: u64,
    /// Test frames by arrival.
    pub rx: Series,
    /// Their bytes.
    pub rx_bytes: Series,
}

impl PortArrivals {
    /// Nothing received yet.
    pub(super) fn none(home: usize) -> Self {
        Self {
            home,
            hint: 0,
            frames: 0,
            bytes: 0,
            foreign: 0,
            others: 0,
            others_bytes: 0,
            stale: 0,
            rx: Series::new(0, 1, 1),
            rx_bytes: Series::new(0, 1, 1),
        }
    }

    /// Adds what another worker received on the same port.
    pub(super) fn absorb(&mut self, more: &Self) {
        self.frames += more.frames;
        self.bytes += more.bytes;
        self.foreign += more.foreign;
        self.others += more.others;
        self.others_bytes += more.others_bytes;
        self.stale += more.stale;
        self.rx.absorb(&more.rx);
        self.rx_bytes.absorb(&more.rx_bytes);
    }
}

/// The least and the greatest of `times`.
#[inline]
pub(super) fn extremes(times: &[u64; WIDTH]) -> (u64, u64) {
    times
        .iter()
        .fold((u64::MAX, 0), |(low, high), &time| (low.min(time), high.max(time)))
}
