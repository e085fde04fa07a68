//! A cable in virtual time: full duplex, exact serialization, never drops.
//!
//! What the times mean, in both directions independently:
//!
//! - `Slot::at` on transmit is when the first bit of the preamble may leave. It leaves at the later of
//!   that and of when the line is free.
//! - A frame takes preamble and SFD (8), itself padded to 60, FCS (4) and the gap (12 bytes) of the line:
//!   (max(len, 60) + 24) x 8 bits at the sender's L1 rate. IEEE 802.3 clause 4.2.
//! - `Slot::at` on receive is when the last bit of the FCS is in: the gap keeps the line busy but is not
//!   waited for. So an idle 10 Gbit/s line without propagation delay delivers a 64-byte frame 57.6 ns
//!   after its departure and can start the next after 67.2 ns.
//! - Times are floored to whole picoseconds, but the line itself is kept as an exact fraction: after k
//!   back-to-back frames of b bits it is free at floor(k x b x 10^12 / rate), whatever the rate.

use super::ask::{Ask, Backend, ClockFit, LinkSpec, Placement, Queues, check_max_frame, open_pairs};
use crate::port::{
    Burst, MIN_SENT_BYTES, MIN_SLOT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, Timestamps, WIRE_OVERHEAD_BYTES, refuse_count,
    refuse_length,
};
use crate::region::{Region, stride_for};
use crate::tail::Tail;
use crate::time::Instant;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One end of a cable in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wire {}

impl Backend for Wire {
    const NAME: &'static str = "wire";
    const DOC: &'static str = "A cable in virtual time with exact serialization, to an emulated device; never drops.";
    const CLOCK: ClockFit = ClockFit::Virtual;
    const IS_LINKED: bool = true;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        open_pairs(asks, |link, ends| {
            if let Some(end) = ends.into_iter().find(|end| end.queues > 1) {
                return Err(end.unfit(format!("a `wire` port cannot be {} queues", end.queues)));
            }
            let (near, far) = pair(link)?;
            Ok([vec![Box::new(near)], vec![Box::new(far)]])
        })
    }
}

/// The gap after a frame, in bytes (IEEE 802.3: 96 bit times).
const GAP_BYTES: u64 = 12;
/// Picoseconds in a second times bits in a byte.
const PS_BITS_PER_BYTE: u64 = 8_000_000_000_000;
/// The most slots lent at once; bounds how far one call makes the line grow.
const MAX_BURST: usize = 256;
/// Frames a line has room for at first.
const FIRST_CAPACITY: usize = 512;
/// Lines that carry no longer frames do not keep what is known of those: they are copied as fast as it is looked up.
const SHORT: u32 = 128;

/// Both ends of a cable, `link.names[0]` first.
///
/// Both ends are used from one thread at a time; neither may be touched inside a closure given to
/// the other.
///
/// # Errors
/// If a rate is zero, or `max_frame` is out of range.
pub fn pair(link: &LinkSpec) -> Result<(WirePort, WirePort), PortError> {
    for (name, rate_bps) in link.names.iter().zip(link.rate_bps) {
        check_max_frame(name, link.max_frame)?;
        // Above 1 Pbit/s a byte would take less than 8 fs and the remainders leave 64 bits.
        if !(1..=1_000_000_000_000_000).contains(&rate_bps) {
            return Err(PortError::Unfit {
                port: name.clone(),
                why: format!("a wire of {rate_bps} bit/s; it carries 1 bit/s to 1 Pbit/s"),
            });
        }
    }
    let line = |from: usize| Arc::new(Mutex::new(Line::new(link.rate_bps[from], link.propagation.ps, link.max_frame)));
    let lines = [line(0), line(1)];
    let port = |end: usize| WirePort {
        info: PortInfo {
            name: link.names[end].clone(),
            backend: Wire::NAME.to_owned(),
            rate_bps: link.rate_bps[end],
            max_frame: link.max_frame,
            time: Timestamps::Exact,
            detail: String::new(),
        },
        out: Arc::clone(&lines[end]),
        inward: Arc::clone(&lines[1 - end]),
        counters: PortCounters::default(),
    };
    Ok((port(0), port(1)))
}

/// One end of a cable.
#[derive(Debug)]
pub struct WirePort {
    info: PortInfo,
    out: Arc<Mutex<Line>>,
    inward: Arc<Mutex<Line>>,
    counters: PortCounters,
}

/// A line outlives a panic in a closure: its indices move only after the closure has returned.
fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Port for WirePort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        if Arc::strong_count(&self.out) == 1 {
            return Err(PortError::Gone {
                port: self.info.name.clone(),
                why: "the other end of the wire was closed".to_owned(),
            });
        }
        let lent = limit.min(MAX_BURST);
        if lent == 0 {
            return Ok(0);
        }
        let wrote = lock(&self.out).send(&self.info, lent, fill)?;
        self.counters.tx_frames += wrote as u64;
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let lent = lock(&self.inward).deliver(now, limit, read);
        self.counters.rx_frames += lent as u64;
        Ok(lent)
    }

    fn next_arrival(&self) -> Option<Instant> {
        lock(&self.inward).next_arrival()
    }

    fn counters(&self) -> PortCounters {
        self.counters
    }
}

