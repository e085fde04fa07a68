//! How a sender that fell behind its schedule makes up for it (real time): not all at once, but at a bounded rate.
//!
//! What was due while the tester was preempted is still owed when it comes back. Sent at once, it would be another
//! load: a device whose queue overflows on that burst would be blamed for the tester's pause. So the schedule then goes on
//! at no more than a declared multiple of its own pace until nothing is owed. Only what is due within a millisecond, or the few
//! frames of a pause at a low load, and no more than a round hands over anyway, leaves at once.
//!
//! It is a token bucket whose tokens are picoseconds of the schedule: so it knows nothing of rates, ramps and sizes, and
//! twice the pace is twice the load wherever the schedule stands. Where the sender spaces bursts itself, time of the schedule
//! within one is time of the line, which does not run faster: a second bucket, of frames at the line's rate, is for them, and
//! only the gaps between bursts are shorter.

use super::load::{AT_ONCE_FRAMES, Load};
use crate::result::CatchUp;

/// What may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    /// What is due until then,
    pub until_ps: u64,
    /// and no more frames than that.
    pub frames: u64,
}

/// The pace of one sender.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The pace while catching up, percent of the schedule's, where the line has room for it.
    percent: u64,
    /// A sender is behind if frames have been due for longer than this.
    limit_ps: u64,
    owing: Option<Owing>,
    found: CatchUp,
}

/// While it catches up.
#[derive(Clone, Copy, Debug)]
struct Owing {
    /// When it was last given time of the schedule.
    last_ps: u64,
    /// Time of the schedule that may be sent now; below 0 after a frame that took more than there was.
    credit_ps: i64,
    /// Time of the line that may be used now, where it spaces bursts itself; below 0 likewise.
    line_ps: i64,
    /// The pace it has now, percent, and the load.
    percent: u64,
    load: Load,
    /// How much more of the schedule it has sent since it fell behind than at its own pace, and the most that was.
    ahead_ps: i64,
    most_ahead_ps: i64,
    /// Frames made up since it fell behind.
    frames: u64,
}

impl Pace {
    /// That of a sender which is behind if frames have been due for more than `limit_ps`, and catches up at `percent` of its
    /// pace, or at what its line carries of it if that is less: at its lowest load `room` percent.
    #[must_use]
    pub fn new(percent: u32, room: u64, limit_ps: u64) -> Self {
        Self {
            percent: u64::from(percent.max(100)),
            limit_ps,
            owing: None,
            found: CatchUp {
                percent: percent.min(u32::try_from(room).unwrap_or(u32::MAX)).max(100),
                ..CatchUp::default()
            },
        }
    }

    /// What may be sent at `now`, if the next frame has been due since `next_ps`, and its line should have come to it at
    /// `on_line_ps`: later, within a burst that is handed over at once. The load it has come to is asked for only if the
    /// sender is behind.
    #[inline]
    pub fn leave(&mut self, now: u64, next_ps: u64, on_line_ps: u64, load: impl FnOnce() -> Load) -> Leave {
        let behind_ps = now.saturating_sub(on_line_ps);
        if self.owing.is_none() && behind_ps <= self.limit_ps {
            return Leave {
                until_ps: now,
                frames: u64::MAX,
            };
        }
        self.govern(now, next_ps, behind_ps, load())
    }

