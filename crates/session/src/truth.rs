//! The closed-form answer about an emulated device: from specifications to what the device's own
//! reckoning asks for, and back. Conversion only.

use crate::error::{Refusal, SessionError};
use crate::spec::SessionSpec;
use netdyno_dut::spec::DeviceSpec;
use netdyno_dut::truth::{Departures, Flow, Offered, expect};
use netdyno_engine::Schedule;
use netdyno_engine::spec::{ArrivalSpec, StreamSpec, TrialSpec};
use netdyno_engine::stream_seed;
use netdyno_frame::mix;
use netdyno_frame::parse::parse;
use netdyno_frame::template::Template;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The most departures that are reckoned with one by one: 128 MiB.
const MOST_DEPARTURES: u64 = 1 << 24;

/// What a perfect tester finds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// One per stream of the trial, in its order.
    pub streams: Vec<StreamTruth>,
}

/// What a perfect tester finds of one stream, under the names of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTruth {
    /// Name from the trial.
    pub name: String,
    /// Frames sent.
    pub offered: u64,
    /// Distinct frames received as sent.
    pub received: u64,
    /// `offered - received - corrupted`.
    pub lost: u64,
    /// Further copies.
    pub duplicates: u64,
    /// Overtaken frames; `None` if the stream has several flows, where it depends on which frames are whose.
    pub out_of_order: Option<u64>,
    /// Received, but not as sent.
    pub corrupted: u64,
    /// Least latency, ns rounded down, where it is known.
    pub latency_min_ns: Option<u64>,
    /// Greatest latency.
    pub latency_max_ns: Option<u64>,
}

/// Returns what a perfect tester finds when it runs `trial` on `device` as `session` joins them.
///
/// # Errors
/// If there is no closed form for it: why.
pub fn truth(device: &DeviceSpec, session: &SessionSpec, trial: &TrialSpec) -> Result<Truth, SessionError> {
    let offered = (0..)
        .zip(&trial.streams)
        .map(|(index, stream)| offered(device, session, trial, index, stream));
    let offered = offered.collect::<Result<Vec<_>, _>>()?;
    let expected = expect(device, &offered).map_err(|none| Refusal::NoClosedForm { why: none.to_string() })?;
    let found = trial.streams.iter().zip(expected).map(|(stream, found)| StreamTruth {
        name: stream.name.clone(),
        offered: found.offered,
        received: found.received,
        lost: found.lost,
        duplicates: found.duplicates,
        out_of_order: (stream.flows == 1).then_some(found.out_of_order),
        corrupted: found.corrupted,
        latency_min_ns: found.latency_min_ps.map(|ps| ps / 1000),
        latency_max_ns: found.latency_max_ps.map(|ps| ps / 1000),
    });
    Ok(Truth { streams: found.collect() })
}

fn offered(
    device: &DeviceSpec,
    session: &SessionSpec,
    trial: &TrialSpec,
    index: usize,
    stream: &StreamSpec,
) -> Result<Offered, SessionError> {
    let none = |why: &str| {
        let why = format!("no closed form: stream `{}`: {why}", stream.name);
        SessionError::from(Refusal::NoClosedForm { why })
    };
    let number = session.devices.iter().position(|it| it.name == device.name);
    let port = |tester: usize| {
        let link = session.links.iter().find(|link| link.port == tester && Some(link.device) == number);
        link.map(|link| link.device_port)
            .ok_or_else(|| none(&format!("port {tester} of the tester is not linked to device `{}`", device.name)))
    };
    let &[size] = &stream.sizes[..] else {
        return Err(none("it is a mix of sizes"));
    };
    if stream.arrival != ArrivalSpec::Constant {
        return Err(none("its frames are not placed evenly in time"));
    }
    Ok(Offered {
        in_port: port(stream.tx_port)?,
        out_port: port(stream.rx_port)?,
        size: size.size,
        departures: departures(stream).ok_or_else(|| none("too many frames of a changing load"))?,
        flow: match stream.flows {
            1 => flow(device, port(stream.tx_port)?, port(stream.rx_port)?, trial, index, stream)?,
            _ => None,
        },
    })
}

fn departures(stream: &StreamSpec) -> Option<Departures> {
    let weights: Vec<u32> = stream.sizes.iter().map(|size| size.weight).collect();
    let schedule = Schedule::new(&stream.schedule, &stream.sizes, &mix::order(&weights));
    if let [segment] = &stream.schedule[..]
        && segment.from_bps == segment.to_bps
    {
        return Some(Departures::Constant {
            load_bps: segment.from_bps,
            frames: schedule.frames(),
        });
    }
    if schedule.frames() > MOST_DEPARTURES {
        return None;
    }
    let mut times = Vec::with_capacity(schedule.frames() as usize);
    let mut departures = schedule.departures();
    while let (block @ [_, ..], _) = departures.block() {
        times.extend_from_slice(block);
        departures.advance(block.len());
    }
    Some(Departures::At(times))
}

/// Which members the only flow of a stream meets, from the first frame's bytes.
fn flow(
    device: &DeviceSpec,
    from: usize,
    to: usize,
    trial: &TrialSpec,
    index: usize,
    stream: &StreamSpec,
) -> Result<Option<Flow>, SessionError> {
    let sizes: Vec<u32> = stream.sizes.iter().map(|size| size.size).collect();
    let place = |why: String| {
        let place = format!("stream `{}`", stream.name);
        SessionError::from(Refusal::TrialSpec { place, why })
    };
    let template = Template::of(stream.content(), &sizes, 1, stream_seed(trial.seed, index)).map_err(|error| place(error.to_string()))?;
    let mut frame = vec![0; template.length(0)];
    template.write(&mut template.cursor(), 0, 0, &mut frame);
    let packet = parse(&frame).map(|layers| layers.outer).unwrap_or_default();
    let l3 = packet.l3 as usize;
    let (source, destination): (IpAddr, IpAddr) = match packet.version {
        4 => (octets::<4>(&frame, l3 + 12).into(), octets::<4>(&frame, l3 + 16).into()),
        6 => (octets::<16>(&frame, l3 + 8).into(), octets::<16>(&frame, l3 + 24).into()),
        _ => return Ok(None),
    };
    let l4 = packet.l4 as usize;
    let ports = [l4, l4 + 2].map(|at| u16::from_be_bytes(octets(&frame, at)));
    Ok(Flow::of(device, from, to, (source, ports[0]), (destination, ports[1])))
}

fn octets<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    frame.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
