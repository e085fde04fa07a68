//! One stream through stages of its own: at most one of them is a bottleneck.

use super::path::{Path, Stage};
use super::ratio::Ratio;
use super::stream::{Departures, NoClosedForm, Offered, interval, refuse};
use std::collections::VecDeque;

/// Above this many frames the longest wait is not searched for and nothing is computed frame by frame.
const COUNTABLE: u64 = 20_000_000;

/// What passes the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) offered: u64,
    pub(crate) admitted: u64,
    pub(crate) latency: Option<(u64, u64)>,
    /// Whether frames were lost behind the point where faults are injected.
    pub(crate) behind_faults: bool,
}

/// A stream that meets others, none of which lose anything ([`super::path::check_sharing`]).
pub(crate) fn all_pass(path: &Path, stream: &Offered) -> Result<Passed, NoClosedForm> {
    let Departures::Constant { load_bps, frames } = stream.departures else {
        return refuse("streams of varying load share a stage");
    };
    let gap = interval(stream.size, load_bps);
    match path.stages.iter().find(|stage| !stage.service.at_most(gap) || stage.queue < 16) {
        Some(stage) => refuse(format!("{} is a bottleneck of a stream that meets others", stage.name)),
        None => Ok(Passed {
            offered: frames,
            admitted: frames,
            latency: None,
            behind_faults: false,
        }),
    }
}

/// A stream by itself.
pub(crate) fn pass(path: &Path, stream: &Offered) -> Result<Passed, NoClosedForm> {
    match &stream.departures {
        Departures::Constant { load_bps, frames } => constant(path, interval(stream.size, *load_bps), *frames),
        Departures::At(at) => listed(path, at),
    }
}

fn constant(path: &Path, gap: Ratio, frames: u64) -> Result<Passed, NoClosedForm> {
    let transparent = |stage: &&Stage| stage.service.ceil() <= gap.floor();
    let Some(bottleneck) = path.stages.iter().position(|stage| !transparent(&stage)) else {
        let latency = path.fixed + path.stages.iter().map(|stage| stage.passage).sum::<u64>();
        return Ok(Passed {
            offered: frames,
            admitted: frames,
            latency: (frames > 0).then_some((latency, latency)),
            behind_faults: false,
        });
    };
    let stage = &path.stages[bottleneck];
    if !gap.below(stage.service) || stage.queue == 0 {
        if frames > COUNTABLE {
            return refuse(format!("the load is within a picosecond of {}, or its queue is 0", stage.name));
        }
        let at: Vec<u64> = (0..frames).map(|k| gap.times_floor(u128::from(k)) as u64).collect();
        return around(path, bottleneck, &at);
    }
    let known = check_behind(path, bottleneck)?;
    let (count, queue) = (u128::from(frames), u128::from(stage.queue));
    let admitted = match count.checked_sub(1) {
        None => 0,
        Some(last) => count.min(stage.service.fits(gap.times_floor(last)) + queue + 1),
    };
    Ok(Passed {
        offered: frames,
        admitted: admitted as u64,
        latency: if known {
            latency(path, bottleneck, gap, admitted as u64)
        } else {
            None
        },
        behind_faults: stage.behind_faults && admitted < count,
    })
}

/// Frames leave the bottleneck at least its service apart, then rounded to a picosecond. Stages behind it that take
/// no longer lose nothing (with a place to wait for a frame that was rounded up); whether they also never make
/// a frame wait, so that latency is known, is the answer.
fn check_behind(path: &Path, bottleneck: usize) -> Result<bool, NoClosedForm> {
    let stage = &path.stages[bottleneck];
    let behind = &path.stages[bottleneck + 1..];
    if let Some(second) = behind
        .iter()
        .find(|second| !second.service.at_most(stage.service) || second.queue < 2)
    {
        return refuse(format!("{} is a second bottleneck behind {}", second.name, stage.name));
    }
    Ok(behind.iter().all(|second| second.service.ceil() <= stage.service.floor()))
}