    #[cold]
    fn govern(&mut self, now: u64, next_ps: u64, behind_ps: u64, load: Load) -> Leave {
        let (first, line) = (signed(load.at_once_ps), signed(load.frame_ps.saturating_mul(AT_ONCE_FRAMES)));
        // What its line had no time for is not lost: it takes its time for a burst.
        let most = first.max(signed(load.step_ps));
        let owing = self.owing.get_or_insert_with(|| {
            self.found.pauses += 1;
            Owing {
                last_ps: now,
                credit_ps: first,
                line_ps: line,
                percent: 100,
                load,
                ahead_ps: 0,
                most_ahead_ps: 0,
                frames: 0,
            }
        });
        self.found.longest_ns = self.found.longest_ns.max(behind_ps / 1000);
        (owing.percent, owing.load) = (self.percent.min(load.room).max(100), load);
        let passed = (now - owing.last_ps).min(u64::from(u32::MAX) * 1000);
        let earned = passed * owing.percent / 100;
        owing.ahead_ps -= passed as i64;
        owing.credit_ps = (owing.credit_ps + earned as i64).min(most);
        owing.line_ps = (owing.line_ps + passed as i64).min(line);
        owing.last_ps = now;
        Leave {
            until_ps: match u64::try_from(owing.credit_ps) {
                Ok(credit @ 1..) => (next_ps + credit - 1).min(now),
                // Nothing, not even what is due just now.
                _ => next_ps.saturating_sub(1),
            },
            frames: match u64::try_from(owing.line_ps) {
                _ if load.frame_ps == 0 => u64::MAX,
                Ok(time) => time.div_ceil(load.frame_ps),
                Err(_) => 0,
            },
        }
    }

    /// By [`Self::leave`] at `now`, `frames` frames were sent: the next one was due at `before_ps`, and now is at
    /// `next_ps`, to which its line should come at `on_line_ps`.
    #[inline]
    pub fn sent(&mut self, now: u64, before_ps: u64, next_ps: u64, on_line_ps: u64, frames: u64) {
        self.found.most_in_round = self.found.most_in_round.max(frames);
        if let Some(owing) = &mut self.owing {
            let passed = match next_ps {
                u64::MAX => owing.load.gap_ps.saturating_mul(frames),
                _ => next_ps.saturating_sub(before_ps),
            };
            let passed = signed(passed);
            owing.credit_ps -= passed;
            owing.line_ps -= signed(owing.load.frame_ps.saturating_mul(frames));
            owing.ahead_ps += passed;
            let more = u64::try_from(owing.ahead_ps - owing.most_ahead_ps).unwrap_or(0);
            owing.most_ahead_ps = owing.most_ahead_ps.max(owing.ahead_ps);
            // At its own pace all frames leave late, but at the load that was asked for: all but what left at once.
            let made_up = if owing.percent > 100 {
                frames
            } else {
                let apart_ps = match owing.load.frame_ps {
                    0 => owing.load.gap_ps,
                    on_line => on_line,
                };
                frames.min(more.div_ceil(apart_ps.max(1)))
            };
            owing.frames += made_up;
            self.found.frames += made_up;
            self.found.longest_run = self.found.longest_run.max(owing.frames);
            if on_line_ps > now {
                self.owing = None;
            }
        }
    }

    /// Adds what another worker's sender did on the same port.
    pub fn absorb(&mut self, other: &Self) {
        self.found.absorb(&other.found);
    }

    /// Returns how far the sender caught up.
    #[must_use]
    pub fn catch_up(&self) -> &CatchUp {
        &self.found
    }
}

impl CatchUp {
    /// Adds what another sender did.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.percent = self.percent.max(other.percent);
        self.pauses += other.pauses;
        self.frames += other.frames;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.longest_run = self.longest_run.max(other.longest_run);
        self.most_in_round = self.most_in_round.max(other.most_in_round);
    }
}

