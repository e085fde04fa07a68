//! The one seam between a tester (or an emulated device) and whatever carries frames.
//!
//! Frames cross it in bursts. A port lends memory and a slot a frame; nothing escapes the closure.
//! Frame bytes are without FCS: a 64-byte frame is 60 bytes in its slot. `PortInfo::rate` and the
//! time on the wire count the FCS and the 20 bytes of preamble, SFD and gap as well.

use crate::claim::Claim;
use crate::looks::Span;
use crate::pressure::BackPressure;
use crate::reason::Reason;
use crate::reasons;
use crate::tail::{self, Place, Seen, Tail};
use crate::time::{Clock, Instant};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{AddAssign, Range};
use std::os::fd::RawFd;

/// Bytes a frame takes on the wire beyond those in its slot: FCS 4, preamble and SFD 8, gap 12.
pub const WIRE_OVERHEAD_BYTES: u64 = 24;
/// The shortest frame in a slot: 64 bytes less the FCS. A wire pads shorter ones in time, not in bytes.
pub const MIN_SLOT_BYTES: u64 = 60;
/// The fewest bytes a port sends: two addresses and a type. Shorter is refused as a mistake of the caller.
pub const MIN_SENT_BYTES: u32 = 14;

/// Where one frame of a burst lies, and when it departs or arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// First byte of the frame in the burst's memory.
    pub offset: u32,
    /// On transmit: room when lent, frame length when given back. On receive: frame length. No FCS.
    pub len: u32,
    /// Transmit: when the first bit should depart (a port without scheduling ignores it).
    /// Receive: when the last bit arrived, as well as the port knows.
    pub at: Instant,
}

/// A burst of frames in memory that the port owns.
#[derive(Debug)]
pub struct Burst<'a> {
    memory: &'a mut [u8],
    slots: &'a mut [Slot],
    /// What is known of each slot's bytes; none at all where the port does not keep it.
    tails: &'a mut [Tail],
}

impl<'a> Burst<'a> {
    /// A burst over `memory`; each slot must lie inside it.
    #[must_use]
    pub fn new(memory: &'a mut [u8], slots: &'a mut [Slot]) -> Self {
        Self {
            memory,
            slots,
            tails: &mut [],
        }
    }

    /// The same, of a port that alone writes to its memory, and keeps what is known of the bytes in each slot: `tails` are as
    /// many, or none. No two slots have any byte in common.
    #[must_use]
    pub(crate) fn with_tails(memory: &'a mut [u8], slots: &'a mut [Slot], tails: &'a mut [Tail]) -> Self {
        debug_assert!(tails.is_empty() || tails.len() == slots.len());
        Self { memory, slots, tails }
    }

