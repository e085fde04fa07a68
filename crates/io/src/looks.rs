//! How long a ring may have been full: the time before those looks at it that found so much come that there may have been
//! no room for more. Frames that a peer dropped for want of room came in that time, whoever counted them.

use crate::time::Instant;

/// Adds up the time before full looks, never less than it was, each moment once.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullTime {
    /// When the ring was looked at last, and the last time before that moment: of several looks of one round, which all
    /// carry the time it began, any may be the one that tells of the time before.
    last: Instant,
    before: Instant,
    /// What was before is added already.
    added_to: Instant,
    total_ps: u64,
}

impl FullTime {
    /// A look, by a caller to whom it is `now` or somewhat later.
    #[inline]
    pub fn look(&mut self, now: Instant) {
        if now > self.last {
            self.before = self.last;
            self.last = now;
        }
    }

    /// Notes that the last look found the ring full, at `end`, which is not before its time.
    pub fn full(&mut self, end: Instant) {
        let from = self.before.max(self.added_to);
        self.total_ps += end.saturating_since(from).ps;
        self.added_to = self.added_to.max(end);
    }

    /// The sum, ns.
    #[must_use]
    pub const fn ns(&self) -> u64 {
        self.total_ps.div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at the times given, in us, the full ones with when they ended.
    fn total(looks: &[(u64, Option<u64>)]) -> u64 {
        let mut time = FullTime::default();
        for &(now, full) in looks {
            time.look(Instant::from_ns(now * 1000));
            if let Some(end) = full {
                time.full(Instant::from_ns(end * 1000));
            }
        }
        time.ns() / 1000
    }

    #[test]
    fn the_time_before_full_looks_is_counted_and_no_other() {
        assert_eq!(total(&[(10, None), (30, None), (100, None)]), 0);
        assert_eq!(total(&[(10, None), (30, Some(30)), (100, None)]), 20);
        assert_eq!(total(&[(10, None), (30, None), (100, Some(103)), (110, None)]), 73);
    }

    #[test]
    fn who_always_finds_it_full_has_been_full_all_the_time() {
        assert_eq!(total(&[(10, None), (30, Some(33)), (40, Some(41)), (90, Some(95))]), 85);
    }

    /// The first look of a round may be at what was known already, the second at what came meanwhile.
    #[test]
    fn looks_of_one_round_tell_of_the_time_before_it_once() {
        assert_eq!(total(&[(10, None), (30, None), (30, Some(34))]), 24);
        assert_eq!(total(&[(10, None), (30, Some(34)), (30, Some(37)), (50, None)]), 27);
    }
}