/// A time as one that may go below 0, far from where sums would overflow; ps.
fn signed(time_ps: u64) -> i64 {
    time_ps.min(i64::MAX as u64 / 4) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    const MS: u64 = 1_000 * US;

    fn load(gap_ps: u64) -> Load {
        Load {
            gap_ps,
            at_once_ps: (512 * gap_ps).min(MS),
            room: u64::MAX,
            step_ps: 0,
            frame_ps: 0,
        }
    }

    fn pace(percent: u32, gap_ps: u64) -> Pace {
        Pace::new(percent, u64::MAX, load(gap_ps).at_once_ps)
    }

    /// A sender of a frame each `gap_ps`, asked every microsecond from `from` on; frames sent in each of those rounds, until
    /// nothing is owed.
    fn rounds(pace: &mut Pace, gap_ps: u64, next_ps: &mut u64, from: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        for now in (from..).step_by(US as usize) {
            let (before, until) = (*next_ps, pace.leave(now, *next_ps, *next_ps, || load(gap_ps)).until_ps);
            let mut frames = 0;
            while *next_ps <= until {
                *next_ps += gap_ps;
                frames += 1;
            }
            pace.sent(now, before, *next_ps, *next_ps, frames);
            sent.push(frames);
            if *next_ps > now {
                return sent;
            }
        }
        unreachable!("the loop has no end of its own")
    }

    /// 1,000,000 frames a second, away for 90 ms: 90,000 frames are due. 512 leave at once, and then two each microsecond, of
    /// which one is new: so it takes 89.488 ms, in which 89,488 more fall due.
    #[test]
    fn a_pause_is_made_up_for_at_twice_the_pace() {
        let mut pace = pace(200, US);
        let mut next = US;
        let sent = rounds(&mut pace, US, &mut next, 90 * MS);
        assert_eq!(sent[0], 512);
        assert!(sent[1..].iter().all(|&frames| frames <= 2), "two in each microsecond");
        assert_eq!(sent.len() as u64, 1 + 89_488);
        let found = pace.catch_up();
        assert_eq!(
            (found.pauses, found.frames, found.longest_run),
            (1, 90_000 + 89_488, 90_000 + 89_488)
        );
        assert_eq!((found.longest_ns, found.most_in_round, found.percent), (89_999_000, 512, 200));
        // On time again, nothing is held back or counted.
        assert_eq!(pace.leave(next, next, next, || load(US)).until_ps, next);
        assert_eq!(pace.catch_up().pauses, 1);
    }

    /// Few frames a second, and no more than a millisecond of them at once: that is less than one, so one leaves, and the
    /// next when twice the time of one has passed twice as fast.
    #[test]
    fn slow_loads_do_not_leave_in_bursts_either() {
        // 1,000 frames a second, away for 20 ms.
        let mut pace = pace(200, MS);
        let mut next = MS;
        let sent = rounds(&mut pace, MS, &mut next, 20 * MS);
        assert!(sent.iter().all(|&frames| frames <= 1));
        let at: Vec<u64> = (0..).zip(&sent).filter(|(_, frames)| **frames == 1).map(|(at, _)| at).collect();
        // Half as far apart as they were due, but the first two: a millisecond of them may leave at once.
        assert_eq!(at[..2], [0, 1]);
        assert!(at[1..].windows(2).all(|pair| pair[1] - pair[0] == 500), "{at:?}");
        assert_eq!(pace.catch_up().frames, sent.iter().sum::<u64>());
    }

    /// Where the load must not be exceeded at all a pause is never made up for: the schedule goes on late.
    #[test]
    fn at_its_own_pace_it_stays_late() {
        let mut pace = pace(100, US);
        let (mut next, mut total) = (US, 0);
        for now in (10 * MS..20 * MS).step_by(US as usize) {
            let (before, until) = (next, pace.leave(now, next, next, || load(US)).until_ps);
            let frames = (until + 1).saturating_sub(next).div_ceil(US);
            next += frames * US;
            pace.sent(now, before, next, next, frames);
            total += frames;
        }
        assert_eq!(total, 512 + 9_999, "one each microsecond after those at once");
        // The others were late, but at no other load.
        assert_eq!((pace.catch_up().frames, pace.catch_up().longest_run), (512, 512));
    }

    #[test]
    fn short_delays_are_no_pauses() {
        // A round of 0.5 ms at 1,000,000 frames a second: what a round hands over.
        let mut pace = pace(200, US);
        assert_eq!(pace.leave(512 * US, 0, 0, || load(US)).until_ps, 512 * US);
        assert_eq!(pace.catch_up().pauses, 0);
        assert!(pace.leave(513 * US, 0, 0, || load(US)).until_ps < 513 * US);
        assert_eq!(pace.catch_up().pauses, 1);
    }
}
