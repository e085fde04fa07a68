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

use super::{Backend, ClockFit, LinkSpec, Open, check_max_frame};
use crate::port::{
    Burst, MIN_SENT_BYTES, MIN_SLOT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, WIRE_OVERHEAD_BYTES, refuse_count, refuse_length,
};
use crate::region::{Region, stride_for};
use crate::time::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Its line in the table.
pub const BACKEND: Backend = Backend {
    name: "wire",
    doc: "A cable in virtual time with exact serialization, to an emulated device; never drops.",
    clock: ClockFit::Virtual,
    open: Open::Linked(|link| {
        let (a, b) = pair(link)?;
        Ok((Box::new(a), Box::new(b)))
    }),
};

/// The gap after a frame, in bytes (IEEE 802.3: 96 bit times).
const GAP_BYTES: u64 = 12;
/// Picoseconds in a second times bits in a byte.
const PS_BITS_PER_BYTE: u64 = 8_000_000_000_000;
/// The most slots lent at once; bounds how far one call makes the line grow.
const MAX_BURST: usize = 256;
/// Frames a line has room for at first.
const FIRST_CAPACITY: usize = 512;

/// Both ends of a cable, `link.names[0]` first.
///
/// Both ends are used from one thread at a time; neither may be touched from within a closure given to
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
            backend: BACKEND.name.to_owned(),
            rate_bps: link.rate_bps[end],
            max_frame: link.max_frame,
            exact_time: true,
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

/// One direction: the frames under way, in a ring of slots that grows.
///
/// Each slot is described twice, at `index` and `index + capacity`, so that a burst is one slice of
/// descriptors also where it passes the end of the ring.
#[derive(Debug)]
struct Line {
    region: Region,
    slots: Vec<Slot>,
    capacity: usize,
    stride: usize,
    max_frame: u32,
    /// Frames taken out and put in since the line was last empty; the difference is what is under way.
    head: usize,
    tail: usize,
    serializer: Serializer,
    propagation_ps: u64,
}

impl Line {
    fn new(rate_bps: u64, propagation_ps: u64, max_frame: u32) -> Self {
        let stride = stride_for(max_frame as usize);
        let mut line = Self {
            region: Region::zeroed(FIRST_CAPACITY * stride),
            slots: Vec::new(),
            capacity: FIRST_CAPACITY,
            stride,
            max_frame,
            head: 0,
            tail: 0,
            serializer: Serializer::new(rate_bps),
            propagation_ps,
        };
        line.slots = line.empty_slots();
        line
    }

    fn empty_slots(&self) -> Vec<Slot> {
        let slot = |index: usize| Slot {
            offset: ((index & (self.capacity - 1)) * self.stride) as u32,
            len: self.max_frame,
            at: Instant::ZERO,
        };
        (0..2 * self.capacity).map(slot).collect()
    }

    fn send(&mut self, info: &PortInfo, lent: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        if self.head == self.tail {
            // Starting over keeps an often empty line in the same few cache lines.
            self.head = 0;
            self.tail = 0;
        }
        self.reserve(info, lent)?;
        let first = self.tail & (self.capacity - 1);
        for slot in &mut self.slots[first..first + lent] {
            slot.len = self.max_frame;
        }
        let wrote = fill(&mut Burst::new(self.region.bytes(), &mut self.slots[first..first + lent]));
        if wrote > lent {
            return Err(refuse_count(info, wrote, lent));
        }
        // Works on a copy, so that a refused burst leaves the line as it was.
        let mut serializer = self.serializer;
        let (lower, upper) = self.slots.split_at_mut(self.capacity);
        for index in first..first + wrote {
            let (slot, twin) = if index < self.capacity {
                (&mut lower[index], &mut upper[index])
            } else {
                (&mut upper[index - self.capacity], &mut lower[index - self.capacity])
            };
            let len = slot.len;
            if len.wrapping_sub(MIN_SENT_BYTES) > self.max_frame - MIN_SENT_BYTES {
                return Err(refuse_length(info, index - first, len));
            }
            // Field by field: copying the slot whole would wait for the two stores into it to leave the core.
            let at = Instant {
                ps: serializer.send(len, slot.at.ps) + self.propagation_ps,
            };
            slot.at = at;
            twin.len = len;
            twin.at = at;
        }
        self.serializer = serializer;
        self.tail += wrote;
        Ok(wrote)
    }

    fn deliver(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> usize {
        let first = self.head & (self.capacity - 1);
        let waiting = limit.min(self.tail - self.head);
        let slots = &mut self.slots[first..first + waiting];
        // Arrivals never go back, and most often all that waits is due.
        let due = match slots.last() {
            None => return 0,
            Some(last) if last.at <= now => waiting,
            Some(_) => slots.partition_point(|slot| slot.at <= now),
        };
        if due == 0 {
            return 0;
        }
        read(&mut Burst::new(self.region.bytes(), &mut slots[..due]));
        self.head += due;
        due
    }

    fn next_arrival(&self) -> Option<Instant> {
        (self.head != self.tail).then(|| self.slots[self.head & (self.capacity - 1)].at)
    }

    /// Makes room for `more` frames.
    fn reserve(&mut self, info: &PortInfo, more: usize) -> Result<(), PortError> {
        let waiting = self.tail - self.head;
        if waiting + more <= self.capacity {
            return Ok(());
        }
        let old_capacity = self.capacity;
        let capacity = (waiting + more).next_power_of_two();
        if u32::try_from(capacity * self.stride).is_err() {
            return Err(PortError::Unfit {
                port: info.name.clone(),
                why: format!("{waiting} frames under way on one wire, more than 4 GiB; is the far end being read?"),
            });
        }
        self.capacity = capacity;
        let mut region = Region::zeroed(capacity * self.stride);
        let mut slots = self.empty_slots();
        for index in 0..waiting {
            let old = self.slots[(self.head + index) & (old_capacity - 1)];
            let from = &self.region.bytes()[old.offset as usize..][..old.len as usize];
            let offset = slots[index].offset;
            region.bytes()[offset as usize..][..from.len()].copy_from_slice(from);
            slots[index] = Slot { offset, ..old };
            slots[index + capacity] = slots[index];
        }
        self.region = region;
        self.slots = slots;
        self.head = 0;
        self.tail = waiting;
        Ok(())
    }
}

/// When the line is free, as an exact fraction: `free_ps + carry / rate` picoseconds.
#[derive(Clone, Copy, Debug)]
struct Serializer {
    rate_bps: u64,
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

    /// Sends a frame of `len` bytes without FCS from `at` on or when the line is free; returns when its last bit is out.
    #[inline]
    fn send(&mut self, len: u32, at: u64) -> u64 {
        if len != self.len {
            self.len = len;
            let occupied = u64::from(len).max(MIN_SLOT_BYTES) + WIRE_OVERHEAD_BYTES;
            self.to_last_bit = self.span(occupied - GAP_BYTES);
            self.to_next_start = self.span(occupied);
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
