//! What each worker sends and receives of each stream.

use super::limits::{HIGHEST_BPS, LONGEST_NS};
use crate::error::SpecError;
use crate::host::Host;
use crate::observe::{Flows, Ledger, Losses, Observer};
use crate::receive::{Arrivals, Receiver, Signature};
use crate::send::{Lane, Schedule, Sender, deal};
use crate::spec::{ArrivalSpec, Destination, StreamSpec, TesterPortSpec, TrialSpec, WaveSpec};
use netdyno_frame::chance::draw;
use netdyno_frame::template::Template;
use netdyno_frame::tuple::FourTuple;
use netdyno_frame::{FCS_BYTES, FrameError, mix};
use netdyno_io::port::PortInfo;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

/// The most frames of one flow: the probe counts them in 32 bits, and one that began again at 0 would pass
/// for a frame long gone.
const MOST_FRAMES: u64 = u32::MAX as u64;
/// Of a load that goes up and down.
const PERIODS_NS: RangeInclusive<u64> = 1_000..=3_600_000_000_000;
/// The most streams one port sends.
const MOST_LANES: usize = 16_384;

/// What one worker sends, port by port, and what receives for it.
pub type Sides = (Vec<Sender>, Receiver);

/// The sides of each worker, the lead's apart.
pub fn streams(spec: &TrialSpec, infos: &[PortInfo], hosts: &[Host], workers: usize) -> Result<(Sides, Vec<Sides>), SpecError> {
    let flows: u64 = spec.streams.iter().map(|stream| u64::from(stream.flows)).sum();
    let most = Flows::most(workers);
    if flows > most as u64 {
        let why = format!("{flows} flows in all, at most {most} can be told apart");
        return Err(SpecError::new("streams", why, "ask for fewer flows"));
    }
    let mut lanes: Vec<Vec<Vec<Lane>>> = (0..workers).map(|_| infos.iter().map(|_| Vec::new()).collect()).collect();
    let mut arrivals: Vec<Vec<Arrivals>> = (0..workers).map(|_| Vec::new()).collect();
    let mut loads = vec![0; workers];
    let mut first_flow = 0;
    for (index, stream) in spec.streams.iter().enumerate() {
        let place = format!("streams[{index}] ({})", stream.name);
        let (order, template) = template(spec, stream, index, infos, hosts, first_flow).map_err(|mut error| {
            error.place = if error.place.is_empty() {
                place.clone()
            } else {
                format!("{place}: {}", error.place)
            };
            error
        })?;
        let sizes: Vec<u32> = stream.sizes.iter().map(|size| size.size).collect();
        let (info, port) = (&infos[stream.tx_port], &spec.ports[stream.tx_port]);
        let schedule = schedule(stream, &order, stream_seed(spec.seed, index));
        let schedule = schedule
            .and_then(|schedule| in_bursts(stream, schedule, info, port))
            .map_err(|mut error| {
                error.place = format!("{place}: {}", error.place);
                error
            })?;
        let longest = schedule.frames().div_ceil(u64::from(stream.flows));
        if longest > MOST_FRAMES && stream.probe {
            let why = format!("{longest} frames in each flow, and a probe tells {MOST_FRAMES} apart");
            return Err(SpecError::new(place, why, "ask for more flows, a lower load or a shorter trial"));
        }
        let signature = Signature::new(&template, sizes.len());
        if !stream.probe && !signature.is_distinct {
            let why = "no probe, and too few header bytes are the same in all its frames";
            return Err(SpecError::new(place, why, OWN_HEADERS));
        }
        let observer = observer(spec, first_flow, stream.flows);
        first_flow += stream.flows;
        for (worker, share) in deal(stream.flows, schedule.frames(), &mut loads).into_iter().enumerate() {
            let mut found = Arrivals::new(stream.rx_port, first_flow, signature.clone(), observer());
            (found.is_bare, found.checked) = (!stream.probe, template.checked());
            found.returns = spec.home_of(stream.tx_port) == spec.home_of(stream.rx_port);
            arrivals[worker].push(found);
            let (template, schedule) = (template.clone(), schedule.clone());
            let mut lane = Lane::new(
                index,
                template,
                schedule,
                &sizes,
                share.filter(|_| !port.remote),
                &infos[stream.tx_port],
            );
            lane.is_remote = port.remote;
            lanes[worker][stream.tx_port].push(lane);
        }
    }
    if let Some(port) = lanes[0].iter().position(|lanes| lanes.len() > MOST_LANES) {
        let why = format!("{} streams are sent by it, at most {MOST_LANES} can be", lanes[0][port].len());
        return Err(SpecError::new(format!("ports[{port}]"), why, "vary a field over flows instead"));
    }
    tell_bare_apart(spec, &mut arrivals)?;
    let homes: Vec<usize> = (0..infos.len()).map(|port| spec.home_of(port)).collect();
    let flows = Flows::of_each(first_flow as usize, workers);
    let mut sides = lanes
        .into_iter()
        .zip(arrivals.into_iter().zip(flows))
        .map(|(lanes, (arrivals, flows))| {
            let sender = |((lanes, info), port): ((_, _), &TesterPortSpec)| Sender::new(lanes, info, spec.catch_up_percent, port.line_bps);
            let senders = lanes.into_iter().zip(infos).zip(&spec.ports).map(sender).collect();
            (senders, Receiver::new(arrivals, flows, &homes, spec.verify))
        });
    let lead = sides.next().expect("there is at least one worker");
    Ok((lead, sides.collect()))
}