    /// Number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no slots at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The slots, in order.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        self.slots
    }

    /// Has two slots change places.
    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        self.slots.swap(one, other);
        if !self.tails.is_empty() {
            self.tails.swap(one, other);
        }
    }

    /// The first `count` slots as a burst of their own.
    ///
    /// # Panics
    /// If there are not as many.
    pub(crate) fn first(&mut self, count: usize) -> Burst<'_> {
        let known = count.min(self.tails.len());
        Burst::with_tails(self.memory, &mut self.slots[..count], &mut self.tails[..known])
    }

    /// The bytes of frame `index` (receive), or all the room of its slot (transmit).
    #[inline]
    #[must_use]
    pub fn frame(&self, index: usize) -> &[u8] {
        let slot = &self.slots[index];
        &self.memory[slot.offset as usize..][..slot.len as usize]
    }

    /// As [`Self::frame`], and what is known of it.
    #[inline]
    #[must_use]
    pub fn seen(&self, index: usize) -> Seen<'_> {
        Seen::new(self.frame(index), self.tails.get(index).copied().unwrap_or_default())
    }

    /// Whether all bytes from `head` on of all frames of `run` are known to count up from 0.
    #[inline]
    #[must_use]
    pub fn count_from(&self, run: Range<usize>, head: usize) -> bool {
        let (Some(slots), Some(tails)) = (self.slots.get(run.clone()), self.tails.get(run)) else {
            return false;
        };
        slots.iter().zip(tails).all(|(slot, tail)| tail.says(head, slot.len as usize))
    }

    /// Whether anything may be known of its frames: if not, nothing is gained by saying what is.
    #[inline]
    #[must_use]
    pub fn keeps_tails(&self) -> bool {
        !self.tails.is_empty()
    }

    /// Returns the room of frame `index` to write into.
    #[inline]
    #[must_use]
    pub fn frame_mut(&mut self, index: usize) -> &mut [u8] {
        if let Some(tail) = self.tails.get_mut(index) {
            *tail = Tail::NONE;
        }
        let slot = &self.slots[index];
        &mut self.memory[slot.offset as usize..][..slot.len as usize]
    }

    /// Has `write` write frames from slot `first` on, one for each of `departures`: it is given the room of each slot and
    /// returns the frame's length. As [`Self::frame_mut`] and [`Self::set`] one by one, but faster.
    ///
    /// # Panics
    /// If there are not as many slots.
    #[inline]
    pub fn fill(&mut self, first: usize, departures: impl ExactSizeIterator<Item = Instant>, mut write: impl FnMut(&mut [u8]) -> usize) {
        // In a variable, or where the memory lies would be looked up again after every frame written to it.
        let memory = &mut *self.memory;
        if !self.tails.is_empty() {
            self.tails[first..][..departures.len()].fill(Tail::NONE);
        }
        for (slot, at) in self.slots[first..][..departures.len()].iter_mut().zip(departures) {
            let room = &mut memory[slot.offset as usize..][..slot.len as usize];
            slot.len = write(room) as u32;
            slot.at = at;
        }
    }

    /// As [`Self::fill`], into the slots `places`.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn fill_at(
        &mut self,
        places: &[u8],
        departures: impl ExactSizeIterator<Item = Instant>,
        mut write: impl FnMut(&mut [u8]) -> usize,
    ) {
        let (memory, slots) = (&mut *self.memory, &mut *self.slots);
        if !self.tails.is_empty() {
            places.iter().for_each(|place| self.tails[usize::from(*place)] = Tail::NONE);
        }
        for (&place, at) in places.iter().zip(departures) {
            let slot = &mut slots[usize::from(place)];
            let room = &mut memory[slot.offset as usize..][..slot.len as usize];
            slot.len = write(room) as u32;
            slot.at = at;
        }
    }

    /// As [`Self::fill`], of frames whose bytes from `head` on count up from 0: `write` writes the bytes before, and is given no
    /// others.
    ///
    /// # Panics
    /// If there are not as many slots, or they have no room for a head.
    #[inline]
    pub fn fill_heads(
        &mut self,
        first: usize,
        head: usize,
        departures: impl ExactSizeIterator<Item = Instant>,
        mut write: impl FnMut(&mut [u8]) -> usize,
    ) {
        let (memory, count) = (&mut *self.memory, departures.len());
        let slots = self.slots[first..][..count].iter_mut().zip(departures);
        let mut tails = self.tails.get_mut(first..).unwrap_or_default().iter_mut();
        for (slot, at) in slots {
            (slot.len, slot.at) = (write_head(memory, slot, tails.next(), head, &mut write), at);
        }
    }

    /// As [`Self::fill_heads`], into the slots `places`.
    ///
    /// # Panics
    /// If there is no such slot, or it has no room for a head.
    #[inline]
    pub fn fill_heads_at(
        &mut self,
        places: &[u8],
        head: usize,
        departures: impl ExactSizeIterator<Item = Instant>,
        mut write: impl FnMut(&mut [u8]) -> usize,
    ) {
        let memory = &mut *self.memory;
        for (&place, at) in places.iter().zip(departures) {
            let slot = &mut self.slots[usize::from(place)];
            let tail = self.tails.get_mut(usize::from(place));
            (slot.len, slot.at) = (write_head(memory, slot, tail, head, &mut write), at);
        }
    }

    /// Copies `frames` into the first slots, with their departures.
    ///
    /// # Panics
    /// If there are not as many slots, or one is too short for its frame.
    #[inline]
    pub fn fill_with<'b>(&mut self, frames: impl ExactSizeIterator<Item = (Seen<'b>, Instant)>) {
        let memory = &mut *self.memory;
        let slots = &mut self.slots[..frames.len()];
        if self.tails.is_empty() {
            for (slot, (frame, at)) in slots.iter_mut().zip(frames) {
                let (room, len) = (&mut memory[slot.offset as usize..][..slot.len as usize], frame.bytes().len());
                tail::copy(&mut room[..len], frame.bytes());
                (slot.len, slot.at) = (len as u32, at);
            }
            return;
        }
        for ((slot, tail), (frame, at)) in slots.iter_mut().zip(&mut *self.tails).zip(frames) {
            let room = &mut memory[slot.offset as usize..][..slot.len as usize];
            (slot.len, slot.at) = (Place::new(room, tail).copy(frame) as u32, at);
        }
    }

    /// Sets length and departure of the written frame.
    #[inline]
    pub fn set(&mut self, index: usize, len: usize, at: Instant) {
        let slot = &mut self.slots[index];
        slot.len = len as u32;
        slot.at = at;
    }
}

