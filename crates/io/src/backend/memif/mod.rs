//! memif: shared memory with another process (VPP, DPDK's testpmd, another netdyno), over a unix socket.
//!
//! A client connects and makes the memory, a server makes the socket; several queues, a ring each way a queue. Servers of one
//! process may share a socket, each with a number of its own (`id`). No
//! privilege, no huge pages, no interrupts: both ends look at the rings. The data path makes no system call; the control
//! connection has a thread of its own that sleeps (see [`connection`]).
//!
//! When the peer goes while a trial runs, the port is gone at once: what was in the rings is neither delivered nor the
//! device's loss, so the trial is invalid. The connection is restored as soon as the peer is back, and the next trial
//! [waits for that](crate::port::Port::ready) as long as `patience_ms`.
//!
//! The peer is not trusted: see [`memory`] and [`ring`]. Frames of several descriptors are put together; those longer
//! than `max_frame` or shorter than an Ethernet header are dropped and counted in `rx_cut`. memif carries neither FCS nor
//! padding: frames of under 60 bytes come and go as they are.
//!
//! `Slot::at` is not honoured on transmit; on receive it is the time of the poll that found the frame.

mod attached;
mod connection;
mod conversation;
mod door;
mod ends;
#[cfg(test)]
mod fuzz;
mod handshake;
mod memory;
mod message;
mod queue;
mod ring;
mod role;
mod socket;

pub use queue::MemifPort;
pub use role::Role;

use super::ask::{Ask, Backend, ClockFit, Placement, Queues, check_max_frame};
use crate::port::{Port, PortError, PortInfo, Timestamps};
use crate::time::Duration;
use attached::{Attached, MOST_QUEUES};
use handshake::Interface;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a memif port reaches its peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memif {
    /// Path of the socket, or `@name` in the abstract space of this network namespace.
    pub socket: String,
    /// Which end this is.
    #[serde(default)]
    pub role: Role,
    /// Which interface of the socket.
    #[serde(default)]
    pub id: u32,
    /// Frames a ring holds, as a power of two; the client's counts.
    #[serde(default = "default_ring_log2")]
    pub ring_log2: u8,
    /// What the peer must know too, up to 23 bytes; empty: nothing.
    #[serde(default)]
    pub secret: String,
    /// How long a trial waits for its peer, in milliseconds; `null`: a port without its peer is silent and never gone.
    #[serde(default = "default_patience_ms")]
    pub patience_ms: Option<u32>,
}

/// 4096 frames. testpmd and VPP have 1024; four times that outlast pauses of their reader four times as long.
const fn default_ring_log2() -> u8 {
    12
}

/// VPP as a client tries every three seconds.
#[allow(clippy::unnecessary_wraps)] // what serde wants
const fn default_patience_ms() -> Option<u32> {
    Some(5000)
}

impl Memif {
    /// One end of `socket`, all else as it is without being said.
    #[must_use]
    pub fn new(socket: &str, role: Role) -> Self {
        Self {
            socket: socket.to_owned(),
            role,
            id: 0,
            ring_log2: default_ring_log2(),
            secret: String::new(),
            patience_ms: default_patience_ms(),
        }
    }
}

impl Backend for Memif {
    const NAME: &'static str = "memif";
    const DOC: &'static str = "Shared memory with VPP, testpmd or another netdyno, over a unix socket; needs no privilege.";
    const CLOCK: ClockFit = ClockFit::Real;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        let queues = |ask: &Ask<'_, Self>| -> Result<Queues, PortError> {
            let queues = open(ask.name, ask.spec, ask.max_frame, ask.queues)?;
            Ok(queues.into_iter().map(|queue| Box::new(queue) as Box<dyn Port>).collect())
        };
        asks.iter().map(queues).collect()
    }

    fn for_served_device(&self) -> Self {
        Self {
            patience_ms: None,
            ..self.clone()
        }
    }
}

/// Opens a port as so many queues. Returns at once; the peer may come later.
///
/// # Errors
/// If the parameters cannot be met, or a server cannot listen at its socket.
pub fn open(name: &str, spec: &Memif, max_frame: u32, queues: usize) -> Result<Vec<MemifPort>, PortError> {
    check_max_frame(name, max_frame)?;
    let unfit = |why: String| PortError::Unfit {
        port: name.to_owned(),
        why,
    };
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(unfit(format!("{queues} queues; a memif port has 1 to {MOST_QUEUES}")));
    }
    if !(1..=ring::MOST_LOG2).contains(&spec.ring_log2) {
        let most = ring::MOST_LOG2;
        return Err(unfit(format!(
            "ring_log2 {}; a memif ring has 2^1 to 2^{most} frames",
            spec.ring_log2
        )));
    }
    if spec.secret.len() > 23 || spec.secret.contains('\0') {
        return Err(unfit("the secret is longer than 23 bytes, or has a zero byte".to_owned()));
    }
    let interface = Interface {
        name: name.to_owned(),
        id: spec.id,
        queues: queues as u16,
        ring_log2: spec.ring_log2,
        max_frame,
        secret: spec.secret.clone(),
    };
    handshake::check_size(&interface).map_err(unfit)?;
    let attached = Attached::start(interface, &spec.socket, spec.role).map_err(|source| {
        let hint = match source.kind() {
            _ if spec.socket.starts_with('@') => None,
            std::io::ErrorKind::NotFound => Some("make the folder of the socket first, or take a path in one that is there"),
            std::io::ErrorKind::PermissionDenied => Some("this user may make no file there: take another folder, or `@name` (abstract)"),
            std::io::ErrorKind::AlreadyExists => Some("take another path, or remove what is there"),
            std::io::ErrorKind::AddrInUse => {
                Some("end the process that listens there, take another path, or another `id` in the same process")
            }
            _ => None,
        };
        PortError::with_hint(format!("port `{name}`: opening memif socket `{}`", spec.socket), source, hint)
    })?;
    let attached = Arc::new(attached);
    let role = match spec.role {
        Role::Client => "client",
        Role::Server => "server",
    };
    let info = PortInfo {
        name: name.to_owned(),
        backend: Memif::NAME.to_owned(),
        rate_bps: 0,
        max_frame,
        time: Timestamps::Software,
        detail: format!(
            "{role} at {}, interface {}, {queues} queue{}",
            spec.socket,
            spec.id,
            if queues == 1 { "" } else { "s" }
        ),
    };
    let patience = spec.patience_ms.map(|ms| Duration::from_ms(u64::from(ms)));
    Ok((0..queues)
        .map(|queue| MemifPort::new(info.clone(), &attached, queue, patience))
        .collect())
}