/// All of the way that does not depend on waiting at the bottleneck.
fn elsewhere(path: &Path, bottleneck: usize) -> u64 {
    let others = path.stages.iter().enumerate().filter(|(index, _)| *index != bottleneck);
    path.fixed + others.map(|(_, stage)| stage.passage).sum::<u64>()
}

/// When frame `n` of those admitted reaches the next stage, after the first arrival.
fn done(stage: &Stage, n: u128) -> u64 {
    if stage.line {
        stage.service.times_floor(n) as u64 + stage.passage
    } else {
        stage.service.times_ceil(n + 1) as u64
    }
}

fn latency(path: &Path, bottleneck: usize, gap: Ratio, admitted: u64) -> Option<(u64, u64)> {
    if admitted == 0 || admitted > COUNTABLE {
        return None;
    }
    let stage = &path.stages[bottleneck];
    let elsewhere = elsewhere(path, bottleneck);
    let of = |n: u64| {
        let wanted = u128::from(n.saturating_sub(stage.queue));
        let k = u128::from(n).max(gap.reaches(stage.service.times_ceil(wanted)));
        elsewhere + done(stage, u128::from(n)) - gap.times_floor(k) as u64
    };
    Some(
        (0..admitted)
            .map(of)
            .fold((u64::MAX, 0), |(least, most), latency| (least.min(latency), most.max(latency))),
    )
}

fn listed(path: &Path, at: &[u64]) -> Result<Passed, NoClosedForm> {
    if at.len() as u64 > COUNTABLE {
        return refuse(format!("{} departures given one by one; at most {COUNTABLE}", at.len()));
    }
    let spacing = at
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .min()
        .map_or(u128::MAX, u128::from);
    let last = path.stages.len() - 1;
    around(
        path,
        path.stages.iter().position(|stage| stage.service.ceil() > spacing).unwrap_or(last),
        at,
    )
}

/// Frame by frame through one stage, fixed times before and behind it.
fn around(path: &Path, bottleneck: usize, at: &[u64]) -> Result<Passed, NoClosedForm> {
    let stage = &path.stages[bottleneck];
    let known = check_behind(path, bottleneck)?;
    let (admitted, waits) = lindley(stage, at);
    let elsewhere = elsewhere(path, bottleneck);
    Ok(Passed {
        offered: at.len() as u64,
        admitted,
        latency: waits.filter(|_| known).map(|(least, most)| (least + elsewhere, most + elsewhere)),
        behind_faults: stage.behind_faults && admitted < at.len() as u64,
    })
}

/// The recursion behind the closed form: a frame begins when it arrives and the one before it is done
/// (D. V. Lindley 1952), and is dropped if it finds `queue` waiting. Counts what is admitted, and the least and
/// the longest time from arrival to the next stage.
fn lindley(stage: &Stage, at: &[u64]) -> (u64, Option<(u64, u64)>) {
    // Everything in units in which the service is whole: 1/under of a picosecond.
    let (service, unit) = stage.service.parts();
    let mut ends: VecDeque<u128> = VecDeque::new();
    let mut free = 0u128;
    let mut admitted = 0;
    let mut waits: Option<(u64, u64)> = None;
    for &arrival in at {
        let now = u128::from(arrival) * unit;
        while ends.front().is_some_and(|end| *end <= now) {
            ends.pop_front();
        }
        if ends.len() as u64 > stage.queue {
            continue;
        }
        let begin = free.max(now);
        free = begin + service;
        ends.push_back(free);
        admitted += 1;
        let out = if stage.line {
            (begin / unit) as u64 + stage.passage
        } else {
            free.div_ceil(unit) as u64
        };
        let wait = out - arrival;
        waits = Some(waits.map_or((wait, wait), |(least, most)| (least.min(wait), most.max(wait))));
    }
    (admitted, waits)
}
