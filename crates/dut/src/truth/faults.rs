//! What injected faults make of a stream: how many frames they hit, and what a tester sees of it.
//!
//! Faults meet the frames that leave the switching point, counted from 0. That a count is known takes a stream
//! that is alone on its egress port, and one fault; the rest is refused.

use super::single::Passed;
use super::stream::{Expected, NoClosedForm, Offered, refuse};
use crate::spec::{DeviceSpec, Fault, Impairment, When};

pub(crate) fn apply(spec: &DeviceSpec, streams: &[Offered], index: usize, passed: Passed) -> Result<Expected, NoClosedForm> {
    let out = streams[index].out_port;
    let plain = Expected {
        offered: passed.offered,
        received: passed.admitted,
        lost: passed.offered - passed.admitted,
        duplicates: 0,
        out_of_order: 0,
        corrupted: 0,
        latency_min_ps: passed.latency.map(|(least, _)| least),
        latency_max_ps: passed.latency.map(|(_, most)| most),
    };
    let ours: Vec<&Impairment> = spec
        .impairments
        .iter()
        .filter(|impairment| impairment.port.is_none_or(|port| port == out))
        .collect();
    let impairment = match ours[..] {
        [] => return Ok(plain),
        [only] => only,
        _ => return refuse(format!("several faults on port `{}`", spec.ports[out].name)),
    };
    if streams.iter().filter(|stream| stream.out_port == out).count() > 1 {
        return refuse(format!("several streams leave by `{}`, which injects faults", spec.ports[out].name));
    }
    if passed.behind_faults {
        return refuse("frames are lost behind the point where faults are injected");
    }
    let frames = passed.admitted;
    let hits = hits(&impairment.when, frames)?;
    let hit = hits.len() as u64;
    Ok(match impairment.fault {
        Fault::Lose => Expected {
            received: plain.received - hit,
            lost: plain.lost + hit,
            ..times_unknown(plain, hit)
        },
        Fault::Corrupt => Expected {
            received: plain.received - hit,
            corrupted: hit,
            ..times_unknown(plain, hit)
        },
        Fault::Duplicate => {
            // Each copy takes the line once more: all of them fit into its queue at worst.
            if hit >= u64::from(spec.ports[out].out_queue) || spec.ports[out].both_fps.is_some() {
                return refuse(format!("{hit} copies may not fit the queue of `{}`", spec.ports[out].name));
            }
            Expected {
                duplicates: hit,
                ..times_unknown(plain, hit)
            }
        }
        Fault::Reorder { by } => reorder(spec, out, &streams[index], &hits, by, times_unknown(plain, hit))?,
        Fault::Stall { .. } => return refuse("what a stalled line loses depends on all that waits for it"),
        Fault::Hold { .. } => return refuse("how many frames overtake one that is held depends on their times"),
    })
}

/// A fault may meet just the frame with the least or the longest time.
fn times_unknown(plain: Expected, hit: u64) -> Expected {
    if hit == 0 {
        return plain;
    }
    Expected {
        latency_min_ps: None,
        latency_max_ps: None,
        ..plain
    }
}

fn reorder(spec: &DeviceSpec, out: usize, stream: &Offered, hits: &[u64], by: u32, plain: Expected) -> Result<Expected, NoClosedForm> {
    if stream.flow.is_none() {
        return refuse("which flows meet in a reordering of many is not known");
    }
    let port = &spec.ports[out];
    // Held frames come together with the one that released them.
    if by == 0 || port.both_fps.is_some() || hits.len() as u64 >= u64::from(port.out_queue) {
        return refuse("held frames may not fit the queue when they are released");
    }
    let far_apart = hits.windows(2).all(|pair| pair[1] - pair[0] > u64::from(by));
    let all_released = hits.last().is_none_or(|last| last + u64::from(by) < plain.received);
    if !far_apart || !all_released {
        return refuse("held frames overlap, or are let go by time");
    }
    Ok(Expected {
        out_of_order: hits.len() as u64,
        ..plain
    })
}

/// Which of the first `frames` frames are hit, in order.
fn hits(when: &When, frames: u64) -> Result<Vec<u64>, NoClosedForm> {
    const MOST: u64 = 20_000_000;
    if frames > MOST {
        return refuse(format!("{frames} frames with faults; at most {MOST} are counted"));
    }
    Ok(match when {
        When::Window { .. } | When::Period { .. } | When::AfterIdle { .. } => return refuse("faults that come by time"),
        When::Every { every, first } => (*first..frames).step_by((*every).max(1) as usize).collect(),
        When::Frames(list) => {
            let mut list: Vec<u64> = list.iter().copied().filter(|frame| *frame < frames).collect();
            list.sort_unstable();
            list.dedup();
            list
        }
        When::Chance { parts, of, seed } => {
            let mut state = *seed;
            (0..frames)
                .filter(|_| (u128::from(split_mix(&mut state)) * u128::from(*of)) >> 64 < u128::from(*parts))
                .collect()
        }
    })
}

/// SplitMix64 as published (Vigna, splitmix64.c, public domain), one draw a frame.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
