//! From a trial's specification to what sends and receives it, with every mistake named.

use super::Hop;
use super::script::Script;
use super::worker::Worker;
use crate::error::SpecError;
use crate::host::{self, Host, same_vlans};
use crate::observe::{Ledger, Losses, MOST_GAPS, Observer};
use crate::receive::Signature;
use crate::receive::{Arrivals, Receiver};
use crate::send::Schedule;
use crate::send::deal;
use crate::send::{Lane, Sender};
use crate::spec::{Destination, StreamSpec, TesterPortSpec, TrialSpec, VlanSpec};
use netdyno_frame::parse::Tag;
use netdyno_frame::template::Template;
use netdyno_frame::{FCS_BYTES, mix};
use netdyno_io::port::{Port, PortInfo};
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// The most flows of a trial, all streams together: 16 bytes each are 2 GiB.
const MOST_FLOWS: u64 = 1 << 27;
/// The most frames of one flow: the probe counts them in 32 bits, and one that began again at 0 would pass
/// for a frame long gone.
const MOST_FRAMES: u64 = u32::MAX as u64;
/// The most streams one port sends.
const MOST_LANES: usize = 256;
/// The longest schedule or other phase: a month.
const LONGEST_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// The fastest a sender may catch up, percent of its load: far beyond what leaves a device's queue alone.
const MOST_CATCH_UP: u32 = 10_000;
/// The highest load, and the fastest line of bursts, bits per second: far above any port.
const HIGHEST_BPS: u64 = 10_000_000_000_000;
/// The most samples of a trial, 111 hours of 100 ms: what a store takes, and its readers.
const MOST_SAMPLES: u64 = 4_000_000;
/// The most addresses of one stream that bridges are taught.
const MOST_LEARNED: u32 = 65_536;
/// VLANs that a stream to a next hop may be on.
const MOST_VLANS: usize = 256;

/// What one worker sends, port by port, and what receives for it.
type Sides = (Vec<Sender>, Receiver);

/// What a trial is made of: per port a host, the sides of each worker, hops to resolve.
pub struct Parts {
    pub hosts: Vec<Host>,
    lead: Sides,
    others: Vec<Sides>,
    pub hops: Vec<Hop>,
    pub script: Script,
}

impl Parts {
    /// The longest schedule.
    pub fn duration_ps(&self) -> u64 {
        let lanes = self.lead.0.iter().flat_map(|sender| &sender.lanes);
        lanes.map(|lane| lane.schedule().duration_ps()).max().unwrap_or(0)
    }

    /// The workers, the lead apart, each on its queue of every port of `ports`; and what else the trial is made of.
    pub fn workers(self, ports: Vec<Vec<Box<dyn Port>>>) -> (Worker, Vec<Worker>, Vec<Host>, Vec<Hop>, Script) {
        let is_alone = self.others.is_empty();
        let mut queues: Vec<_> = ports.into_iter().map(Vec::into_iter).collect();
        let mut worker = |(senders, receiver)| {
            let own = queues.iter_mut().filter_map(Iterator::next).collect();
            Worker::new(own, senders, receiver, is_alone)
        };
        let lead = worker(self.lead);
        let others = self.others.into_iter().map(worker).collect();
        (lead, others, self.hosts, self.hops, self.script)
    }
}

/// Makes everything a trial of so many workers is made of.
pub fn trial(spec: &TrialSpec, infos: &[PortInfo], workers: usize) -> Result<Parts, SpecError> {
    let mut hosts = hosts(spec, infos.len())?;
    let (lead, others) = streams(spec, infos, &hosts, workers)?;
    samples(spec, &lead.0)?;
    let hops = hops(spec, &lead.0, &mut hosts)?;
    gateways(spec, &lead.0, &mut hosts)?;
    let script = Script::new(spec, infos, &mut hosts)?;
    Ok(Parts {
        hosts,
        lead,
        others,
        hops,
        script,
    })
}

