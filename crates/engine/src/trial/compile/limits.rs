//! What is checked of a trial as a whole before anything is made of it.

use crate::error::SpecError;
use crate::host::Host;
use crate::observe::{MOST_COUNTED, MOST_GAPS};
use crate::send::Sender;
use crate::spec::TrialSpec;

/// The longest schedule or other phase: a month.
pub const LONGEST_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// The fastest a sender may catch up, percent of its load: far beyond what leaves a device's queue alone.
const MOST_CATCH_UP: u32 = 10_000;
/// The highest load, and the fastest line of bursts, bits per second: far above any port.
pub const HIGHEST_BPS: u64 = 10_000_000_000_000;
/// The most samples of a trial, 111 hours of 100 ms: what a store takes, and its readers.
const MOST_SAMPLES: u64 = 4_000_000;

/// The tester's ports as hosts.
pub fn hosts(spec: &TrialSpec, ports: usize) -> Result<Vec<Host>, SpecError> {
    if spec.ports.len() != ports {
        let why = format!("{} ports, but the session has {ports}", spec.ports.len());
        return Err(SpecError::new("ports", why, "describe each port of the session once, in its order"));
    }
    if spec.sample_ns == 0 {
        return Err(SpecError::new("sample_ns", "a sample of no length", "100000000 is 100 ms"));
    }
    for (name, length) in [
        ("resolve_ns", spec.resolve_ns),
        ("settle_ns", spec.settle_ns),
        ("drain_ns", spec.drain_ns),
        ("poll_ns", spec.poll_ns),
        ("overtime_ns", spec.overtime_ns),
        ("observe.timed_from_ns", spec.observe.timed_from_ns),
    ] {
        if length > LONGEST_NS {
            return Err(SpecError::new(name, "more than 31 days", "durations are nanoseconds"));
        }
    }
    if !(100..=MOST_CATCH_UP).contains(&spec.catch_up_percent) {
        return Err(SpecError::new(
            "catch_up_percent",
            format!("{} % of the intended rate", spec.catch_up_percent),
            format!("100 is not faster than intended, 200 is twice as fast, {MOST_CATCH_UP} the most"),
        ));
    }
    if spec.observe.gaps > MOST_GAPS {
        let why = format!("{} gaps of each stream", spec.observe.gaps);
        let hint = format!("{MOST_GAPS} is the most; what is beyond is counted all the same");
        return Err(SpecError::new("observe.gaps", why, hint));
    }
    let flows: u64 = spec.streams.iter().map(|stream| u64::from(stream.flows)).sum();
    if spec.observe.by_flow && flows > MOST_COUNTED {
        let why = format!("{flows} flows in all, at most {MOST_COUNTED} are counted one by one");
        return Err(SpecError::new(
            "observe.by_flow",
            why,
            "ask for fewer flows, or not for the counts of each",
        ));
    }
    if let Some(index) = (0..ports).find(|&index| spec.head(index) > index || spec.head(spec.head(index)) != spec.head(index)) {
        let hint = "the index of the first member, which comes before the others";
        return Err(SpecError::new(format!("ports[{index}]: lag"), "no first member of a LAG", hint));
    }
    for (index, port) in spec.ports.iter().enumerate() {
        if port.line_bps > HIGHEST_BPS {
            let place = format!("ports[{index}].line_bps");
            return Err(SpecError::new(place, "a line of over 10 Tbit/s", "lines are bits per second"));
        }
    }
    let host = |(index, port)| Host::new(port, spec.poll_ns * 1000).map_err(|why| SpecError::new(format!("ports[{index}]"), why, ""));
    spec.ports.iter().enumerate().map(host).collect()
}

/// Refuses a trial whose series would not fit: one count a sample of the longest schedule and of the drain.
pub fn samples(spec: &TrialSpec, senders: &[Sender]) -> Result<(), SpecError> {
    let lanes = senders.iter().flat_map(|sender| &sender.lanes);
    let longest_ns = lanes.map(|lane| lane.schedule().duration_ps().div_ceil(1000)).max().unwrap_or(0);
    let count = (longest_ns + spec.drain_ns).div_ceil(spec.sample_ns);
    if count > MOST_SAMPLES {
        let why = format!("{count} samples, at most {MOST_SAMPLES} are kept");
        return Err(SpecError::new("sample_ns", why, "ask for longer samples or a shorter trial"));
    }
    Ok(())
}
