//! One ring each way, and the port at each end.

use crate::backend::ask::{LinkSpec, check_max_frame};
use crate::looks::{FullTime, Span};
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, Timestamps, refuse_count, refuse_length};
use crate::region::{Region, stride_for};
use crate::time::{Clock, Instant};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What a lab calls it.
pub(super) const NAME: &str = "ring";
/// Frames each direction holds unless said otherwise.
pub const DEFAULT_SLOTS: usize = 4096;
/// The most slots lent at once.
const MAX_BURST: usize = 256;
/// Length of the frame, in front of it.
const HEADER_BYTES: usize = size_of::<u32>();

/// Both ends of a link of `slots` frames each way (rounded up to a power of two), `link.names[0]` first.
///
/// # Errors
/// If `max_frame` is out of range.
pub fn pair(link: &LinkSpec, slots: usize) -> Result<(RingPort, RingPort), PortError> {
    check_max_frame(&link.names[0], link.max_frame)?;
    let channels = [(); 2].map(|()| Arc::new(Channel::new(link.max_frame, slots.max(2).next_power_of_two())));
    let port = |end: usize| RingPort {
        info: PortInfo {
            name: link.names[end].clone(),
            backend: NAME.to_owned(),
            rate_bps: 0,
            max_frame: link.max_frame,
            time: Timestamps::Software,
            detail: String::new(),
        },
        out: End::new(&channels[end], link.max_frame),
        inward: End::new(&channels[1 - end], link.max_frame),
        counters: PortCounters::default(),
        full_time: FullTime::default(),
        clock: None,
    };
    Ok((port(0), port(1)))
}

/// An atomic index alone on its cache lines; two lines, since neighbours are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Index(AtomicUsize);

/// One direction. Slot `i` is written by the producer while `head + capacity > i >= tail` and read by the
/// consumer while `tail > i >= head`; both indices count frames and never wrap in practice (64 bits).
#[derive(Debug)]
struct Channel {
    region: Region,
    stride: usize,
    capacity: usize,
    /// Frames published by the producer.
    tail: Index,
    /// Frames given back by the consumer.
    head: Index,
    /// Frames the producer dropped since there was no room ([`JoinedPort`]; a single ring has its producer wait).
    dropped: AtomicU64,
}

impl Channel {
    fn new(max_frame: u32, capacity: usize) -> Self {
        let stride = stride_for(HEADER_BYTES + max_frame as usize);
        Self {
            region: Region::zeroed(capacity * stride),
            stride,
            capacity,
            tail: Index::default(),
            head: Index::default(),
            dropped: AtomicU64::new(0),
        }
    }

    /// The memory of `count` slots from `index` on, which do not pass the end of the ring.
    ///
    /// # Safety
    /// The caller owns these slots: they lie between the indices on its side, and no other slice over
    /// them exists for as long as the returned one is used.
    #[allow(clippy::mut_from_ref)] // the two ends share the channel; the indices say who owns which slots
    unsafe fn slots(&self, index: usize, count: usize) -> &mut [u8] {
        let first = index & (self.capacity - 1);
        assert!(first + count <= self.capacity);
        // SAFETY: inside the region by the assertion; initialized when allocated; exclusive by the contract.
        unsafe { std::slice::from_raw_parts_mut(self.region.as_ptr().add(first * self.stride), count * self.stride) }
    }
}

/// What one end keeps of a channel for itself.
#[derive(Debug)]
struct End {
    channel: Arc<Channel>,
    /// Its own index, and the other's as last seen.
    own: usize,
    other: usize,
    /// Its own when it looked at the other's last (the consumer's).
    looked: usize,
    /// Descriptors to lend; offsets count from the first slot lent and never change.
    lent: Vec<Slot>,
}

impl End {
    fn new(channel: &Arc<Channel>, max_frame: u32) -> Self {
        let slot = |index: usize| Slot {
            offset: (index * channel.stride + HEADER_BYTES) as u32,
            len: max_frame,
            at: Instant::ZERO,
        };
        Self {
            channel: Arc::clone(channel),
            own: 0,
            other: 0,
            looked: 0,
            lent: (0..MAX_BURST.min(channel.capacity)).map(slot).collect(),
        }
    }

    /// As many as `limit`, the burst size and the end of the ring allow.
    fn contiguous(&self, limit: usize) -> usize {
        let to_end = self.channel.capacity - (self.own & (self.channel.capacity - 1));
        limit.min(self.lent.len()).min(to_end)
    }
}

/// One end of a ring link.
#[derive(Debug)]
pub struct RingPort {
    pub(super) info: PortInfo,
    out: End,
    inward: End,
    counters: PortCounters,
    full_time: FullTime,
    clock: Option<Clock>,
}

impl RingPort {
    /// How many frames there is room for; looked up anew only if there were fewer than `wanted`.
    pub(super) fn room(&mut self, wanted: usize) -> Result<usize, PortError> {
        let end = &mut self.out;
        let room = end.other + end.channel.capacity - end.own;
        if room >= wanted {
            return Ok(room);
        }
        // Acquire: the consumer has finished reading the slots it gave back.
        end.other = end.channel.head.0.load(Ordering::Acquire);
        if Arc::strong_count(&end.channel) == 1 {
            return Err(PortError::Gone {
                port: self.info.name.clone(),
                why: "the other end of the ring was closed".to_owned(),
            });
        }
        Ok(end.other + end.channel.capacity - end.own)
    }

