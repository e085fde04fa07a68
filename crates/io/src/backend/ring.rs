//! Two ports of this process joined by shared memory, in real time, each used by its own thread.
//!
//! A bounded ring of slots each way, one producer and one consumer: no lock, no system call. What costs
//! is the cache line that crosses between the cores, so a slot holds its length in front of the frame
//! (a 64-byte frame and its length are one line), each end remembers the other's index until it runs
//! out, and an index is published once a burst.
//!
//! A frame's arrival is the time of the poll that found it: read from the session's clock, or else `now`.

mod joined;
mod port;

pub use joined::{JoinedPort, pair_queues};
pub use port::{DEFAULT_SLOTS, RingPort, pair};

use super::ask::{Ask, Backend, ClockFit, LinkSpec, Placement, Queues, open_pairs};
use crate::port::{Port, PortError};
use serde::{Deserialize, Serialize};

/// One end of a link through memory of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {}

impl Backend for Ring {
    const NAME: &'static str = port::NAME;
    const DOC: &'static str = "Shared memory inside this process, in real time, to an emulated device in a thread of its own.";
    const CLOCK: ClockFit = ClockFit::Real;
    const IS_LINKED: bool = true;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        open_pairs(asks, join)
    }
}

/// The queues of both ends of a link: one to one, or all of one end to the only one of the other.
fn join(link: &LinkSpec, [near, far]: [&Ask<'_, Ring>; 2]) -> Result<[Queues; 2], PortError> {
    if near.queues == far.queues {
        let pairs = (0..near.queues).map(|_| pair(link, DEFAULT_SLOTS));
        let pairs = pairs.collect::<Result<Vec<_>, _>>()?.into_iter();
        let (near, far) = pairs
            .map(|(near, far)| (Box::new(near) as Box<dyn Port>, Box::new(far) as Box<dyn Port>))
            .unzip();
        return Ok([near, far]);
    }
    if near.queues == 1 {
        let [far, near] = join(&link.turned(), [far, near])?;
        return Ok([near, far]);
    }
    let (1, Some(end)) = (far.queues, far.end) else {
        return Err(near.unfit(format!("a `ring` port of {} queues, joined to one of {}", near.queues, far.queues)));
    };
    let (queues, joined) = pair_queues(link, DEFAULT_SLOTS, near.queues, end.spread)?;
    let queues = queues.into_iter().map(|queue| Box::new(queue) as Box<dyn Port>).collect();
    Ok([queues, vec![Box::new(joined)]])
}
