//! Connections that are opened before traffic (test phase 1 of RFC 9693): a frame of each flow that another
//! stream answers, so that the answers go to where the device has the flow come out.

use super::worker::Worker;
use crate::error::SpecError;
use crate::reason::Invalid;
use crate::receive::OPENING_PS;
use crate::send::Sender;
use crate::spec::{StreamSpec, TrialSpec};
use netdyno_frame::probe::find;
use netdyno_frame::template::Template;
use netdyno_frame::tuple::FourTuple;
use std::collections::HashMap;

/// How far opening frames are apart in each round: what a slow device did not take is sent again, slower.
pub const ROUNDS_PS: [u64; 3] = [20_000_000, 80_000_000, 320_000_000];
/// They are waited for so long behind the last one of a round.
pub const WAIT_PS: u64 = 100_000_000_000;

/// A stream whose flows are opened, and the one that answers it.
#[derive(Debug)]
struct Opening {
    stream: usize,
    tx_port: usize,
    rx_port: usize,
    first_flow: u32,
    /// Where addresses and ports begin, bytes before the probe: of its frames, and of those that answer.
    back: [usize; 2],
    /// As they are sent.
    sent: Vec<FourTuple>,
    /// As they arrived, as far as they have.
    arrived: Vec<Option<FourTuple>>,
    /// Index, first flow and sending port of the stream that answers.
    answer: (usize, u32, usize),
}

/// All that are opened in a trial.
#[derive(Debug, Default)]
pub struct Openings {
    each: Vec<Opening>,
}

/// How the device maps the flows (RFC 4787 section 4.1): what every worker is to know.
#[derive(Debug, Default)]
pub struct Mappings {
    /// The addresses and ports that the frames of a stream are to have, by its sending port.
    sent: Vec<(usize, usize, Vec<FourTuple>)>,
    expected: Vec<Expected>,
}

/// The addresses and ports with which the flows of a stream arrive, from the first one on.
#[derive(Debug)]
struct Expected {
    stream: usize,
    first_flow: u32,
    back: usize,
    tuples: Vec<FourTuple>,
}

impl Mappings {
    /// Has a worker send and expect frames by them.
    pub fn apply_to(&self, worker: &mut Worker) {
        for (port, stream, tuples) in &self.sent {
            worker.senders[*port].set_tuples(*stream, tuples);
        }
        for one in &self.expected {
            let receiver = &mut worker.receiver;
            receiver.expect_tuples(one.stream, one.first_flow, one.back, &one.tuples);
        }
    }
}

