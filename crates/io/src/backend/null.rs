//! A port that leads nowhere: lends the same slots again and again and counts. What a generator costs by itself.

use super::ask::{Ask, Backend, ClockFit, Placement, Queues, check_max_frame};
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, Timestamps, refuse_count, refuse_length};
use crate::region::{Region, stride_for};
use crate::time::Instant;
use serde::{Deserialize, Serialize};

/// Takes every frame and leads nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Null {}

impl Backend for Null {
    const NAME: &'static str = "null";
    const DOC: &'static str = "Takes every frame and gives the slots back: the generator's own cost. Nothing is ever received.";
    const CLOCK: ClockFit = ClockFit::Either;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        let queue = |ask: &Ask<'_, Self>| Ok(Box::new(NullPort::open(ask.name, ask.max_frame)?) as Box<dyn Port>);
        asks.iter().map(|ask| (0..ask.queues).map(|_| queue(ask)).collect()).collect()
    }
}

/// Slots stay within half of a level-1 cache where the frames allow it. Of those that were made for longer frames than
/// come, only the first lines are touched: a burst is never shorter for it than [`LEAST_SLOTS`].
const CACHE_BUDGET: usize = 16 << 10;
const LEAST_SLOTS: usize = 128;

/// A port that leads nowhere.
#[derive(Debug)]
pub struct NullPort {
    info: PortInfo,
    region: Region,
    slots: Vec<Slot>,
    /// The slots as they are lent: whole ones are copied faster than a length is set in each.
    fresh: Vec<Slot>,
    counters: PortCounters,
}

impl NullPort {
    /// Opens one. `max_frame` is without FCS.
    ///
    /// # Errors
    /// If `max_frame` is out of range.
    pub fn open(name: &str, max_frame: u32) -> Result<Self, PortError> {
        check_max_frame(name, max_frame)?;
        let stride = stride_for(max_frame as usize);
        let count = (CACHE_BUDGET / stride).clamp(LEAST_SLOTS, 256);
        let slot = |index: usize| Slot {
            offset: (index * stride) as u32,
            len: max_frame,
            at: Instant::ZERO,
        };
        let slots: Vec<Slot> = (0..count).map(slot).collect();
        Ok(Self {
            info: PortInfo {
                name: name.to_owned(),
                backend: Null::NAME.to_owned(),
                rate_bps: 0,
                max_frame,
                time: Timestamps::Software,
                detail: String::new(),
            },
            region: Region::zeroed(count * stride),
            fresh: slots.clone(),
            slots,
            counters: PortCounters::default(),
        })
    }
}

impl Port for NullPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let lent = limit.min(self.slots.len());
        if lent == 0 {
            return Ok(0);
        }
        let slots = &mut self.slots[..lent];
        let wrote = fill(&mut Burst::new(self.region.bytes(), slots));
        if wrote > lent {
            return Err(refuse_count(&self.info, wrote, lent));
        }
        // Adds up whether any length is wrong, so that the common case has one branch a burst.
        let max_frame = self.info.max_frame;
        let mut bad = false;
        for slot in &slots[..wrote] {
            bad |= slot.len.wrapping_sub(MIN_SENT_BYTES) > max_frame - MIN_SENT_BYTES;
        }
        let refused = bad.then(|| {
            let unfit = |slot: &Slot| !(MIN_SENT_BYTES..=max_frame).contains(&slot.len);
            let index = slots[..wrote].iter().position(unfit).expect("one was bad");
            refuse_length(&self.info, index, slots[index].len)
        });
        slots.copy_from_slice(&self.fresh[..lent]);
        if let Some(error) = refused {
            return Err(error);
        }
        self.counters.tx_frames += wrote as u64;
        Ok(wrote)
    }

    fn receive(&mut self, _now: Instant, _limit: usize, _read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        Ok(0)
    }

    fn counters(&self) -> PortCounters {
        self.counters
    }
}
