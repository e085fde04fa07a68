//! What is asked of a backend, and what it answers for.

use crate::port::{MIN_SENT_BYTES, Port, PortError};
use crate::time::Duration;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The queues of a port, each used by its own thread.
pub type Queues = Vec<Box<dyn Port>>;

/// The clocks a backend can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockFit {
    /// Virtual time only.
    Virtual,
    /// Real time only.
    Real,
    /// Both.
    Either,
}

/// A backend: the options of one of its ports, and how ports are opened. One file each.
pub trait Backend: Clone + Serialize + DeserializeOwned {
    /// Its name in a lab and in JSON: that of its file.
    const NAME: &'static str;
    /// One line for people.
    const DOC: &'static str;
    /// Which clock it can follow.
    const CLOCK: ClockFit;
    /// Whether its ports come in pairs, joined by a cable inside this process.
    const IS_LINKED: bool = false;

    /// Opens all ports of one session at once: the queues of each, in the order of `asks`. Frames of one flow always arrive
    /// at the same queue of a port; what any of its queues sends leaves by that port.
    ///
    /// # Errors
    /// If the options of a port cannot be met, or the system refuses.
    fn open(asks: &[Ask<'_, Self>], placement: &Placement) -> Result<Vec<Queues>, PortError>;

    /// The same options for a port of an emulated device that is served: testers come and go, the device stays.
    #[must_use]
    fn for_served_device(&self) -> Self {
        self.clone()
    }
}

/// A port to open, with the options `S` of its backend.
#[derive(Debug)]
pub struct Ask<'a, S> {
    /// Its name in the lab.
    pub name: &'a str,
    /// The options.
    pub spec: &'a S,
    /// The longest frame, without FCS.
    pub max_frame: u32,
    /// How many queues, at least 1.
    pub queues: usize,
    /// Whether its interface may be switched off meanwhile: that is then a link without a carrier. Else the port is gone.
    pub may_go: bool,
    /// Its end of a cable, if its backend [is linked](Backend::IS_LINKED).
    pub end: Option<CableEnd>,
}

/// One end of a cable between two ports of this process.
#[derive(Clone, Copy, Debug)]
pub struct CableEnd {
    /// The cable's number: exactly two ports of an opening have the same.
    pub cable: usize,
    /// L1 bits per second that this end sends at; a backend in real time does not pace.
    pub rate_bps: u64,
    /// From one end to the other, the same both ways; virtual time only.
    pub propagation: Duration,
    /// If the other end has several queues and this one has not: which of them a frame goes to.
    pub spread: Spread,
}

/// Which queue a frame belongs to, modulo how many there are: the same for all frames of a flow. Ports know nothing of
/// what is in a frame.
pub type Spread = fn(&[u8]) -> u32;

/// Where the threads of a session run, for backends that keep memory near them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The core of each queue's thread; `None` is wherever the system puts it. Empty is the same for all.
    pub cores: Vec<Option<usize>>,
    /// The NUMA node of these cores, if it is known and the same for all.
    pub numa_node: Option<u32>,
}

/// A link between two ports of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Names of the two ports.
    pub names: [String; 2],
    /// L1 bits per second that each end sends at; a backend in real time does not pace.
    pub rate_bps: [u64; 2],
    /// From one end to the other, the same both ways; virtual time only.
    pub propagation: Duration,
    /// The longest frame, without FCS.
    pub max_frame: u32,
}

impl LinkSpec {
    /// A link of the same rate both ways and no propagation delay.
    #[must_use]
    pub fn new(a: &str, b: &str, rate_bps: u64, max_frame: u32) -> Self {
        Self {
            names: [a.to_owned(), b.to_owned()],
            rate_bps: [rate_bps; 2],
            propagation: Duration::ZERO,
            max_frame,
        }
    }

    /// The same link, seen from its other end.
    pub(super) fn turned(&self) -> Self {
        let ([a, b], [there, back]) = (self.names.clone(), self.rate_bps);
        Self {
            names: [b, a],
            rate_bps: [back, there],
            ..self.clone()
        }
    }
}

impl<'a, S> Ask<'a, S> {
    /// The same port with the options `spec`.
    pub(super) const fn with<T>(&self, spec: &'a T) -> Ask<'a, T> {
        Ask {
            name: self.name,
            spec,
            max_frame: self.max_frame,
            queues: self.queues,
            may_go: self.may_go,
            end: self.end,
        }
    }

    /// The port cannot be as it is asked for.
    pub(super) fn unfit(&self, why: impl Into<String>) -> PortError {
        PortError::Unfit {
            port: self.name.to_owned(),
            why: why.into(),
        }
    }
}

/// Opens the two ends of every cable of `asks` by `join`, which is given the cable and both ends and returns the queues of both.
pub(super) fn open_pairs<S>(
    asks: &[Ask<'_, S>],
    mut join: impl FnMut(&LinkSpec, [&Ask<'_, S>; 2]) -> Result<[Queues; 2], PortError>,
) -> Result<Vec<Queues>, PortError> {
    let mut opened: Vec<Queues> = asks.iter().map(|_| Vec::new()).collect();
    for (near, ask) in asks.iter().enumerate() {
        if !opened[near].is_empty() {
            continue;
        }
        let Some(end) = ask.end else {
            return Err(ask.unfit("no cable is connected to it"));
        };
        let others = asks.iter().enumerate().skip(near + 1);
        let mut others = others.filter_map(|(far, other)| Some((far, other, other.end.filter(|it| it.cable == end.cable)?)));
        let (Some((far, other, far_end)), None) = (others.next(), others.next()) else {
            return Err(ask.unfit(format!("cable {} does not have two ends", end.cable)));
        };
        let link = LinkSpec {
            names: [ask.name.to_owned(), other.name.to_owned()],
            rate_bps: [end.rate_bps, far_end.rate_bps],
            propagation: end.propagation,
            max_frame: ask.max_frame,
        };
        [opened[near], opened[far]] = join(&link, [ask, other])?;
    }
    Ok(opened)
}

/// Whether two names are the same, for the compiler to ask.
pub(super) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Checks what every backend asks of `max_frame`.
pub(super) fn check_max_frame(name: &str, max_frame: u32) -> Result<(), PortError> {
    /// Far above any jumbo frame; keeps slot offsets within 32 bits.
    const LONGEST: u32 = 65_536;
    if (MIN_SENT_BYTES..=LONGEST).contains(&max_frame) {
        return Ok(());
    }
    Err(PortError::Unfit {
        port: name.to_owned(),
        why: format!("frames of up to {max_frame} bytes; a port holds {MIN_SENT_BYTES} to {LONGEST} without FCS"),
    })
}
