//! The stages a stream passes, in order, as the specification names them.

use super::ratio::{Ratio, SECOND};
use super::stream::{Departures, NoClosedForm, Offered, interval, refuse};
use crate::spec::{BitRate, DeviceSpec, Forwarding, FrameRate, Layer};

/// One stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// What it is, and of which port and member: equal names are the same server.
    pub(crate) name: String,
    /// Time a frame holds it.
    pub(crate) service: Ratio,
    /// Frames that wait.
    pub(crate) queue: u64,
    /// Time from the begin of service to the next stage: the service rounded up, a line's serialization up to the
    /// last bit, or nothing for the egress line, whose serialization is that of the wire.
    pub(crate) passage: u64,
    /// A line stamps what leaves it by its begin, a server by its end.
    pub(crate) line: bool,
    /// Whether faults come before it.
    pub(crate) behind_faults: bool,
}

/// A stream's way through the device.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) stages: Vec<Stage>,
    /// Both wires and the delay.
    pub(crate) fixed: u64,
}

impl Path {
    pub(crate) fn of(spec: &DeviceSpec, stream: &Offered) -> Result<Self, NoClosedForm> {
        check_way(spec, stream)?;
        let (input, output) = (&spec.ports[stream.in_port], &spec.ports[stream.out_port]);
        if input.police.is_some() {
            return refuse(format!("a policer on port `{}`", input.name));
        }
        if !input.filter.is_empty() || input.group_ns > 0 {
            return refuse(format!("a packet filter, or frames that take longer, on port `{}`", input.name));
        }
        if input.recovery.is_some() {
            return refuse(format!("port `{}` has to recover from overloads", input.name));
        }
        if !input.police_classes.is_empty() || !output.classes.is_empty() || output.shape.is_some() {
            return refuse(format!("classes or a shaper between `{}` and `{}`", input.name, output.name));
        }
        if !input.vlans.is_empty() || !output.vlans.is_empty() {
            return refuse(format!("VLAN subinterfaces on `{}` or `{}`", input.name, output.name));
        }
        if spec.head_of_line {
            return refuse("inputs that hold frames back");
        }
        if spec.box_haste.is_some() {
            return refuse("a box that makes haste");
        }
        let size = u64::from(stream.size);
        let members = |port: &crate::spec::DevicePortSpec| u64::from(port.members);
        // Preamble and SFD are sent before the frame, the gap behind it: the last bit is in after size + 8 bytes.
        let wire_in = exact(size + 8, input.rate_bps * members(input))?;
        let wire_out = exact(size + 8, output.rate_bps * members(output))?;
        let (in_member, out_member) = stream.flow.as_ref().map_or((0, 0), |flow| (flow.in_member, flow.out_member));
        let mut stages = Vec::new();
        let mut put = |name: String, service: Option<Ratio>, queue: u32, behind_faults: bool| {
            if let Some(service) = service {
                stages.push(Stage {
                    name,
                    service,
                    queue: u64::from(queue),
                    passage: service.ceil() as u64,
                    line: false,
                    behind_faults,
                });
            }
        };
        let queue = input.in_queue;
        put(format!("in_fps of {}/{in_member}", input.name), a_frame(input.in_fps), queue, false);
        put(
            format!("both_fps of {}/{in_member}", input.name),
            a_frame(input.both_fps),
            queue,
            false,
        );
        if let Some((index, card)) = (0..).zip(&spec.cards).find(|(_, card)| card.ports.contains(&stream.in_port)) {
            put(format!("in_fps of card {index}"), a_frame(card.in_fps), card.in_queue, false);
            put(
                format!("in_bits of card {index}"),
                its_bits(card.in_bits, size),
                card.in_queue,
                false,
            );
        }
        put("box_fps".to_owned(), a_frame(spec.box_fps), spec.box_queue, false);
        put("box_bits".to_owned(), its_bits(spec.box_bits, size), spec.box_queue, false);
        if let Some(trunk) = &spec.trunk
            && trunk.near.contains(&stream.in_port) != trunk.near.contains(&stream.out_port)
        {
            if trunk.resume.is_some() {
                return refuse("a trunk that drops until its queue is shorter");
            }
            let bits = u128::from(size + 20 + u64::from(trunk.more_bytes)) * 8;
            let way = if trunk.near.contains(&stream.in_port) { "out" } else { "back" };
            let service = Ratio::new(bits * SECOND, u128::from(trunk.rate_bps));
            put(format!("trunk {way}"), Some(service), trunk.queue, false);
        }
        put(
            format!("both_fps of {}/{out_member}", output.name),
            a_frame(output.both_fps),
            output.in_queue,
            true,
        );
        if input.members > 1 {
            spread(stream, input.rate_bps, &input.name)?;
            let line = Stage {
                name: format!("far end of {}/{in_member}", input.name),
                service: line(size, input.rate_bps)?,
                queue: u64::from(input.partner_queue),
                passage: exact(size + 8, input.rate_bps)?,
                line: true,
                behind_faults: false,
            };
            stages.insert(0, line);
        }
        if output.members > 1 {
            spread(stream, output.rate_bps, &output.name)?;
        }
        stages.push(Stage {
            name: format!("line of {}/{out_member}", output.name),
            service: line(size, output.rate_bps)?,
            queue: u64::from(output.out_queue),
            passage: 0,
            line: true,
            behind_faults: true,
        });
        let delay = spec.delay_ns * 1000 + spec.delay_per_byte_ps * size;
        Ok(Self {
            stages,
            fixed: wire_in + delay + wire_out,
        })
    }
}