/// The tester's ports as hosts.
fn hosts(spec: &TrialSpec, ports: usize) -> Result<Vec<Host>, SpecError> {
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
fn samples(spec: &TrialSpec, senders: &[Sender]) -> Result<(), SpecError> {
    let lanes = senders.iter().flat_map(|sender| &sender.lanes);
    let longest_ns = lanes.map(|lane| lane.schedule().duration_ps().div_ceil(1000)).max().unwrap_or(0);
    let count = (longest_ns + spec.drain_ns).div_ceil(spec.sample_ns);
    if count > MOST_SAMPLES {
        let why = format!("{count} samples, at most {MOST_SAMPLES} are kept");
        return Err(SpecError::new("sample_ns", why, "ask for longer samples or a shorter trial"));
    }
    Ok(())
}

/// The sides of each worker, the lead's apart.
fn streams(spec: &TrialSpec, infos: &[PortInfo], hosts: &[Host], workers: usize) -> Result<(Sides, Vec<Sides>), SpecError> {
    let flows: u64 = spec.streams.iter().map(|stream| u64::from(stream.flows)).sum();
    // Each worker remembers all of them: any may come to its queue.
    let most = MOST_FLOWS / workers as u64;
    if flows > most {
        let (by, hint) = match workers {
            1 => (String::new(), "ask for fewer flows"),
            _ => (format!(" by {workers} workers"), "ask for fewer flows or fewer workers"),
        };
        let why = format!("{flows} flows in all, at most {most} are told apart{by}");
        return Err(SpecError::new("streams", why, hint));
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
        let schedule = Schedule::new(&stream.schedule, &stream.sizes, &order);
        let schedule = in_bursts(stream, schedule, &infos[stream.tx_port], &spec.ports[stream.tx_port]).map_err(|mut error| {
            error.place = format!("{place}: {}", error.place);
            error
        })?;
        let longest = schedule.frames().div_ceil(u64::from(stream.flows));
        if longest > MOST_FRAMES {
            let why = format!("{longest} frames in each flow, and a probe tells {MOST_FRAMES} apart");
            return Err(SpecError::new(place, why, "ask for more flows, a lower load or a shorter trial"));
        }
        let signature = Signature::new(&template, sizes.len());
        let observer = observer(spec, first_flow, stream.flows);
        first_flow += stream.flows;
        for (worker, share) in deal(stream.flows, schedule.frames(), &mut loads).into_iter().enumerate() {
            arrivals[worker].push(Arrivals::new(stream.rx_port, first_flow, signature.clone(), observer()));
            let (template, schedule) = (template.clone(), schedule.clone());
            lanes[worker][stream.tx_port].push(Lane::new(index, template, schedule, &sizes, share, &infos[stream.tx_port]));
        }
    }
    if let Some(port) = lanes[0].iter().position(|lanes| lanes.len() > MOST_LANES) {
        let why = format!("{} streams are sent by it, at most {MOST_LANES} can be", lanes[0][port].len());
        return Err(SpecError::new(format!("ports[{port}]"), why, "vary a field over flows instead"));
    }
    let mut sides = lanes.into_iter().zip(arrivals).map(|(lanes, arrivals)| {
        let sender = |((lanes, info), port): ((_, _), &TesterPortSpec)| Sender::new(lanes, info, spec.catch_up_percent, port.line_bps);
        let senders = lanes.into_iter().zip(infos).zip(&spec.ports).map(sender).collect();
        (senders, Receiver::new(arrivals, infos.len(), spec.verify))
    });
    let lead = sides.next().expect("there is at least one worker");
    Ok((lead, sides.collect()))
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

/// The schedule in the bursts that the stream asks for, sent by a port of kind `info`.
fn in_bursts(stream: &StreamSpec, schedule: Schedule, info: &PortInfo, port: &TesterPortSpec) -> Result<Schedule, SpecError> {
    if stream.burst == 0 {
        return Err(SpecError::new("burst", "a burst of no frames", "1 sends frames one by one"));
    }
    if stream.burst == 1 {
        return Ok(schedule);
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
    // By the clock a line that is there spaces frames more exactly than we can, if it has all of them at once.
    Ok(match !info.exact_time && info.rate_bps > 0 {
        true => schedule.in_bursts_at_once(stream.burst, line_bps),
        false => schedule.in_bursts(stream.burst, line_bps),
    })
}

/// The seed of stream `index` of a trial: each stream draws numbers of its own.
#[must_use]
pub fn stream_seed(seed: u64, index: usize) -> u64 {
    seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The order of sizes and the template of one stream.
fn template(
    spec: &TrialSpec,
    stream: &StreamSpec,
    index: usize,
    infos: &[PortInfo],
    hosts: &[Host],
    first_flow: u32,
) -> Result<(Vec<u8>, Template), SpecError> {
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
        let why = format!("{} sizes, none of which has a weight, or more than 256", sizes.len());
        return Err(SpecError::new("sizes", why, "give at least one size a weight of 1"));
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
    let mut template =
        Template::new(&stream.headers, &sizes, stream.flows, seed).map_err(|error| SpecError::new("", error.to_string(), error.hint))?;
    template.set_first_flow(first_flow);
    if stream.destination == Destination::Peer {
        template.set_destination(hosts[stream.rx_port].mac());
    }
    Ok((order, template))
}

/// The next hops to resolve; tells the hosts to ask for them.
fn hops(spec: &TrialSpec, senders: &[Sender], hosts: &mut [Host]) -> Result<Vec<Hop>, SpecError> {
    let mut hops = Vec::new();
    for (port, sender) in senders.iter().enumerate() {
        for (number, lane) in sender.lanes.iter().enumerate() {
            let stream = &spec.streams[lane.stream];
            let Destination::Gateway(text) = &stream.destination else {
                continue;
            };
            let place = || format!("streams[{}] ({}): destination", lane.stream, stream.name);
            let address: IpAddr = text
                .parse()
                .map_err(|_| SpecError::new(place(), format!("`{text}` is not an IP address"), ""))?;
            for tags in vlans(lane).map_err(|why| {
                let hint = "fewer VLANs a stream, or write the MAC address";
                SpecError::new(place(), why, hint)
            })? {
                let address = next_hop_on(&spec.ports[port], &tags)?.unwrap_or(address);
                hosts[port].want(&tags, address).map_err(|why| {
                    let hint = format!("give ports[{port}] an address in the network of the next hop, or write the MAC address");
                    SpecError::new(place(), why, hint)
                })?;
                hops.push(Hop {
                    port,
                    lane: number,
                    tags,
                    address,
                });
            }
        }
    }
    Ok(hops)
}

/// The VLANs that the flows of a stream are on: the tags of a flow of each.
fn vlans(lane: &Lane) -> Result<Vec<Vec<Tag>>, String> {
    let found = lane.template.vlans(MOST_VLANS);
    found.ok_or_else(|| format!("its flows are on more than {MOST_VLANS} VLANs, on each of which its next hop is asked for"))
}

/// The next hop that a port has of its own on a VLAN.
fn next_hop_on(port: &TesterPortSpec, tags: &[Tag]) -> Result<Option<IpAddr>, SpecError> {
    let on = |vlan: &&VlanSpec| {
        let its: Result<Vec<_>, _> = vlan.tags.iter().map(host::tag).collect();
        its.is_ok_and(|its| same_vlans(&its, tags))
    };
    let text = port.vlans.iter().find(on).and_then(|vlan| vlan.gateway.as_deref());
    text.map(gateway)
        .transpose()
        .map_err(|why| SpecError::new("ports: vlans: gateway", why, ""))
}

fn gateway(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is not an IP address"))
}

/// Tells the hosts to ask for their gateways, where no stream does so already.
fn gateways(spec: &TrialSpec, senders: &[Sender], hosts: &mut [Host]) -> Result<(), SpecError> {
    for (port, host) in hosts.iter_mut().enumerate() {
        for (number, vlan) in spec.ports[port].vlans.iter().enumerate() {
            let Some(text) = &vlan.gateway else { continue };
            let place = || format!("ports[{port}]: vlans[{number}]: gateway");
            let tags: Result<Vec<_>, _> = vlan.tags.iter().map(host::tag).collect();
            let wanted = tags.and_then(|tags| host.want(&tags, gateway(text)?));
            wanted.map_err(|why| SpecError::new(place(), why, ""))?;
        }
        let Some(text) = &spec.ports[port].gateway else { continue };
        let place = || format!("ports[{port}]: gateway");
        let address = gateway(text).map_err(|why| SpecError::new(place(), why, ""))?;
        if host.unanswered().any(|wanted| wanted == address) {
            continue;
        }
        let lanes = senders.iter().flat_map(|sender| &sender.lanes);
        let received = lanes.filter(|lane| spec.streams[lane.stream].rx_port == port);
        let on = match received.min_by_key(|lane| lane.stream) {
            Some(lane) => vlans(lane).map_err(|why| SpecError::new(place(), why, ""))?,
            None => vec![Vec::new()],
        };
        for tags in on {
            let address = next_hop_on(&spec.ports[port], &tags)?.unwrap_or(address);
            host.want(&tags, address).map_err(|why| {
                let hint = "give the port an address in the network of its gateway, or leave the gateway out";
                SpecError::new(place(), why, hint)
            })?;
        }
    }
    Ok(())
}

/// Per port, the frames by which bridges learn where each stream's destination is.
pub fn learning_frames(spec: &TrialSpec, senders: &[Sender], hosts: &[Host]) -> Vec<Vec<Vec<u8>>> {
    let mut known = HashSet::new();
    let mut frames: Vec<Vec<Vec<u8>>> = hosts.iter().map(|_| Vec::new()).collect();
    for (port, lane) in senders
        .iter()
        .enumerate()
        .flat_map(|(port, sender)| sender.lanes.iter().map(move |lane| (port, lane)))
    {
        let stream = &spec.streams[lane.stream];
        let (to, peer) = (stream.rx_port, hosts[port].mac());
        let found = match stream.destination {
            // Behind a router frames come to the port's own address.
            Destination::Gateway(_) => vec![(hosts[to].mac(), Vec::new())],
            _ => lane.template.destinations(MOST_LEARNED).collect(),
        };
        for (mac, tags) in found {
            // A group address is nobody's source.
            if mac.0[0] & 1 == 0 && known.insert((to, mac, tags.clone())) {
                frames[to].push(hosts[to].learning_frame(mac, &tags, peer));
            }
        }
    }
    frames
}