/// One direction: the frames under way, oldest first, in `slots[head..tail]`.
///
/// Not a ring: a burst is always one slice, and what waits moves to the front again as soon as that is cheap.
/// Moving exchanges descriptors, never bytes. So a line that is read every few microseconds stays in the
/// slots of one burst: a ring would walk through all of its slots, a cache line and most often a page each.
#[derive(Debug)]
struct Line {
    region: Region,
    /// A descriptor for each slot of `region`; those outside `head..tail` are free.
    slots: Vec<Slot>,
    /// What is known of the bytes in each of `slots`, with which it changes places; none at all of short ones.
    tails: Vec<Tail>,
    stride: usize,
    max_frame: u32,
    head: usize,
    tail: usize,
    serializer: Serializer,
    propagation_ps: u64,
}

impl Line {
    fn new(rate_bps: u64, propagation_ps: u64, max_frame: u32) -> Self {
        let stride = stride_for(max_frame as usize);
        Self {
            region: Region::zeroed(FIRST_CAPACITY * stride),
            slots: slots(0..FIRST_CAPACITY, stride).collect(),
            tails: vec![Tail::NONE; if max_frame > SHORT { FIRST_CAPACITY } else { 0 }],
            stride,
            max_frame,
            head: 0,
            tail: 0,
            serializer: Serializer::new(rate_bps),
            propagation_ps,
        }
    }

    fn send(&mut self, info: &PortInfo, lent: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        self.reserve(info, lent)?;
        let (first, max_frame) = (self.tail, self.max_frame);
        let slots = &mut self.slots[first..first + lent];
        for slot in &mut *slots {
            slot.len = max_frame;
        }
        let tails = self.tails.get_mut(first..first + lent).unwrap_or_default();
        let wrote = fill(&mut Burst::with_tails(self.region.bytes(), slots, tails));
        let Some(written) = slots.get_mut(..wrote) else {
            return Err(refuse_count(info, wrote, lent));
        };
        let is_wrong = |slot: &Slot| slot.len.wrapping_sub(MIN_SENT_BYTES) > max_frame - MIN_SENT_BYTES;
        let Some(len) = written.first().map(|slot| slot.len) else {
            return Ok(0);
        };
        let is_alike = written.iter().fold(0, |others, slot| others | (slot.len ^ len)) == 0;
        let checked = if is_alike { &written[..1] } else { &*written };
        if let Some(index) = checked.iter().position(is_wrong) {
            return Err(refuse_length(info, index, checked[index].len));
        }
        if is_alike {
            self.serializer.send_alike(written, len, self.propagation_ps);
        } else {
            for slot in written {
                slot.at.ps = self.serializer.send(slot.len, slot.at.ps) + self.propagation_ps;
            }
        }
        self.tail += wrote;
        Ok(wrote)
    }

