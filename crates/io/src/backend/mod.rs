//! Port backends, one file each, and the one table that names them.
//!
//! To add one: a file with its `BACKEND`, its line in [`BACKENDS`], and its variant in [`BackendSpec`]
//! with the parameters a lab gives it. The conformance suite runs over the table.

pub mod af_packet;
pub mod af_xdp;
mod interface;
pub mod memif;
pub mod null;
pub mod ring;
pub mod wire;

use crate::port::{Port, PortError};
use crate::time::Duration;
use serde::{Deserialize, Serialize};

/// Which backend carries a port's frames, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackendSpec {
    /// Virtual time, exact serialization; joined by a link.
    Wire {},
    /// In process, real time; joined by a link.
    Ring {},
    /// Gives the slots back and counts.
    Null {},
    /// A kernel interface through packet sockets.
    AfPacket {
        /// Interface name.
        interface: String,
    },
    /// A kernel interface through AF_XDP sockets.
    AfXdp {
        /// Interface name.
        interface: String,
        /// Where in the receive path frames are taken.
        #[serde(default)]
        attach: af_xdp::Attach,
        /// Whether the driver shares its frames with us or copies them.
        #[serde(default)]
        mode: af_xdp::Mode,
    },
    /// Shared memory with another process.
    Memif(memif::MemifSpec),
}

impl BackendSpec {
    /// The backend's name, as in [`BACKENDS`] and in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Wire {} => wire::BACKEND.name,
            Self::Ring {} => ring::BACKEND.name,
            Self::Null {} => null::BACKEND.name,
            Self::AfPacket { .. } => af_packet::BACKEND.name,
            Self::AfXdp { .. } => af_xdp::BACKEND.name,
            Self::Memif(_) => memif::BACKEND.name,
        }
    }

    /// Its line in the table.
    #[must_use]
    pub fn backend(&self) -> &'static Backend {
        by_name(self.kind()).expect("every kind has its line in BACKENDS")
    }
}

/// A port backend, as a line of the table.
#[derive(Debug)]
pub struct Backend {
    /// What a lab calls it.
    pub name: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// Which clock it can follow.
    pub clock: ClockFit,
    /// How its ports come to be.
    pub open: Open,
}

impl Backend {
    /// Whether its ports come in pairs, joined by a link.
    #[must_use]
    pub const fn needs_link(&self) -> bool {
        matches!(self.open, Open::Linked(_))
    }
}

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

/// What opens a port by itself: its name in the lab, its parameters, the longest frame without FCS.
pub type OpenAlone = fn(&str, &BackendSpec, u32) -> Result<Box<dyn Port>, PortError>;

/// What opens a port as several queues, each used by its own thread: as [`OpenAlone`], and how many. Frames of one flow
/// always arrive at the same queue; what any queue sends leaves by the same port.
pub type OpenQueues = fn(&str, &BackendSpec, u32, usize) -> Result<Vec<Box<dyn Port>>, PortError>;

/// Two ports joined by a link.
pub type PortPair = (Box<dyn Port>, Box<dyn Port>);

/// How the ports of a backend come to be.
#[derive(Debug)]
pub enum Open {
    /// Each by itself, as one queue.
    Alone(OpenAlone),
    /// Each by itself, as one queue or several.
    Queued(OpenQueues),
    /// In pairs.
    Linked(fn(&LinkSpec) -> Result<PortPair, PortError>),
}

/// Every port backend, in the order `--help` lists them.
pub const BACKENDS: &[Backend] = &[
    wire::BACKEND,
    ring::BACKEND,
    null::BACKEND,
    af_packet::BACKEND,
    af_xdp::BACKEND,
    memif::BACKEND,
];

/// The backend called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Backend> {
    BACKENDS.iter().find(|backend| backend.name == name)
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
}

