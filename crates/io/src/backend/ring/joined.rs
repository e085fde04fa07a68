//! Several rings as one port: the device's end of a tester port whose queues belong to a thread each.

use super::port::{RingPort, pair};
use crate::backend::ask::{LinkSpec, Spread};
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, refuse_count, refuse_length};
use crate::region::{Region, stride_for};
use crate::time::{Clock, Instant};

/// Frames sent at once at most.
const MAX_BURST: usize = 64;

/// A link of `queues` rings of `slots` frames each way: the near end of each by itself, the far ends as one port, which
/// sends a frame into the ring that `spread` says, modulo how many there are. As with the queues of a card, a frame whose
/// ring is full is dropped, and the near end of that ring counts it: a reader that is slow slows nobody else's frames.
///
/// # Errors
/// If `max_frame` is out of range.
pub fn pair_queues(link: &LinkSpec, slots: usize, queues: usize, spread: Spread) -> Result<(Vec<RingPort>, JoinedPort), PortError> {
    let pairs = (0..queues).map(|_| pair(link, slots)).collect::<Result<Vec<_>, _>>()?;
    let (near, far): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let stride = stride_for(link.max_frame as usize);
    let slot = |index: usize| Slot {
        offset: (index * stride) as u32,
        len: link.max_frame,
        at: Instant::ZERO,
    };
    let info = PortInfo {
        detail: format!("{queues} rings"),
        ..far[0].info.clone()
    };
    let joined = JoinedPort {
        info,
        rings: far,
        spread,
        turn: 0,
        region: Region::zeroed(MAX_BURST * stride),
        slots: (0..MAX_BURST).map(slot).collect(),
        tx_frames: 0,
    };
    Ok((near, joined))
}

/// The far ends of several rings as one port.
#[derive(Debug)]
pub struct JoinedPort {
    info: PortInfo,
    rings: Vec<RingPort>,
    spread: Spread,
    /// The ring to look into first.
    turn: usize,
    /// Frames are written here: only then it is known which ring they go to.
    region: Region,
    slots: Vec<Slot>,
    /// Those that were dropped with them.
    tx_frames: u64,
}

impl Port for JoinedPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn use_clock(&mut self, clock: Clock) {
        self.rings.iter_mut().for_each(|ring| ring.use_clock(clock));
    }

    fn time(&self, now: Instant) -> Instant {
        self.rings[0].time(now)
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let count = limit.min(MAX_BURST);
        if count == 0 {
            return Ok(0);
        }
        for slot in &mut self.slots[..count] {
            slot.len = self.info.max_frame;
        }
        let wrote = fill(&mut Burst::new(self.region.bytes(), &mut self.slots[..count]));
        if wrote > count {
            return Err(refuse_count(&self.info, wrote, count));
        }
        let slots = &self.slots[..wrote];
        let fits = |slot: &Slot| (MIN_SENT_BYTES..=self.info.max_frame).contains(&slot.len);
        if let Some(index) = slots.iter().position(|slot| !fits(slot)) {
            return Err(refuse_length(&self.info, index, slots[index].len));
        }
        let memory = self.region.bytes();
        for slot in slots {
            let frame = &memory[slot.offset as usize..][..slot.len as usize];
            let queues = self.rings.len();
            let ring = &mut self.rings[(self.spread)(frame) as usize % queues];
            if ring.room(1)? > 0 {
                ring.put(frame);
            } else {
                ring.drop_frame();
            }
        }
        self.tx_frames += wrote as u64;
        self.rings.iter_mut().for_each(RingPort::publish);
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        for _ in 0..self.rings.len() {
            let lent = self.rings[self.turn].receive(now, limit, read)?;
            self.turn = (self.turn + 1) % self.rings.len();
            if lent > 0 {
                return Ok(lent);
            }
        }
        Ok(0)
    }

    fn counters(&self) -> PortCounters {
        let mut sum = PortCounters::default();
        self.rings.iter().for_each(|ring| sum += ring.counters());
        PortCounters {
            tx_frames: self.tx_frames,
            ..sum
        }
    }
}
