//! How late frames left that several streams sent at the same times: reckoned once, recorded of each stream.

use super::late::Period;
use crate::observe::SharedTiming;

/// Less than the histogram tells from being on time, ps.
pub const UNSEEN_PS: u64 = 1000;

/// How late frames left together: the latest of them, and the last.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub struct Kept {
    pub at_ps: u64,
    pub latest_ps: u64,
    pub rest_ps: u64,
    pub frames: u64,
}

/// Bursts of one sample of time, one after the other, that each of some streams had a part in.
#[derive(Debug, Default)]
pub struct SharedLags {
    pub kept: Vec<Kept>,
    /// What they have in common; `None` if it was not reckoned, as they are of one stream only.
    pub sum: Option<Sum>,
    /// What sums are made with.
    timing: SharedTiming,
}

/// What bursts come to, however late the frame before them was. That one decides what is `behind` the first: all others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// How late the first frame of the burst was that was the least late, and of that which was the most.
    pub least_ps: u64,
    pub most_ps: u64,
    /// The frames of all.
    pub frames: u64,
    /// Of those behind the first that are seen to be late, or come after one: the most that one was late, left closer than due
    /// to the one before, and that left at once.
    pub seen: Option<[u64; 3]>,
    /// Those behind the first, as one period of late ones.
    pub behind: Option<Period>,
}

impl SharedLags {
    /// Of one stream alone.
    pub fn keep_alone(&mut self, bursts: impl Iterator<Item = Kept>) {
        self.kept.clear();
        self.kept.extend(bursts);
        self.sum = None;
    }

    /// Of several streams.
    pub fn keep(&mut self, bursts: impl Iterator<Item = Kept>) {
        self.keep_alone(bursts);
        let mut sum = Sum {
            least_ps: u64::MAX,
            ..Sum::default()
        };
        self.timing.clear();
        let mut before_ps = None;
        for burst in &self.kept {
            self.timing.count(burst.latest_ps / 1000, burst.frames as u32);
            sum.least_ps = sum.least_ps.min(burst.latest_ps);
            sum.most_ps = sum.most_ps.max(burst.latest_ps);
            sum.frames += burst.frames;
            if let Some(before_ps) = before_ps {
                sum.follow(burst, before_ps);
            }
            before_ps = Some(burst.rest_ps);
        }
        self.sum = Some(sum);
    }

    /// Their lags in places of a histogram.
    pub fn timing(&self) -> &SharedTiming {
        &self.timing
    }
}

impl Sum {
    /// `burst` came behind frames of which the last was `before_ps` late.
    fn follow(&mut self, burst: &Kept, before_ps: u64) {
        if burst.latest_ps.max(before_ps) >= UNSEEN_PS {
            let [longest, closer, bunch] = self.seen.unwrap_or_default();
            self.seen = Some([
                longest.max(burst.latest_ps),
                closer.max(before_ps.saturating_sub(burst.latest_ps)),
                bunch.max(burst.frames),
            ]);
        }
        let more_ps = burst.latest_ps.saturating_sub(before_ps);
        let late = Period::of(burst.at_ps, burst.latest_ps, more_ps, burst.frames);
        match &mut self.behind {
            None => self.behind = Some(late),
            Some(behind) => behind.join(&late),
        }
    }
}
