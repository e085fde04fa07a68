//! What is counted of each of several lanes while they send, before it is put down there.

use crate::send::lane::Lane;
use crate::send::shared_lags::{Kept, SharedLags};

/// Bursts whose lag is kept before it is recorded: a recorder lies here and there in memory, and of thousands of streams each
/// look at it takes its time.
pub const LAGS: usize = 8;

/// Frames after which a tally is put down: where the stream stands is then known without going through many runs of flows.
const MOST_FRAMES: u32 = 4096;

/// What is counted of a lane before it is put down there: one line of the cache for each, or those of thousands of streams
/// would be fetched from far away at each frame.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Tally {
    /// Frames sent that its place in the stream, its counters and its series do not know of yet: of one sample of time.
    pub frames: u32,
    /// Those among them whose lag was recorded.
    pub timed: u32,
    /// Their bytes, if there are several sizes.
    pub bytes: u64,
    /// A time in that sample, and its number.
    pub at_ps: u64,
    pub sample: u32,
    /// In the burst that is counted: how late the latest of its frames left, and the last one.
    pub latest_ps: u64,
    pub rest_ps: u64,
    /// How many of them are in it.
    pub burst: u16,
    /// Lags that are not recorded yet, and at how many they are.
    pub lags: u8,
    pub most_lags: u8,
    /// Whether the last one was late.
    pub was_late: bool,
    pub is_changed: bool,
    /// Its flows, and how many sequences of them have begun.
    pub flows: u32,
    pub sequences: u32,
}

impl Tally {
    /// Goes on to a sample of time: what is counted of another one is put down with the lane.
    #[inline]
    pub fn enter(&mut self, sample: u32, lane: &mut Lane) {
        if self.sample != sample || self.frames > MOST_FRAMES {
            self.settle(lane);
            self.sample = sample;
        }
    }

    /// Puts down with the lane what was counted of it.
    #[inline(never)]
    pub fn settle(&mut self, lane: &mut Lane) {
        let frames = u64::from(self.frames);
        if frames == 0 {
            return;
        }
        lane.tx.add(self.at_ps, frames);
        lane.offered += frames;
        lane.offered_bytes += match lane.sizes[..] {
            [size] => size * frames,
            _ => self.bytes,
        };
        lane.walk.advance(frames);
        if self.frames > self.timed {
            lane.lag.record_on_time(u64::from(self.frames - self.timed));
        }
        (self.frames, self.bytes, self.timed) = (0, 0, 0);
    }

    /// Keeps the lags of a burst that left at `at_ps`.
    #[inline]
    pub fn count_at_once(&mut self, lags: &mut [Kept; LAGS], lane: &mut Lane, at_ps: u64) {
        lags[usize::from(self.lags)] = Kept {
            at_ps,
            latest_ps: self.latest_ps,
            rest_ps: self.rest_ps,
            frames: self.burst.into(),
        };
        self.lags += 1;
        self.timed += u32::from(self.burst);
        self.at_ps = at_ps;
        if self.lags >= self.most_lags {
            self.record(lags, lane);
            self.most_lags = LAGS as u8;
        }
    }

    /// Counts bursts of one frame each of a sample of time, which left behind those whose lags are kept.
    pub fn count_kept(&mut self, sample: u32, lags: &[Kept; LAGS], bursts: &SharedLags, lane: &mut Lane) {
        self.enter(sample, lane);
        self.record(lags, lane);
        lane.lag.record_shared(bursts);
        self.timed += bursts.kept.len() as u32;
        self.frames += bursts.kept.len() as u32;
        self.at_ps = bursts.kept.last().map_or(self.at_ps, |last| last.at_ps);
    }

    /// Records the lags that are kept.
    pub fn record(&mut self, lags: &[Kept; LAGS], lane: &mut Lane) {
        lane.lag.record_kept(&lags[..usize::from(std::mem::take(&mut self.lags))]);
    }

    /// Counts the frames of a burst, of a sequence that has `left` frames left; if another has begun with them, so has one of lane
    /// `number` of those `changed`.
    #[inline]
    pub fn end_burst(&mut self, number: u16, left: &mut u32, changed: &mut Vec<u16>) {
        let mut count = u32::from(std::mem::take(&mut self.burst));
        self.latest_ps = 0;
        self.frames += count;
        if count <= *left {
            *left -= count;
            return;
        }
        while count > *left {
            count -= *left;
            *left = self.begin_sequence(number, changed);
        }
        *left -= count;
    }

    /// A sequence of the flows of lane `number` begins, which is then among those `changed`. How many frames it has.
    #[inline]
    pub fn begin_sequence(&mut self, number: u16, changed: &mut Vec<u16>) -> u32 {
        self.sequences += 1;
        if !self.is_changed {
            self.is_changed = true;
            changed.push(number);
        }
        self.flows
    }

    /// The number of the first frame of `lane` that was not sent.
    pub fn number(&self, lane: &Lane) -> u64 {
        let mut walk = lane.walk;
        walk.advance(u64::from(self.frames) + u64::from(self.burst));
        walk.number()
    }

    /// As [`Self::number`], where rows may hold frames that are not counted here yet. The sequences know of every frame: the one
    /// that `lane` is at has `left` frames left.
    pub fn number_behind(&self, left: u32, lane: &Lane) -> u64 {
        // Streams of one flow may have more sequences than these bits tell, but not behind the lane.
        let sent = self.sequences.wrapping_mul(self.flows).wrapping_sub(left);
        let mut walk = lane.walk;
        walk.advance(sent.wrapping_sub(lane.offered as u32).into());
        walk.number()
    }

    /// How long that one waits for the line behind others that are handed over at once with it; ps.
    pub fn wait_ps(&self, lane: &Lane) -> u64 {
        lane.wait_ps(self.number(lane))
    }
}