    fn deliver(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> usize {
        let waiting = limit.min(self.tail - self.head);
        let slots = &mut self.slots[self.head..self.head + waiting];
        // Arrivals never go back, and most often all that waits is due.
        let due = match slots.last() {
            None => return 0,
            Some(last) if last.at <= now => waiting,
            Some(_) => slots.partition_point(|slot| slot.at <= now),
        };
        if due == 0 {
            return 0;
        }
        let tails = self.tails.get_mut(self.head..self.head + due).unwrap_or_default();
        read(&mut Burst::with_tails(self.region.bytes(), &mut slots[..due], tails));
        self.head += due;
        due
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.slots[self.head..self.tail].first().map(|slot| slot.at)
    }

    /// Makes room for `more` frames behind `tail`.
    fn reserve(&mut self, info: &PortInfo, more: usize) -> Result<(), PortError> {
        let waiting = self.tail - self.head;
        // Four frames have left for each that is moved, so moving costs a quarter of an exchange a frame.
        if self.head > 0 && waiting <= self.head / 4 {
            self.move_to_front();
        }
        if self.tail + more <= self.slots.len() {
            return Ok(());
        }
        // With a quarter of the slots free, at least one frame has left for three that are moved.
        if (waiting + more) * 4 > self.slots.len() * 3 {
            self.grow(info, waiting + more)?;
        }
        self.move_to_front();
        Ok(())
    }

    /// Exchanges descriptors so that the frames under way come first.
    fn move_to_front(&mut self) {
        let waiting = self.tail - self.head;
        for index in 0..waiting {
            self.slots.swap(index, self.head + index);
        }
        if !self.tails.is_empty() {
            (0..waiting).for_each(|index| self.tails.swap(index, self.head + index));
        }
        self.head = 0;
        self.tail = waiting;
    }

    /// More slots, at least a quarter more than `frames`; those there are keep their places and bytes.
    #[cold]
    fn grow(&mut self, info: &PortInfo, frames: usize) -> Result<(), PortError> {
        let old = self.slots.len();
        let capacity = (frames + frames / 3 + 1).next_power_of_two().max(old);
        if u32::try_from(capacity * self.stride).is_err() {
            return Err(PortError::Unfit {
                port: info.name.clone(),
                why: format!("{frames} frames under way on one wire, more than 4 GiB; is the far end being read?"),
            });
        }
        let mut region = Region::zeroed(capacity * self.stride);
        region.bytes()[..old * self.stride].copy_from_slice(self.region.bytes());
        self.region = region;
        self.slots.extend(slots(old..capacity, self.stride));
        if !self.tails.is_empty() {
            self.tails.resize(capacity, Tail::NONE);
        }
        Ok(())
    }
}

/// Descriptors of free slots.
fn slots(which: std::ops::Range<usize>, stride: usize) -> impl Iterator<Item = Slot> {
    which.map(move |index| Slot {
        offset: (index * stride) as u32,
        ..Slot::default()
    })
}

/// When the line is free, as an exact fraction: `free_ps + carry / rate` picoseconds.
#[derive(Clone, Copy, Debug)]
struct Serializer {
    rate_bps: u64,
    /// Each byte takes whole picoseconds, as at all standard rates: no part is ever carried.
    whole: bool,
    free_ps: u64,
    carry: u64,
    /// Length of the last frame and the times it took, to divide only when the length changes.
    len: u32,
    to_last_bit: Span,
    to_next_start: Span,
}

/// A length of time as `ps + part / rate` picoseconds, `part` below the rate.
#[derive(Clone, Copy, Debug)]
struct Span {
    ps: u64,
    part: u64,
}

impl Serializer {
    const fn new(rate_bps: u64) -> Self {
        let none = Span { ps: 0, part: 0 };
        Self {
            rate_bps,
            whole: PS_BITS_PER_BYTE.is_multiple_of(rate_bps),
            free_ps: 0,
            carry: 0,
            len: 0,
            to_last_bit: none,
            to_next_start: none,
        }
    }

    const fn span(&self, bytes: u64) -> Span {
        let per_byte = PS_BITS_PER_BYTE / self.rate_bps;
        // At most 65,560 bytes times a remainder below 8 x 10^12 (and below the rate): fits 64 bits.
        let part = bytes * (PS_BITS_PER_BYTE % self.rate_bps);
        Span {
            ps: bytes * per_byte + part / self.rate_bps,
            part: part % self.rate_bps,
        }
    }

    /// Sends `frames`, all of `len` bytes without FCS; their times become those at which they have arrived.
    #[inline]
    fn send_alike(&mut self, frames: &mut [Slot], len: u32, propagation_ps: u64) {
        if !self.whole {
            for frame in frames {
                frame.at.ps = self.send(len, frame.at.ps) + propagation_ps;
            }
            return;
        }
        self.measure(len);
        let (to_next_start, to_arrival) = (self.to_next_start.ps, self.to_last_bit.ps + propagation_ps);
        let mut free = self.free_ps;
        for frame in frames {
            let start = free.max(frame.at.ps);
            free = start + to_next_start;
            frame.at.ps = start + to_arrival;
        }
        self.free_ps = free;
    }

    /// How long a frame of `len` bytes takes.
    #[inline]
    fn measure(&mut self, len: u32) {
        if len != self.len {
            self.len = len;
            let occupied = u64::from(len).max(MIN_SLOT_BYTES) + WIRE_OVERHEAD_BYTES;
            self.to_last_bit = self.span(occupied - GAP_BYTES);
            self.to_next_start = self.span(occupied);
        }
    }

    /// Sends a frame of `len` bytes without FCS from `at` on or when the line is free; returns when its last bit is out.
    #[inline]
    fn send(&mut self, len: u32, at: u64) -> u64 {
        self.measure(len);
        if self.whole {
            let start = self.free_ps.max(at);
            self.free_ps = start + self.to_next_start.ps;
            return start + self.to_last_bit.ps;
        }
        if at > self.free_ps {
            self.free_ps = at;
            self.carry = 0;
        }
        let last_bit = self.free_ps + self.to_last_bit.ps + u64::from(self.carry + self.to_last_bit.part >= self.rate_bps);
        self.free_ps += self.to_next_start.ps;
        self.carry += self.to_next_start.part;
        if self.carry >= self.rate_bps {
            self.carry -= self.rate_bps;
            self.free_ps += 1;
        }
        last_bit
    }
}