/// Has `write` write the first `head` bytes of the frame in `slot`, and lets those behind count up; the frame's length.
#[inline(always)]
fn write_head(memory: &mut [u8], slot: &Slot, tail: Option<&mut Tail>, head: usize, write: impl FnOnce(&mut [u8]) -> usize) -> u32 {
    let room = &mut memory[slot.offset as usize..][..slot.len as usize];
    let mut unknown = Tail::NONE;
    let mut place = Place::new(room, tail.unwrap_or(&mut unknown));
    let len = write(place.head(head));
    place.count_up(head, len);
    len as u32
}

/// What a port is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortInfo {
    /// Its name in the lab, `west`.
    pub name: String,
    /// The backend, `wire`, `ring`, `null`, `af_packet`, `af_xdp`.
    pub backend: String,
    /// Nominal rate of the link in L1 bits per second; 0 where there is none (`null`, `ring`, veth).
    pub rate_bps: u64,
    /// The longest frame a slot holds, without FCS.
    pub max_frame: u32,
    /// What its timestamps, `Slot::at`, are worth.
    pub time: Timestamps,
    /// What it turned out to be, for people: `copy, generic attach, need-wakeup`. Empty where there is nothing to say.
    #[serde(default)]
    pub detail: String,
}

impl PortInfo {
    /// Whether the port follows the virtual clock: departures are honoured, arrivals exact.
    #[inline]
    #[must_use]
    pub fn has_exact_time(&self) -> bool {
        self.time == Timestamps::Exact
    }
}

/// Where the timestamps of a port come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timestamps {
    /// Virtual time: departures are honoured, arrivals exact.
    Exact,
    /// Real time: an arrival is timed by the card.
    Hardware,
    /// Real time: an arrival is timed by the poll that found the frame, or by the kernel. Departures are not honoured.
    Software,
}

/// What the port itself counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounters {
    /// Frames handed to the wire, the kernel or the peer.
    pub tx_frames: u64,
    /// Frames received and lent to a reader.
    pub rx_frames: u64,
    /// Frames this end dropped because the reader was late (socket buffer full).
    pub rx_dropped: u64,
    /// Frames this end dropped because they were longer than `max_frame` and would have been cut (memif: or shorter than
    /// an Ethernet header).
    #[serde(default)]
    pub rx_cut: u64,
    /// Times transmit found no room.
    pub tx_full: u64,
    /// Times transmit found no peer connected.
    #[serde(default)]
    pub tx_no_peer: u64,
    /// Frames of `tx_frames` that this end, its kernel or its driver dropped before the wire, as far as it knows.
    #[serde(default)]
    pub tx_dropped: u64,
    /// Looks at a ring before which it was full, or may have been: so much had come since the look before. Where a peer
    /// drops what finds no room, it may have done so then, and nobody counted it.
    #[serde(default)]
    pub rx_full: u64,
    /// The time before those looks, each from the look before it, ns: what was dropped so came then.
    #[serde(default)]
    pub rx_full_ns: u64,
    /// The most frames that were still on their way out of this machine when further ones were handed over, since
    /// [`Port::ready`]: so many leave between the time those say that they departed and their departure.
    #[serde(default)]
    pub tx_ahead: u64,
    /// How the peer's full ring held this end back; absent where a port has no such peer: other rings are emptied by the kernel
    /// or by this process.
    #[serde(default)]
    pub back_pressure: Option<BackPressure>,
}