const OWN_HEADERS: &str = "a port or address of its own that is the same in all its frames, or frames with a probe";

/// Lets streams without a probe be told apart where they arrive: by what devices rewrite (DSCP) where nothing else differs.
fn tell_bare_apart(spec: &TrialSpec, arrivals: &mut [Vec<Arrivals>]) -> Result<(), SpecError> {
    let bare = |index: &usize| !spec.streams[*index].probe;
    for index in (0..spec.streams.len()).filter(bare) {
        for before in (0..index).filter(bare) {
            let pair = [before, index];
            let [one, other] = pair.map(|stream| spec.home_of(spec.streams[stream].rx_port));
            if one != other || !are_alike(&arrivals[0], pair) {
                continue;
            }
            for arrivals in &mut *arrivals {
                for stream in pair {
                    arrivals[stream].signature.look_at_marks();
                }
            }
            if are_alike(&arrivals[0], pair) {
                let [other, name] = pair.map(|stream| &spec.streams[stream].name);
                let why = format!("no probe, and where it arrives its frames look like those of `{other}`");
                return Err(SpecError::new(format!("streams[{index}] ({name})"), why, OWN_HEADERS));
            }
        }
    }
    Ok(())
}

fn are_alike(arrivals: &[Arrivals], [one, other]: [usize; 2]) -> bool {
    arrivals[one].signature.is_like(&arrivals[other].signature)
}

/// Makes what observes a stream for each of its workers, if anything is to be observed.
fn observer(spec: &TrialSpec, first_flow: u32, flows: u32) -> impl Fn() -> Option<Observer> {
    let (asked, streams) = (&spec.observe, spec.streams.len());
    let losses = (asked.gaps > 0).then(|| Losses::new(asked.gaps, asked.bridge));
    let ledger = losses.map(|losses| Arc::new(Mutex::new(Ledger::new(streams, losses))));
    move || {
        asked
            .is_any()
            .then(|| Observer::new(asked, streams, first_flow, flows, ledger.as_ref()))
    }
}

/// The schedule of a stream whose frames take their sizes in `order`, arriving as it asks.
fn schedule(stream: &StreamSpec, order: &[u16], seed: u64) -> Result<Schedule, SpecError> {
    let refused = |why: String, hint: &str| Err(SpecError::new("arrival", why, hint.to_owned()));
    if let ArrivalSpec::Wave(WaveSpec { period_ns, depth_ppm, .. }) = stream.arrival {
        let longest = stream.schedule.iter().map(|segment| segment.duration_ns).max().unwrap_or(0);
        if (1..period_ns).contains(&longest) {
            let why = format!("a period of {period_ns} ns does not fit into the traffic of a trial, {longest} ns");
            return refused(why, "a shorter `period`, or longer trials");
        }
        if !PERIODS_NS.contains(&period_ns) {
            return refused(format!("a period of {period_ns} ns"), "from 1 us to 1 h");
        }
        if depth_ppm > 1_000_000 {
            return refused(
                format!("a depth of {depth_ppm} ppm"),
                "1,000,000 is all of the load, and as much again",
            );
        }
    }
    Ok(Schedule::new(&stream.schedule, &stream.sizes, order).arriving(&stream.arrival, draw(seed, 0)))
}

