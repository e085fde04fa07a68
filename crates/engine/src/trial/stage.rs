//! The stages of a trial, and the times that are fixed in them.

use crate::spec::TrialSpec;
use netdyno_frame::parse::Tag;
use std::net::IpAddr;

/// In virtual time answers leave this long after the question came in. A question is seen up to two rounds after it came,
/// so that is how far time may advance in two of them: then answers find their place among frames not yet sent, whatever
/// the round.
pub const ANSWER_PS: u64 = 100_000_000;
/// In real time traffic begins at least so long after that is said: all workers know of it by then, and the first frame is not
/// late by what it takes to begin (10 us, which are 50 ppm of the rate of a trial of 200 ms).
pub const AHEAD_PS: u64 = 1_000_000_000;
/// What is granted to each stream to begin, and to each of its samples, for which memory is laid out: 4,096 streams then leave on
/// time from their first frame.
const STREAM_PS: u64 = 10_000_000;
const SAMPLE_PS: u64 = 20_000;
/// The longest that traffic is put off for that.
const MOST_AHEAD_PS: u64 = 1_000_000_000_000;

/// How long after it is said traffic of so many streams begins, each of so many samples (real time). Other workers begin when
/// the lead has.
pub fn ahead_ps(streams: usize, samples: usize, is_alone: bool) -> u64 {
    let turns = if is_alone { 1 } else { 2 };
    let laid_out = turns * streams as u64 * (STREAM_PS + samples as u64 * SAMPLE_PS);
    laid_out.clamp(AHEAD_PS, MOST_AHEAD_PS)
}

/// The stage a trial is in, with when it ends or began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not stepped yet.
    New,
    /// Waiting for next hops; the next questions are due at `ask_ps`.
    Resolve { ask_ps: u64 },
    /// Flows are opened, for the time in a row that is `round`; those that come through until `until_ps` are known then.
    Open { round: usize, until_ps: u64 },
    /// Traffic starts at `until_ps`.
    Settle { until_ps: u64 },
    /// Waiting until all workers are ready for traffic, until `until_ps` at most.
    Muster { until_ps: u64 },
    /// By schedule.
    Traffic,
    /// Receiving until `until_ps`.
    Drain { until_ps: u64 },
    /// Over.
    Done,
}

/// When the stages of a trial were, in picoseconds of the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub began: u64,
    pub resolved: u64,
    pub traffic: u64,
    /// When sending stopped by schedule or by cancelling.
    pub stopped: u64,
    pub drain: u64,
    pub ended: u64,
}

/// A stream that waits for its next hop.
#[derive(Clone, Debug)]
pub struct Hop {
    pub port: usize,
    pub lane: usize,
    pub tags: Vec<Tag>,
    pub address: IpAddr,
}

/// Length and number of the samples of a trial.
pub fn samples(spec: &TrialSpec, duration_ps: u64) -> (u64, usize) {
    let sample_ps = spec.sample_ns * 1000;
    let samples = (duration_ps + spec.drain_ns * 1000).div_ceil(sample_ps).max(1);
    (sample_ps, samples as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// 4,096 streams of 20 samples took 12 ms to begin.
    #[test]
    fn thousands_of_streams_are_given_the_time_to_begin() {
        assert_eq!(ahead_ps(1, 1000, true), AHEAD_PS);
        assert_eq!(ahead_ps(16, 1000, false), AHEAD_PS);
        assert!((12 * MS..100 * MS).contains(&ahead_ps(4096, 20, true)));
        assert_eq!(ahead_ps(4096, 20, false), 2 * ahead_ps(4096, 20, true));
        assert_eq!(ahead_ps(1 << 14, 1 << 22, false), 1000 * MS);
    }
}