impl PortCounters {
    /// Returns the counts since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            tx_frames: self.tx_frames.saturating_sub(before.tx_frames),
            rx_frames: self.rx_frames.saturating_sub(before.rx_frames),
            rx_dropped: self.rx_dropped.saturating_sub(before.rx_dropped),
            rx_cut: self.rx_cut.saturating_sub(before.rx_cut),
            tx_full: self.tx_full.saturating_sub(before.tx_full),
            tx_no_peer: self.tx_no_peer.saturating_sub(before.tx_no_peer),
            tx_dropped: self.tx_dropped.saturating_sub(before.tx_dropped),
            rx_full: self.rx_full.saturating_sub(before.rx_full),
            rx_full_ns: self.rx_full_ns.saturating_sub(before.rx_full_ns),
            tx_ahead: self.tx_ahead,
            back_pressure: self.back_pressure.map(|now| now.since(&before.back_pressure.unwrap_or_default())),
        }
    }
}

impl AddAssign for PortCounters {
    /// What several queues counted.
    fn add_assign(&mut self, more: Self) {
        self.tx_frames += more.tx_frames;
        self.rx_frames += more.rx_frames;
        self.rx_dropped += more.rx_dropped;
        self.rx_cut += more.rx_cut;
        self.tx_full += more.tx_full;
        self.tx_no_peer += more.tx_no_peer;
        self.tx_dropped += more.tx_dropped;
        self.rx_full += more.rx_full;
        self.rx_full_ns += more.rx_full_ns;
        self.tx_ahead = self.tx_ahead.max(more.tx_ahead);
        self.back_pressure = match (self.back_pressure, more.back_pressure) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
    }
}

/// Why a port did not open or stopped working.
#[derive(Debug)]
pub enum PortError {
    /// The operating system refused; `what` names the call and the interface.
    System {
        /// The call and the interface.
        what: String,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it, where that is known.
        hint: Option<String>,
    },
    /// The interface or peer is gone.
    Gone {
        /// Port name.
        port: String,
        /// What happened.
        why: String,
    },
    /// The specification cannot be met by this backend.
    Unfit {
        /// Port name.
        port: String,
        /// What does not fit.
        why: String,
    },
    /// The system gives no TAP interfaces.
    NoTap {
        /// What was asked for.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The other end of the port is another process, which was not connected in time.
    Absent {
        /// Port name.
        port: String,
        /// How long the port waited for it, ms.
        waited_ms: u64,
        /// What kept it away.
        why: Absence,
    },
}

/// Why the process at the other end of a port is not connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// No server listens at the socket.
    NobodyListens {
        /// Where it should.
        socket: String,
        /// What `connect` said; nothing before the first attempt.
        error: String,
        /// Whether the socket's file is there, left over from a server that ended.
        is_left_over: bool,
    },
    /// No client has connected to the socket.
    NobodyConnected {
        /// Where it should.
        socket: String,
    },
    /// The two ends did not agree.
    Disagreed {
        /// Where they met.
        socket: String,
        /// Why not.
        why: String,
        /// Whether it is because the peer has fewer queues than the port.
        has_fewer_queues: bool,
    },
    /// There was a connection, which ended.
    Ended {
        /// Why it did.
        why: String,
    },
}

