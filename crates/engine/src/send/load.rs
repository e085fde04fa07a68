//! The load that a worker's sender has come to on its port: what it sends itself, beside what other workers send there.

use super::schedule::Schedule;

/// The most frames that a worker hands to a port in a round of real time before the others have their turn, and so those that
/// may leave at once after a pause.
pub(super) const AT_ONCE_FRAMES: u64 = 512;
/// Less than so much behind is no pause: rounds take their time, and a call to the system may take this long. ps.
pub(super) const AT_ONCE_PS: u64 = 1_000_000_000;
/// As many frames may leave at once however long they took to fall due: at a low load a busy machine's pauses are shorter than
/// that, and a tester that makes up for each of them slowly would not come to the load at all.
const FEW_FRAMES: u64 = 32;
/// But not what fell due in more time than this, ps.
const LONGEST_AT_ONCE_PS: u64 = 1_000_000_000_000;

/// The load that a sender has come to in its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// How far its own frames are apart, on average; ps.
    pub gap_ps: u64,
    /// The time of the schedule in which as many of its own frames fall due as may leave at once: a millisecond, or what 32 of them take; ps.
    pub at_once_ps: u64,
    /// How much of the load of its port, whoever sends it, the line carries, percent; `u64::MAX` if unknown.
    pub room: u64,
    /// How far bursts are apart: what their line has no time for is not lost meanwhile. 0 without any; ps.
    pub step_ps: u64,
    /// Where it spaces bursts itself, how far its frames are apart if it sends its part of a full line; else 0; ps.
    pub frame_ps: u64,
}

/// What the sender of one worker sends of a stream of its port.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub schedule: &'a Schedule,
    /// Its own flows, and all of the stream.
    pub own: u64,
    pub flows: u64,
    /// When its next frame is due, from the start of traffic; `None` if it has none left.
    pub next_ps: Option<u64>,
}

impl Part<'_> {
    /// What its own flows have of a load of the stream.
    fn own_of(&self, bps: u64) -> u64 {
        (u128::from(bps) * u128::from(self.own))
            .checked_div(u128::from(self.flows))
            .unwrap_or(0) as u64
    }

    /// The load the stream has come to, if it has frames left.
    fn bps(&self) -> u64 {
        self.next_ps.map_or(0, |next_ps| self.schedule.bps_at(next_ps))
    }

    /// The highest load that others may have come to with their flows of it, who are to send no frame from before `from_ps`
    /// any more, at `until_ps`.
    fn others_bps(&self, from_ps: u64, until_ps: u64) -> u64 {
        let all = self.schedule.highest_bps_within(from_ps, until_ps);
        all - self.own_of(all)
    }

    /// How far its own frames are apart at a load of the stream, on average; ps, `u64::MAX` is never.
    fn gap_ps(&self, bps: u64) -> u64 {
        self.of_all(self.schedule.gap_ps(bps))
    }

    /// The time in which as many of its own frames fall due as may leave at once, at a load of the stream; ps.
    fn at_once_ps(&self, bps: u64) -> u64 {
        self.schedule.time_of_ps(self.of_all(AT_ONCE_FRAMES), bps)
    }

    /// As many times more as there are flows of the stream for each of its own.
    fn of_all(&self, count: u64) -> u64 {
        let all = (u128::from(count) * u128::from(self.flows)).checked_div(u128::from(self.own));
        all.map_or(u64::MAX, |all| all.try_into().unwrap_or(u64::MAX))
    }
}

impl Load {
    /// That of a sender of `parts` at `now_ps`, whose next frame is due at `next_ps`, both from the start of traffic, on a line
    /// of `line_bps`; where it spaces bursts itself, these are to be of `bursts_bps`. 0 is not known, or no bursts.
    pub fn of<'a>(parts: impl Iterator<Item = Part<'a>> + Clone, line_bps: u64, bursts_bps: u64, next_ps: u64, now_ps: u64) -> Self {
        let sending = parts.clone().filter(|part| part.next_ps.is_some());
        let own_bps: u64 = sending.clone().map(|part| part.own_of(part.bps())).sum();
        let others_bps: u64 = parts.map(|part| part.others_bps(next_ps, now_ps)).sum();
        let gap_ps = together(sending.clone().map(|part| part.gap_ps(part.bps())));
        let frame_ps = (u128::from(gap_ps) * u128::from(own_bps + others_bps)).checked_div(u128::from(bursts_bps));
        Self {
            gap_ps,
            at_once_ps: at_once_ps(sending.clone().map(|part| part.at_once_ps(part.bps()))),
            room: room(line_bps, own_bps + others_bps),
            step_ps: sending.map(|part| part.schedule.step_ps(part.bps())).max().unwrap_or(0),
            // Never slower than its own load, where bursts of several streams together are beyond the line.
            frame_ps: frame_ps.map_or(0, |frame_ps| frame_ps.clamp(1, u128::from(gap_ps.max(1))) as u64),
        }
    }
}

/// The shortest time in which as many frames of a sender of `parts` fall due as may leave at once; ps.
pub fn shortest_at_once_ps<'a>(parts: impl Iterator<Item = Part<'a>>) -> u64 {
    at_once_ps(parts.map(|part| part.at_once_ps(part.schedule.highest_bps())))
}

/// How much of a load a line carries, percent; `u64::MAX` if there is no load, or it is 0 because it is unknown.
pub fn room(line_bps: u64, load_bps: u64) -> u64 {
    let room = (100 * u128::from(line_bps))
        .checked_div(u128::from(load_bps))
        .filter(|&room| room > 0);
    room.map_or(u64::MAX, |room| room.try_into().unwrap_or(u64::MAX))
}

/// The time in which as many frames of several streams fall due as may leave at once, if those of each alone take so long; ps.
fn at_once_ps(times: impl Iterator<Item = u64>) -> u64 {
    let all = together(times);
    let few = (all / (AT_ONCE_FRAMES / FEW_FRAMES)).min(LONGEST_AT_ONCE_PS);
    all.clamp(1, AT_ONCE_PS.max(few))
}

/// How far the frames of several streams are apart, all together, if those of each are so far: ps, `u64::MAX` is never.
fn together(gaps: impl Iterator<Item = u64>) -> u64 {
    const LONG: u128 = 1 << 100;
    let per_long: u128 = gaps.filter(|&gap| gap != u64::MAX).map(|gap| LONG / u128::from(gap.max(1))).sum();
    LONG.checked_div(per_long)
        .map_or(u64::MAX, |gap| gap.try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Segment, SizeSpec};

    /// A frame of 64 bytes is 672 bits on the line.
    #[test]
    fn few_frames_leave_at_once_at_any_load() {
        for (fps, at_once_us) in [(1, 1_000_000), (2_000, 16_000), (10_000, 3_200), (100_000, 1_000), (1_000_000, 512)] {
            let segment = Segment {
                name: "s".to_owned(),
                duration_ns: 1000,
                from_bps: 672 * fps,
                to_bps: 672 * fps,
            };
            let schedule = Schedule::new(&[segment], &[SizeSpec { size: 64, weight: 1 }], &[0]);
            let part = Part {
                schedule: &schedule,
                own: 4,
                flows: 4,
                next_ps: Some(0),
            };
            assert_eq!(
                shortest_at_once_ps([part].into_iter()) / 1_000_000,
                at_once_us,
                "{fps} frames a second"
            );
        }
    }
}