    /// A frame for which there is no room: the other end counts it as dropped.
    #[cold]
    pub(super) fn drop_frame(&mut self) {
        self.out.channel.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Copies a frame into the next slot, for which there is [room](Self::room). It leaves when it is
    /// [published](Self::publish).
    pub(super) fn put(&mut self, frame: &[u8]) {
        let end = &mut self.out;
        assert!(end.own < end.other + end.channel.capacity, "there is room");
        // SAFETY: slots from `tail` up to `head + capacity` belong to the producer, which is this end alone
        // (`&mut self`), until it publishes them; this one is below that by the assertion.
        let cell = unsafe { end.channel.slots(end.own, 1) };
        cell[..HEADER_BYTES].copy_from_slice(&(frame.len() as u32).to_ne_bytes());
        cell[HEADER_BYTES..][..frame.len()].copy_from_slice(frame);
        end.own += 1;
        self.counters.tx_frames += 1;
    }

    /// Lets go all frames that were [put](Self::put) in.
    pub(super) fn publish(&mut self) {
        // Release: the frames are written before the consumer can see that they exist.
        self.out.channel.tail.0.store(self.out.own, Ordering::Release);
    }
}

impl Port for RingPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn use_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.clock.map_or(now, |clock| clock.now().max(now))
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let wanted = self.out.contiguous(limit);
        if wanted == 0 {
            return Ok(0);
        }
        let count = wanted.min(self.room(wanted)?);
        let end = &mut self.out;
        let channel = &*end.channel;
        if count == 0 {
            self.counters.tx_full += 1;
            return Ok(0);
        }
        let max_frame = self.info.max_frame;
        let lent = &mut end.lent[..count];
        for slot in &mut *lent {
            slot.len = max_frame;
        }
        // SAFETY: slots from `tail` up to `head + capacity` belong to the producer, which is this end alone
        // (`&mut self`), until it publishes them below.
        let memory = unsafe { channel.slots(end.own, count) };
        let wrote = fill(&mut Burst::new(memory, lent));
        if wrote > count {
            return Err(refuse_count(&self.info, wrote, count));
        }
        for (index, (slot, cell)) in lent[..wrote].iter().zip(memory.chunks_exact_mut(channel.stride)).enumerate() {
            if slot.len.wrapping_sub(MIN_SENT_BYTES) > max_frame - MIN_SENT_BYTES {
                return Err(refuse_length(&self.info, index, slot.len));
            }
            cell[..HEADER_BYTES].copy_from_slice(&slot.len.to_ne_bytes());
        }
        end.own += wrote;
        // Release: the frames are written before the consumer can see that they exist.
        channel.tail.0.store(end.own, Ordering::Release);
        self.counters.tx_frames += wrote as u64;
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let end = &mut self.inward;
        let channel = &*end.channel;
        let wanted = end.contiguous(limit);
        // Now and then in any case, so that what came since the last look tells whether the ring was full.
        if end.other - end.own < wanted || end.own - end.looked >= channel.capacity / 4 {
            // Acquire: pairs with the producer's release, so the frames up to `tail` are all there.
            end.other = channel.tail.0.load(Ordering::Acquire);
            // Since the last look never more waited than what waited then and what came since.
            self.full_time.look(now);
            if end.other - end.looked >= channel.capacity {
                self.counters.rx_full += 1;
                self.full_time.full(self.clock.map_or(now, |clock| clock.now()));
            }
            end.looked = end.own;
        }
        let count = wanted.min(end.other - end.own);
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: slots from `head` up to `tail` belong to the consumer, which is this end alone
        // (`&mut self`), until it gives them back below.
        let memory = unsafe { channel.slots(end.own, count) };
        let lent = &mut end.lent[..count];
        let found = self.clock.map_or(now, |clock| clock.now());
        for (slot, cell) in lent.iter_mut().zip(memory.chunks_exact(channel.stride)) {
            let header: [u8; HEADER_BYTES] = cell[..HEADER_BYTES].try_into().expect("a slot has its header");
            slot.len = u32::from_ne_bytes(header);
            slot.at = found;
        }
        read(&mut Burst::new(memory, lent));
        end.own += count;
        // Release: this end has finished with the slots before the producer can write them again.
        channel.head.0.store(end.own, Ordering::Release);
        self.counters.rx_frames += count as u64;
        Ok(count)
    }

    fn ready(&mut self) -> Result<(), PortError> {
        self.full_time.begin();
        Ok(())
    }

    fn full_spans(&self) -> &[Span] {
        self.full_time.spans()
    }

    fn counters(&self) -> PortCounters {
        PortCounters {
            rx_dropped: self.inward.channel.dropped.load(Ordering::Relaxed),
            rx_full_ns: self.full_time.ns(),
            ..self.counters
        }
    }
}