/// Time that a frame takes, by their rate.
fn a_frame(rate: Option<FrameRate>) -> Option<Ratio> {
    rate.map(|(frames, seconds)| Ratio::new(SECOND * u128::from(seconds), u128::from(frames)))
}

/// Time that a frame of `size` (FCS counted) takes, by the rate of its bits.
fn its_bits(rate: Option<BitRate>, size: u64) -> Option<Ratio> {
    let bytes = |layer| if layer == Layer::L1 { size + 20 } else { size };
    rate.map(|rate| Ratio::new(u128::from(bytes(rate.layer)) * 8 * SECOND, u128::from(rate.rate_bps)))
}

fn check_way(spec: &DeviceSpec, stream: &Offered) -> Result<(), NoClosedForm> {
    let ports = spec.ports.len();
    if stream.in_port >= ports || stream.out_port >= ports || stream.size < 64 {
        return refuse(format!("no such port, or {} bytes", stream.size));
    }
    if let Forwarding::CrossConnect { pairs } = &spec.forwarding {
        let way = (stream.in_port, stream.out_port);
        if !pairs.iter().any(|pair| *pair == way || (pair.1, pair.0) == way) {
            return refuse(format!("ports {} and {} are not connected", way.0, way.1));
        }
    }
    if let Departures::Constant { load_bps, .. } = stream.departures {
        let port = &spec.ports[stream.in_port];
        if load_bps == 0 || load_bps > port.rate_bps * u64::from(port.members) {
            return refuse(format!("{load_bps} bit/s do not fit the link of port `{}`", port.name));
        }
    }
    Ok(())
}

/// Many flows over the members of a group: which frames meet depends on them all, so only what one member could
/// carry alone is known to pass.
fn spread(stream: &Offered, member_bps: u64, port: &str) -> Result<(), NoClosedForm> {
    match stream.departures {
        _ if stream.flow.is_some() => Ok(()),
        Departures::Constant { load_bps, .. } if load_bps <= member_bps => Ok(()),
        _ => refuse(format!("many flows over the members of `{port}` at more than one member's rate")),
    }
}

fn line(size: u64, rate_bps: u64) -> Result<Ratio, NoClosedForm> {
    exact(size + 20, rate_bps).map(|ps| Ratio::new(u128::from(ps), 1))
}

/// Picoseconds of `bytes`, if they are a whole number.
fn exact(bytes: u64, rate_bps: u64) -> Result<u64, NoClosedForm> {
    let (bits, rate) = (u128::from(bytes) * 8 * SECOND, u128::from(rate_bps));
    if rate == 0 || bits % rate != 0 {
        return refuse(format!("{bytes} bytes at {rate_bps} bit/s are no whole number of picoseconds"));
    }
    Ok((bits / rate) as u64)
}

/// Returns for each stream whether it meets another one. Refuses if they could lose frames together.
pub(crate) fn check_sharing(paths: &[Path], streams: &[Offered]) -> Result<Vec<bool>, NoClosedForm> {
    // Rates are compared as frames in about 11 days.
    const SCALE: u128 = 1_000_000 * SECOND;
    let mut crowded = vec![false; paths.len()];
    for path in paths {
        for stage in &path.stages {
            let sharing = |other: &Path| other.stages.iter().filter(|same| same.name == stage.name).count();
            let users: Vec<usize> = (0..paths.len()).filter(|user| sharing(&paths[*user]) > 0).collect();
            if users.len() < 2 {
                continue;
            }
            let mut asked = 0;
            for user in &users {
                crowded[*user] = true;
                let Departures::Constant { load_bps, .. } = streams[*user].departures else {
                    return refuse(format!("streams of varying load share {}", stage.name));
                };
                asked += interval(streams[*user].size, load_bps).rate(SCALE).1;
            }
            // Each earlier stage may have bunched frames; a queue well above the number of streams takes that.
            if asked > stage.service.rate(SCALE).0 || stage.queue < 16 * users.len() as u64 {
                return refuse(format!("{} streams share {} at or above its capacity", users.len(), stage.name));
            }
        }
    }
    Ok(crowded)
}
