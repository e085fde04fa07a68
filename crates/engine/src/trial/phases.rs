//! The phases of a trial: resolve, settle, the segments of its longest schedule, drain.

use super::stage::{Stage, Times};
use crate::result::PhaseResult;
use crate::spec::{Segment, TrialSpec};

/// The names of the phases: before traffic, the segments, after it.
pub fn phase_names(spec: &TrialSpec, longest: usize) -> Vec<String> {
    let segments = segments(spec, longest).iter().map(|segment| segment.name.clone());
    let before = ["resolve", "settle"].map(str::to_owned);
    before
        .into_iter()
        .chain(segments)
        .chain(["drain", "done"].map(str::to_owned))
        .collect()
}

/// The phases of traffic are those of the first stream with the longest schedule: the index of that stream, 0 without any.
pub fn longest(spec: &TrialSpec) -> usize {
    let length = |index: usize| spec.streams[index].schedule.iter().map(|segment| segment.duration_ns).sum::<u64>();
    // Of several of one length `max_by_key` takes the last.
    (0..spec.streams.len()).rev().max_by_key(|&index| length(index)).unwrap_or(0)
}

fn segments(spec: &TrialSpec, longest: usize) -> &[Segment] {
    spec.streams.get(longest).map_or(&[], |stream| &stream.schedule)
}

/// The phase (index into [`phase_names`]) at `now`, and `now` or the end of the trial.
pub fn phase_at(spec: &TrialSpec, longest: usize, times: &Times, stage: Stage, now: u64) -> (usize, u64) {
    let segments = segments(spec, longest);
    match stage {
        Stage::New | Stage::Resolve { .. } => (0, now),
        Stage::Open { .. } | Stage::Settle { .. } | Stage::Muster { .. } => (1, now),
        Stage::Traffic if now < times.traffic => (1, now),
        Stage::Traffic => {
            let mut end = times.traffic;
            let past = segments.iter().take_while(|segment| {
                end += segment.duration_ns * 1000;
                end <= now
            });
            (2 + past.count().min(segments.len().saturating_sub(1)), now)
        }
        Stage::Drain { .. } => (2 + segments.len(), now),
        Stage::Done => (3 + segments.len(), times.ended),
    }
}

/// When each phase of a trial was.
pub fn phases(spec: &TrialSpec, longest: usize, times: &Times) -> Vec<PhaseResult> {
    let mut phases = Vec::new();
    let mut add = |name: &str, from: u64, until: u64| {
        phases.push(PhaseResult {
            name: name.to_owned(),
            start_ns: from.saturating_sub(times.began) / 1000,
            duration_ns: until.saturating_sub(from) / 1000,
        });
    };
    add("resolve", times.began, times.resolved);
    // A trial may be ended between the word that traffic begins and its beginning.
    add("settle", times.resolved, times.traffic.min(times.drain));
    let mut from = times.traffic;
    let segments = segments(spec, longest);
    for (index, segment) in segments.iter().enumerate() {
        // What could not be sent in time belongs to the last segment.
        let last = if index + 1 == segments.len() { times.drain } else { times.stopped };
        let planned = from + segment.duration_ns * 1000;
        let until = if index + 1 == segments.len() { last } else { planned.min(last) };
        add(&segment.name, from.min(until), until);
        from = planned;
    }
    add("drain", times.drain, times.ended);
    phases
}
