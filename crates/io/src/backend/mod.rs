//! Port backends, one file each, and the one table that names them.
//!
//! To add one: a file with a type that implements [`Backend`](ask::Backend), and its line in `backends!` below. The
//! conformance suite runs over the table.

pub mod ask;
pub(crate) mod interface;
#[macro_use]
mod table;

backends! {
    wire::Wire,
    ring::Ring,
    null::Null,
    af_packet::AfPacket,
    af_xdp::AfXdp,
    memif::Memif,
}

use crate::port::{Port, PortError};
use ask::Ask;
pub use ask::{CableEnd, ClockFit, LinkSpec, Placement, Queues, Spread};

/// A port to open, of any backend.
pub type PortAsk<'a> = Ask<'a, BackendSpec>;

/// What opens all ports of a backend that a session asks for: the queues of each, in their order.
pub type Open = fn(&[PortAsk<'_>], &Placement) -> Result<Vec<Queues>, PortError>;

/// A port backend, as a line of the table.
#[derive(Debug)]
pub struct Entry {
    /// What a lab calls it.
    pub name: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// Which clock it can follow.
    pub clock: ClockFit,
    /// Whether its ports come in pairs, joined by a cable inside this process.
    pub is_linked: bool,
    /// How its ports are opened.
    pub open: Open,
}

impl BackendSpec {
    /// Returns the backend's line in the table.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        by_name(self.kind()).expect("every backend has its line in BACKENDS")
    }
}

/// The backend called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Entry> {
    BACKENDS.iter().find(|backend| backend.name == name)
}

/// Opens all ports of a session, those of each backend at once: the queues of each, in the order of `asks`.
///
/// # Errors
/// If a port of a linked backend is at no cable or another one at some, if options cannot be met, or the system refuses.
pub fn open_all(asks: &[PortAsk<'_>], placement: &Placement) -> Result<Vec<Queues>, PortError> {
    asks.iter().try_for_each(check)?;
    let mut opened: Vec<Queues> = asks.iter().map(|_| Vec::new()).collect();
    for backend in BACKENDS {
        let of_it = |ask: &PortAsk<'_>| ask.spec.kind() == backend.name;
        let its: Vec<PortAsk<'_>> = asks.iter().filter(|ask| of_it(ask)).map(|ask| ask.with(ask.spec)).collect();
        if its.is_empty() {
            continue;
        }
        let places = opened.iter_mut().zip(asks).filter(|(_, ask)| of_it(ask));
        for ((place, _), queues) in places.zip((backend.open)(&its, placement)?) {
            *place = queues;
        }
    }
    Ok(opened)
}

/// Checks what is asked of every backend.
fn check(ask: &PortAsk<'_>) -> Result<(), PortError> {
    let kind = ask.spec.kind();
    match (ask.spec.entry().is_linked, &ask.end) {
        _ if ask.queues == 0 => Err(ask.unfit(format!("a `{kind}` port cannot be 0 queues"))),
        (true, None) => Err(ask.unfit(format!(
            "a `{kind}` port is one end of a link; join it to an emulated device under `links`"
        ))),
        (false, Some(_)) => Err(ask.unfit(format!(
            "a `{kind}` port reaches its peer by itself; only {} are joined by links",
            linked_names()
        ))),
        _ => Ok(()),
    }
}

/// The names of the backends whose ports are joined by links, for people.
fn linked_names() -> String {
    let linked = BACKENDS.iter().filter(|backend| backend.is_linked);
    linked.map(|backend| format!("`{}`", backend.name)).collect::<Vec<_>>().join(", ")
}

/// Opens one port that stands by itself, as one queue. `max_frame` is without FCS.
///
/// # Errors
/// As [`open_all`].
pub fn open(name: &str, spec: &BackendSpec, max_frame: u32) -> Result<Box<dyn Port>, PortError> {
    let mut queues = open_queues(name, spec, max_frame, 1)?;
    Ok(queues.swap_remove(0))
}

/// As [`open`], as `queues` queues, each to be used by its own thread.
///
/// # Errors
/// As [`open_all`].
pub fn open_queues(name: &str, spec: &BackendSpec, max_frame: u32, queues: usize) -> Result<Queues, PortError> {
    let ask = PortAsk {
        name,
        spec,
        max_frame,
        queues,
        may_go: false,
        end: None,
    };
    let mut opened = open_all(&[ask], &Placement::default())?;
    Ok(opened.swap_remove(0))
}

/// Opens both ends of a link, `link.names[0]` first, as one queue each.
///
/// # Errors
/// As [`open_all`].
pub fn pair(spec: &BackendSpec, link: &LinkSpec) -> Result<[Box<dyn Port>; 2], PortError> {
    let ask = |end: usize| PortAsk {
        name: &link.names[end],
        spec,
        max_frame: link.max_frame,
        queues: 1,
        may_go: false,
        end: Some(CableEnd {
            cable: 0,
            rate_bps: link.rate_bps[end],
            propagation: link.propagation,
            spread: |_| 0,
        }),
    };
    let opened = open_all(&[ask(0), ask(1)], &Placement::default())?;
    let mut ends = opened.into_iter().flatten();
    let mut next = || ends.next().expect("a pair has two ends");
    Ok([next(), next()])
}