reasons! {
    /// What a [`PortError`] says, by code.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PortReason {
        /// The operating system refused a call that the port needs.
        System {
            /// The call and the interface.
            what: String,
            /// What the system said.
            error: String,
            /// Its number, 0 if it has none.
            errno: i32,
        } = "port-system", "{what}: {error}";
        /// The system gives no TAP interfaces, or not in this namespace.
        NoTap {
            /// What was asked for.
            what: String,
            /// What the system said.
            error: String,
            /// Its number, 0 if it has none.
            errno: i32,
        } = "no-tap", "no TAP interfaces: {what}: {error}";
        /// The interface of the port is down or removed, or its peer ended the connection.
        Gone {
            /// Port name.
            port: String,
            /// What happened.
            why: String,
        } = "port-gone", "port `{port}` is gone: {why}";
        /// The port cannot be as the specification asks.
        Unfit {
            /// Port name.
            port: String,
            /// What does not fit.
            why: String,
        } = "port-unfit", "port `{port}`: {why}";
        /// No server listens at the memif socket.
        NobodyListens {
            /// Port name.
            port: String,
            /// How long the port waited, ms.
            waited_ms: u64,
            /// Where nobody listens.
            socket: String,
            /// What `connect` said.
            error: String,
            /// Whether the socket's file is left over from a server that ended.
            is_left_over: bool,
        } = "memif-nobody-listens", "port `{port}`: no peer within {waited_ms} ms: no server listens at `{socket}` ({error})";
        /// No client has connected to the memif socket.
        NobodyConnected {
            /// Port name.
            port: String,
            /// How long the port waited, ms.
            waited_ms: u64,
            /// Where nobody connected.
            socket: String,
        } = "memif-nobody-connected", "port `{port}`: no peer within {waited_ms} ms: no client has connected to `{socket}`";
        /// The memif peer and the port did not agree.
        Disagreed {
            /// Port name.
            port: String,
            /// How long the port waited, ms.
            waited_ms: u64,
            /// Where they met.
            socket: String,
            /// Why they did not agree.
            why: String,
        } = "memif-disagreed", "port `{port}`: no peer within {waited_ms} ms: the connection at `{socket}` failed: {why}";
        /// The memif peer has fewer queues than the port.
        FewerQueues {
            /// Port name.
            port: String,
            /// How long the port waited, ms.
            waited_ms: u64,
            /// Where they met.
            socket: String,
            /// What the peer, or this end, said.
            why: String,
        } = "memif-fewer-queues", "port `{port}`: no peer within {waited_ms} ms: the connection at `{socket}` failed: {why}";
        /// The memif connection ended, and the peer did not come back in time.
        Ended {
            /// Port name.
            port: String,
            /// How long the port waited, ms.
            waited_ms: u64,
            /// Why the connection ended.
            why: String,
        } = "memif-ended", "port `{port}`: no peer within {waited_ms} ms: {why}";
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

impl std::error::Error for PortError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<&PortError> for Reason {
    fn from(error: &PortError) -> Self {
        error.reason().into()
    }
}

impl PortError {
    /// The error as code and fields.
    #[must_use]
    pub fn reason(&self) -> PortReason {
        let (port, waited_ms, why) = match self {
            Self::System { what, source, .. } => {
                return PortReason::System {
                    what: what.clone(),
                    error: source.to_string(),
                    errno: source.raw_os_error().unwrap_or(0),
                };
            }
            Self::NoTap { what, source } => {
                return PortReason::NoTap {
                    what: what.clone(),
                    error: source.to_string(),
                    errno: source.raw_os_error().unwrap_or(0),
                };
            }
            Self::Gone { port, why } => {
                let (port, why) = (port.clone(), why.clone());
                return PortReason::Gone { port, why };
            }
            Self::Unfit { port, why } => {
                let (port, why) = (port.clone(), why.clone());
                return PortReason::Unfit { port, why };
            }
            Self::Absent { port, waited_ms, why } => (port.clone(), *waited_ms, why.clone()),
        };
        match why {
            Absence::NobodyListens {
                socket,
                error,
                is_left_over,
            } => PortReason::NobodyListens {
                port,
                waited_ms,
                socket,
                error,
                is_left_over,
            },
            Absence::NobodyConnected { socket } => PortReason::NobodyConnected { port, waited_ms, socket },
            Absence::Disagreed {
                socket,
                why,
                has_fewer_queues: true,
            } => PortReason::FewerQueues {
                port,
                waited_ms,
                socket,
                why,
            },
            Absence::Disagreed { socket, why, .. } => PortReason::Disagreed {
                port,
                waited_ms,
                socket,
                why,
            },
            Absence::Ended { why } => PortReason::Ended { port, waited_ms, why },
        }
    }

    /// The system refused `what`.
    pub(crate) fn system(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::System {
            what: what.into(),
            source,
            hint: None,
        }
    }

    /// The same, with what helps.
    pub(crate) fn with_hint(what: impl Into<String>, source: std::io::Error, hint: Option<&str>) -> Self {
        Self::System {
            what: what.into(),
            source,
            hint: hint.map(str::to_owned),
        }
    }
}

/// Something frames can be sent to and received from.
pub trait Port: Send {
    /// What it is.
    fn info(&self) -> &PortInfo;

    /// Lends up to `limit` slots to `fill`, which writes frames from the first slot on, calls
    /// [`Burst::set`] for each, and returns how many it wrote. Returns how many were taken; fewer
    /// than written only if the burst could not all be handed over (those are not sent).
    ///
    /// A port may lend fewer slots than `limit` at any time (its own burst size, the end of its
    /// memory); `fill` looks at [`Burst::len`]. With no room at all `fill` is not called and the
    /// answer is 0. What lies in a lent slot is left over from an earlier frame.
    ///
    /// # Errors
    /// If the port is gone or the system refuses; [`PortError::Unfit`], with nothing of the burst
    /// sent, if a frame is shorter than [`MIN_SENT_BYTES`] or longer than its slot, or if `fill`
    /// claims more frames than it was lent.
    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError>;

    /// Lends up to `limit` frames that have arrived by `now` to `read`, then takes the slots back.
    /// `read` is not called when there is nothing. Returns how many frames were lent: 0 means that
    /// nothing more has arrived by `now`; fewer than `limit` does not.
    ///
    /// # Errors
    /// If the port is gone or the system refuses.
    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError>;

    /// Called before a trial, and may take its time: what happened to the port until now is nothing to that trial, and a
    /// port whose peer is away waits for it.
    ///
    /// # Errors
    /// If the peer does not come, or the port has gone since.
    fn ready(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// When the next frame will have arrived, if the port knows (virtual time only).
    fn next_arrival(&self) -> Option<Instant> {
        None
    }

    /// Says which of the frames that come in are this port's, in place of what was said before. A port that shares its
    /// interface with the kernel receives these, and leaves it all others; until then it receives none. Ports that share
    /// nothing receive everything, and need not be asked.
    ///
    /// # Errors
    /// If the port is gone or the system refuses.
    fn claim(&mut self, _claims: &[Claim]) -> Result<(), PortError> {
        Ok(())
    }

    /// The earliest departure that the port takes, where it takes none before (virtual time only).
    fn room_from(&self) -> Instant {
        Instant::ZERO
    }

    /// Gives a port in real time the clock of its session, which it then reads once a burst received.
    /// With the caller's `now` alone a frame that came in since would seem to have arrived before it did,
    /// by as long as the thread was away: latencies of nothing, or less.
    fn use_clock(&mut self, _clock: Clock) {}

    /// What frames that are about to be sent should say of their departure: the time by the port's clock, if it
    /// has one, else the caller's `now`. Never before that.
    fn time(&self, now: Instant) -> Instant {
        now
    }

    /// What the kernel can wake a thread by when a frame comes in, where there is such a thing; open as long as the port.
    fn socket(&self) -> Option<RawFd> {
        None
    }

    /// The process at the other end, where there is one and the kernel tells which.
    fn peer(&self) -> Option<u32> {
        None
    }

    /// What this end has counted.
    fn counters(&self) -> PortCounters;

    /// When a ring that this end receives into may have been full, since [`Self::ready`], in order.
    fn full_spans(&self) -> &[Span] {
        &[]
    }
}

/// Returns the error for frame `index` of a burst with a length that cannot be sent.
#[cold]
pub(crate) fn refuse_length(info: &PortInfo, index: usize, len: u32) -> PortError {
    PortError::Unfit {
        port: info.name.clone(),
        why: format!(
            "frame {index} of a burst has {len} bytes without FCS; this {} port sends {MIN_SENT_BYTES} to {}",
            info.backend, info.max_frame
        ),
    }
}

/// Returns the error for a `fill` that wrote more frames than there were slots.
#[cold]
pub(crate) fn refuse_count(info: &PortInfo, wrote: usize, lent: usize) -> PortError {
    PortError::Unfit {
        port: info.name.clone(),
        why: format!("{wrote} frames were written into {lent} slots"),
    }
}