/// The schedule in the bursts that the stream asks for, sent by a port of kind `info`.
fn in_bursts(stream: &StreamSpec, schedule: Schedule, info: &PortInfo, port: &TesterPortSpec) -> Result<Schedule, SpecError> {
    if stream.burst == 0 {
        return Err(SpecError::new("burst", "a burst of no frames", "1 sends frames one by one"));
    }
    if stream.burst == 1 {
        return Ok(schedule);
    }
    if stream.arrival != ArrivalSpec::Constant {
        let why = "bursts whose frames do not arrive evenly";
        return Err(SpecError::new("burst", why, "leave out one of `burst` and `arrival`"));
    }
    let line_bps = if info.rate_bps > 0 { info.rate_bps } else { port.line_bps };
    if line_bps == 0 {
        let why = format!(
            "frames of a burst leave at line rate, and the rate of port `{}` is not known",
            info.name
        );
        return Err(SpecError::new("burst", why, format!("say ports[{}].line_bps", stream.tx_port)));
    }
    if line_bps > HIGHEST_BPS {
        let why = format!("the line of port `{}` is of {line_bps} bit/s, which is over 10 Tbit/s", info.name);
        return Err(SpecError::new(
            "burst",
            why,
            "send without bursts, or say what the line really carries",
        ));
    }
    if schedule.highest_bps() > line_bps {
        let why = format!("a load of {} bit/s on a line of {line_bps}", schedule.highest_bps());
        return Err(SpecError::new("burst", why, "send less, or without bursts"));
    }
    // In real time a line that is there spaces frames more exactly than we can, if it has all of them at once.
    Ok(match !info.has_exact_time() && info.rate_bps > 0 {
        true => schedule.in_bursts_at_once(stream.burst, line_bps),
        false => schedule.in_bursts(stream.burst, line_bps),
    })
}

/// The seed of stream `index` of a trial: each stream draws numbers of its own.
#[must_use]
pub fn stream_seed(seed: u64, index: usize) -> u64 {
    seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The frames of a stream whose fields draw by `seed`.
pub fn frames(stream: &StreamSpec, seed: u64) -> Result<Template, FrameError> {
    let sizes: Vec<u32> = stream.sizes.iter().map(|size| size.size).collect();
    let mut template = Template::of(stream.content(), &sizes, stream.flows, seed)?;
    if !stream.pick.is_empty() {
        template.pick(&stream.pick);
    }
    Ok(template)
}

/// The order of sizes and the template of one stream.
fn template(
    spec: &TrialSpec,
    stream: &StreamSpec,
    index: usize,
    infos: &[PortInfo],
    hosts: &[Host],
    first_flow: u32,
) -> Result<(Vec<u16>, Template), SpecError> {
    for (what, port) in [("tx_port", stream.tx_port), ("rx_port", stream.rx_port)] {
        if port >= infos.len() {
            let why = format!("there is no port {port}; ports are numbered 0 to {}", infos.len().saturating_sub(1));
            return Err(SpecError::new(what, why, ""));
        }
    }
    if stream.flows == 0 {
        return Err(SpecError::new("flows", "no flows", "1 is the least"));
    }
    let sizes: Vec<u32> = stream.sizes.iter().map(|size| size.size).collect();
    let weights: Vec<u32> = stream.sizes.iter().map(|size| size.weight).collect();
    let order = mix::order(&weights);
    if order.is_empty() {
        let (most, cycle) = (mix::MOST_SIZES, mix::LONGEST_CYCLE);
        let why = format!(
            "{} sizes, none of which has a weight, or more than {most}, or of a cycle of too many frames",
            sizes.len()
        );
        return Err(SpecError::new(
            "sizes",
            why,
            format!("give at least one size a weight of 1, and {cycle} in all at most"),
        ));
    }
    let tx = &infos[stream.tx_port];
    if let Some(size) = sizes.iter().find(|&&size| size > tx.max_frame + FCS_BYTES) {
        let why = format!(
            "frames of {size} bytes do not fit port `{}`, which sends up to {}",
            tx.name,
            tx.max_frame + FCS_BYTES
        );
        return Err(SpecError::new("sizes", why, "raise the port's MTU or send smaller frames"));
    }
    let mut length: u64 = 0;
    for (number, segment) in stream.schedule.iter().enumerate() {
        length = length.saturating_add(segment.duration_ns);
        if segment.from_bps.max(segment.to_bps) > HIGHEST_BPS || length > LONGEST_NS {
            let place = format!("schedule[{number}] ({})", segment.name);
            let why = "a load over 10 Tbit/s or a schedule of more than 31 days";
            return Err(SpecError::new(place, why, "loads are bits per second, durations nanoseconds"));
        }
    }
    let seed = stream_seed(spec.seed, index);
    if !stream.pick.is_empty() && stream.pick.len() != stream.flows as usize {
        let why = format!("{} flows are picked for {}", stream.pick.len(), stream.flows);
        return Err(SpecError::new("pick", why, "one for each flow"));
    }
    let refused = |error: FrameError| SpecError::new("", error.to_string(), error.hint);
    let mut template = frames(stream, seed).map_err(refused)?;
    template.set_first_flow(first_flow);
    if let Some(of) = stream.answers {
        // Of a device that translates nothing.
        let asked = &spec.streams[of];
        let asked = frames(asked, stream_seed(spec.seed, of)).map_err(refused)?;
        template.set_tuples(&asked.tuples().map(FourTuple::reversed).collect::<Vec<_>>());
    }
    if stream.destination == Destination::Peer {
        template.set_destination(hosts[stream.rx_port].mac());
    }
    Ok((order, template))
}