impl Openings {
    /// Those of a trial.
    pub fn new(spec: &TrialSpec, senders: &[Sender]) -> Self {
        let first_flow = |stream: usize| spec.streams[..stream].iter().map(|one| one.flows).sum();
        let opening = |(answer, one): (usize, &StreamSpec)| {
            let stream = one.answers?;
            let asked = &spec.streams[stream];
            let sent: Vec<_> = template(senders, spec, stream)?.tuples().collect();
            Some(Opening {
                stream,
                tx_port: asked.tx_port,
                rx_port: asked.rx_port,
                first_flow: first_flow(stream),
                back: [FourTuple::before_payload(&asked.headers)?, FourTuple::before_payload(&one.headers)?],
                arrived: vec![None; sent.len()],
                sent,
                answer: (answer, first_flow(answer), one.tx_port),
            })
        };
        Self {
            each: spec.streams.iter().enumerate().filter_map(opening).collect(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Whether each flow has come through.
    pub fn are_done(&self) -> bool {
        self.each.iter().all(|opening| opening.arrived.iter().all(Option::is_some))
    }

    /// By sending port, the frames of flows that have not come through.
    pub fn frames<'a>(&'a self, spec: &'a TrialSpec, senders: &'a [Sender]) -> impl Iterator<Item = (usize, Vec<u8>)> + 'a {
        self.each.iter().flat_map(|opening| {
            let template = template(senders, spec, opening.stream);
            let missing = (0..).zip(&opening.arrived).filter(|(_, arrived)| arrived.is_none());
            missing.filter_map(move |(flow, _)| Some((opening.tx_port, template?.frame(flow, 0, 0, OPENING_PS))))
        })
    }

    /// Learns from a frame that arrived at `port`, if it opens a flow.
    pub fn learn_from(&mut self, port: usize, frame: &[u8]) {
        let Some((probe, _)) = find(frame, &mut 0).filter(|(probe, _)| probe.departure_ps == OPENING_PS) else {
            return;
        };
        for opening in self.each.iter_mut().filter(|opening| opening.rx_port == port) {
            let flow = probe.flow.wrapping_sub(opening.first_flow) as usize;
            if let Some(arrived) = opening.arrived.get_mut(flow) {
                *arrived = arrived.or_else(|| FourTuple::of(frame));
            }
        }
    }

    /// Why answers cannot be sent: flows did not come through, or came out as others did.
    pub fn faults(&self, spec: &TrialSpec) -> Vec<Invalid> {
        let of = |opening: &Opening| {
            let stream = spec.streams[opening.stream].name.clone();
            let flows = opening.arrived.len() as u64;
            let missing = opening.arrived.iter().filter(|arrived| arrived.is_none()).count() as u64;
            if missing > 0 {
                let rounds = ROUNDS_PS.len() as u64;
                return Some(Invalid::FlowsNotOpened {
                    stream,
                    missing,
                    flows,
                    rounds,
                });
            }
            let (first, second) = opening.collision()?;
            let (first, second, outside) = (first.0.to_string(), second.to_string(), first.1.to_string());
            Some(Invalid::FlowsCollide {
                stream,
                first,
                second,
                outside,
            })
        };
        self.each.iter().filter_map(of).collect()
    }

    /// How the device maps each flow.
    pub fn mappings(&self) -> Mappings {
        let mut found = Mappings::default();
        for opening in &self.each {
            let (answer, first_flow, port) = opening.answer;
            let arrived: Vec<_> = opening.arrived.iter().map(|arrived| arrived.unwrap_or_default()).collect();
            found
                .sent
                .push((port, answer, arrived.iter().map(|tuple| tuple.reversed()).collect()));
            let asked = opening.sent.iter().map(|tuple| tuple.reversed()).collect();
            let ways = [(opening.stream, opening.first_flow, arrived), (answer, first_flow, asked)];
            for ((stream, first_flow, tuples), back) in ways.into_iter().zip(opening.back) {
                found.expected.push(Expected {
                    stream,
                    first_flow,
                    back,
                    tuples,
                });
            }
        }
        found
    }

    /// How many flows of stream `stream` came through with other addresses or ports; `None` if none answers it.
    pub fn translated(&self, stream: usize) -> Option<u64> {
        let opening = self.each.iter().find(|it| it.stream == stream)?;
        let changed = opening
            .arrived
            .iter()
            .zip(&opening.sent)
            .filter(|(arrived, sent)| arrived.is_some_and(|arrived| arrived != **sent));
        Some(changed.count() as u64)
    }
}

impl Opening {
    /// Two flows that came out as one: the one, with how it did, and the other.
    fn collision(&self) -> Option<((FourTuple, FourTuple), FourTuple)> {
        let mut known = HashMap::new();
        let mut each = self.sent.iter().zip(&self.arrived);
        each.find_map(|(sent, arrived)| {
            let arrived = (*arrived)?;
            let first = *known.entry(arrived).or_insert(*sent);
            (first != *sent).then_some(((first, arrived), *sent))
        })
    }
}

fn template<'a>(senders: &'a [Sender], spec: &TrialSpec, stream: usize) -> Option<&'a Template> {
    let lanes = &senders[spec.streams[stream].tx_port].lanes;
    lanes.iter().find(|lane| lane.stream == stream).map(|lane| &lane.template)
}

/// What is wrong with a stream that answers another.
pub fn check(spec: &TrialSpec) -> Result<(), SpecError> {
    for (index, stream) in spec.streams.iter().enumerate() {
        let Some(of) = stream.answers else { continue };
        let refuse = |why: &str, hint: &str| Err(SpecError::new(format!("streams[{index}] ({}): answers", stream.name), why, hint));
        let Some(asked) = spec.streams.get(of).filter(|asked| asked.answers.is_none()) else {
            return refuse("there is no stream that it could answer", "the index of one that answers none");
        };
        if (asked.tx_port, asked.rx_port) != (stream.rx_port, stream.tx_port) || asked.flows != stream.flows {
            return refuse(
                "it does not go the way back, or has another number of flows",
                "swap the ports; as many flows",
            );
        }
        if [asked, stream]
            .iter()
            .any(|one| !one.probe || FourTuple::before_payload(&one.headers).is_none())
        {
            let hint = "Ethernet, tags, IPv4 and UDP or TCP, and a probe";
            return refuse("translated flows of other headers are not followed", hint);
        }
    }
    Ok(())
}
