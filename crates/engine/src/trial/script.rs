//! What the tester's ports say of their own beside the streams, at times the trial names: queries of a manager, routing
//! updates (RFC 2544 sections 11.2 and 11.3).

use crate::error::SpecError;
use crate::host::Host;
use crate::send::Which;
use crate::spec::{MessageSpec, TrialSpec};
use netdyno_frame::spec::Mac;
use netdyno_io::port::PortInfo;
use std::net::IpAddr;

/// The most frames all messages of a trial are together: one a second for a day.
const MOST_SAID: u64 = 100_000;
/// The shortest time from one frame of a message to the next, ns: what is more often is a stream.
const SHORTEST_NS: u64 = 1_000_000;
/// The latest a message begins, or takes from one frame to the next, ns: a month.
const LATEST_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// Bytes of a number in a message.
const NUMBER: usize = 4;

/// A frame that is due.
#[derive(Debug)]
pub struct Due {
    pub port: usize,
    pub at_ps: u64,
    pub which: Which,
    pub bytes: Vec<u8>,
}

/// A message, as far as it has been said.
#[derive(Debug)]
struct Message {
    port: usize,
    /// From the begin of traffic.
    first_ps: i64,
    every_ps: u64,
    count: u32,
    /// Frames said.
    said: u32,
    bytes: Vec<u8>,
    number_at: Option<usize>,
    hop: Option<IpAddr>,
}

/// All that is said in a trial.
#[derive(Debug)]
pub struct Script {
    messages: Vec<Message>,
    /// When traffic begins, as far as that is known.
    traffic_ps: Option<u64>,
    due_ps: u64,
}

impl Script {
    /// What the ports of `spec` say; tells their hosts whom to ask for.
    ///
    /// # Errors
    /// If a message cannot be said: which one and why.
    pub fn new(spec: &TrialSpec, infos: &[PortInfo], hosts: &mut [Host]) -> Result<Self, SpecError> {
        let mut messages = Vec::new();
        let mut all: u64 = 0;
        for (port, (of_port, info)) in spec.ports.iter().zip(infos).enumerate() {
            for (number, message) in of_port.messages.iter().enumerate() {
                let refuse = |(field, why, hint): Refusal| SpecError::new(format!("ports[{port}].messages[{number}].{field}"), why, hint);
                let found = Message::new(message, port, spec.settle_ns, info).map_err(refuse)?;
                if let Some(hop) = found.hop {
                    let hint = "give the port an address, or write the MAC address";
                    hosts[port].want(&[], hop).map_err(|why| refuse(("to", why, hint)))?;
                }
                all += u64::from(found.count);
                messages.push(found);
            }
        }
        if all > MOST_SAID {
            let why = format!("{all} frames of messages in all, at most {MOST_SAID} are sent");
            return Err(SpecError::new(
                "ports: messages",
                why,
                "say them less often; what is sent all the time is a stream",
            ));
        }
        Ok(Self {
            messages,
            traffic_ps: None,
            due_ps: u64::MAX,
        })
    }

    /// When the next frame is due; `u64::MAX` is never, or not known yet.
    pub fn due_ps(&self) -> u64 {
        self.due_ps
    }

    /// Traffic begins at `traffic_ps`, as far as that is known now.
    pub fn begin(&mut self, traffic_ps: u64) {
        self.traffic_ps = Some(traffic_ps);
        self.plan();
    }

    /// Nothing more is said.
    pub fn stop(&mut self) {
        self.traffic_ps = None;
        self.plan();
    }

    fn plan(&mut self) {
        let due = |from| self.messages.iter().filter_map(move |message| message.due_ps(from)).min();
        self.due_ps = self.traffic_ps.and_then(due).unwrap_or(u64::MAX);
    }

    /// The frames due at or before `now`. Those to a next hop go to the MAC address it has now.
    #[cold]
    pub fn due(&mut self, now: u64, hosts: &[Host]) -> Vec<Due> {
        let mut found = Vec::new();
        let Some(from) = self.traffic_ps else { return found };
        for (index, message) in (0..).zip(&mut self.messages) {
            while let Some(at_ps) = message.due_ps(from).filter(|&at| at <= now) {
                let number = message.said;
                let hop = message.hop.map(|hop| hosts[message.port].answer(&[], hop));
                found.push(Due {
                    port: message.port,
                    at_ps,
                    which: Which { message: index, number },
                    bytes: message.frame(number, hop.flatten()),
                });
                message.said += 1;
            }
        }
        found.sort_by_key(|due| due.at_ps);
        self.plan();
        found
    }
}

/// A field, what is wrong with it, and a hint.
type Refusal = (&'static str, String, &'static str);

impl Message {
    fn new(spec: &MessageSpec, port: usize, settle_ns: u64, info: &PortInfo) -> Result<Self, Refusal> {
        let bytes = from_hex(&spec.frame).ok_or_else(|| ("frame", "not bytes in hexadecimal digits".to_owned(), "two digits a byte"))?;
        if bytes.len() < 14 || bytes.len() > info.max_frame as usize {
            let why = format!(
                "a frame of {} bytes, port `{}` sends 14 to {}",
                bytes.len(),
                info.name,
                info.max_frame
            );
            return Err(("frame", why, "without FCS; short ones are padded"));
        }
        if spec.at_ns < 0 && (spec.at_ns.unsigned_abs() > settle_ns || spec.count > 1) {
            let why = format!("{} ns before traffic, which settles for {settle_ns} ns", spec.at_ns.unsigned_abs());
            return Err(("at_ns", why, "wait longer before the traffic; what is said before it is said once"));
        }
        if spec.at_ns > LATEST_NS as i64 || spec.every_ns > LATEST_NS {
            return Err(("at_ns", "more than 31 days".to_owned(), "times are nanoseconds"));
        }
        if spec.count == 0 || spec.count > 1 && spec.every_ns < SHORTEST_NS {
            let why = format!("{} frames every {} ns", spec.count, spec.every_ns);
            return Err(("every_ns", why, "at least one frame, a millisecond or more from the next"));
        }
        if spec.number_at.is_some_and(|at| at.saturating_add(NUMBER) > bytes.len()) {
            return Err(("number_at", "behind the end of the frame".to_owned(), "a number has four bytes"));
        }
        let hop = spec
            .to
            .as_ref()
            .map(|to| to.parse().map_err(|_| ("to", format!("`{to}` is not an IP address"), "")));
        Ok(Self {
            port,
            first_ps: spec.at_ns * 1000,
            every_ps: spec.every_ns * 1000,
            count: spec.count,
            said: 0,
            bytes,
            number_at: spec.number_at,
            hop: hop.transpose()?,
        })
    }

    /// When its next frame is due, with traffic from `from` on; `None` if all have been said.
    fn due_ps(&self, from: u64) -> Option<u64> {
        let more = u64::from(self.said).saturating_mul(self.every_ps);
        (self.said < self.count).then(|| from.saturating_add_signed(self.first_ps).saturating_add(more))
    }

    fn frame(&self, number: u32, to: Option<Mac>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(Mac(mac)) = to {
            bytes[..6].copy_from_slice(&mac);
        }
        if let Some(at) = self.number_at {
            let before = u32::from_be_bytes(*bytes[at..].first_chunk().expect("as checked"));
            bytes[at..at + NUMBER].copy_from_slice(&before.wrapping_add(number).to_be_bytes());
        }
        bytes
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let value = |digit: u8| (digit as char).to_digit(16);
    let byte = |pair: &[u8]| Some((value(pair[0])? << 4 | value(pair[1])?) as u8);
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}