/// Opens a port that stands by itself. `max_frame` is without FCS.
///
/// # Errors
/// If the backend needs a link, the parameters cannot be met, or the system refuses.
pub fn open(name: &str, spec: &BackendSpec, max_frame: u32) -> Result<Box<dyn Port>, PortError> {
    let mut queues = open_queues(name, spec, max_frame, 1)?;
    Ok(queues.pop().expect("a port has the queues it was asked for"))
}

/// Opens a port that stands by itself as `queues` queues, each to be used by its own thread.
///
/// # Errors
/// As [`open`]; and if the backend has not as many queues.
pub fn open_queues(name: &str, spec: &BackendSpec, max_frame: u32, queues: usize) -> Result<Vec<Box<dyn Port>>, PortError> {
    let unfit = |why| PortError::Unfit {
        port: name.to_owned(),
        why,
    };
    let kind = spec.kind();
    match spec.backend().open {
        Open::Queued(open) if queues > 0 => open(name, spec, max_frame, queues),
        Open::Alone(open) if queues == 1 => Ok(vec![open(name, spec, max_frame)?]),
        Open::Alone(_) | Open::Queued(_) => Err(unfit(format!("a `{kind}` port cannot be {queues} queues"))),
        Open::Linked(_) => Err(unfit(format!(
            "a `{kind}` port is one end of a link; join it to an emulated device under `links`"
        ))),
    }
}

/// Opens both ends of a link, `link.names[0]` first.
///
/// # Errors
/// If the backend's ports are not joined by links, or the link cannot be built.
pub fn pair(spec: &BackendSpec, link: &LinkSpec) -> Result<PortPair, PortError> {
    match spec.backend().open {
        Open::Linked(pair) => pair(link),
        Open::Alone(_) | Open::Queued(_) => Err(PortError::Unfit {
            port: link.names[0].clone(),
            why: format!(
                "a `{}` port reaches its peer by itself; only {} are joined by links",
                spec.kind(),
                BACKENDS
                    .iter()
                    .filter(|it| it.needs_link())
                    .map(|it| format!("`{}`", it.name))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        }),
    }
}

/// Which queue a frame belongs to, modulo how many there are: the same for all frames of a flow. Ports know nothing of
/// what is in a frame.
pub type Spread = fn(&[u8]) -> u32;

/// The queues of a port, and the port at the other end of their link.
pub type QueuedPair = (Vec<Box<dyn Port>>, Box<dyn Port>);

/// As [`pair`], with the first end as `queues` queues, each to be used by its own thread; the other end sends each frame
/// to the queue that `spread` says.
///
/// # Errors
/// As [`pair`]; and if the backend has not as many queues.
pub fn pair_queues(spec: &BackendSpec, link: &LinkSpec, queues: usize, spread: Spread) -> Result<QueuedPair, PortError> {
    match spec {
        BackendSpec::Ring {} if queues > 1 => {
            let (near, far) = ring::pair_queues(link, ring::DEFAULT_SLOTS, queues, spread)?;
            let near = near.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect();
            Ok((near, Box::new(far)))
        }
        _ if queues == 1 => {
            let (near, far) = pair(spec, link)?;
            Ok((vec![near], far))
        }
        _ => Err(PortError::Unfit {
            port: link.names[0].clone(),
            why: format!("a `{}` port cannot be {queues} queues", spec.kind()),
        }),
    }
}

/// Checks what every backend asks of `max_frame`.
fn check_max_frame(name: &str, max_frame: u32) -> Result<(), PortError> {
    /// Far above any jumbo frame; keeps slot offsets within 32 bits.
    const LONGEST: u32 = 65_536;
    if (crate::port::MIN_SENT_BYTES..=LONGEST).contains(&max_frame) {
        return Ok(());
    }
    Err(PortError::Unfit {
        port: name.to_owned(),
        why: format!(
            "frames of up to {max_frame} bytes; a port holds {} to {LONGEST} without FCS",
            crate::port::MIN_SENT_BYTES
        ),
    })
}
