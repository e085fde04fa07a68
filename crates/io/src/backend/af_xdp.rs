//! A kernel interface through AF_XDP sockets: frames in memory shared with the kernel, one system call a burst to send in
//! copy mode, none to receive.
//!
//! A BPF program in the interface's receive path hands us the frames that were [claimed](Port::claim) and leaves all
//! others to the kernel, so that ARP, LLDP and routing protocols of this machine keep working on a loaded port. It is
//! attached by a BPF link (Linux 5.9), which ends with the process, even one that is killed.
//!
//! `Slot::at` is not honoured on transmit; on receive it is the time of the poll that found the frame.

mod attachment;
mod bpf;
mod memory;
mod open;
mod options;
mod program;
mod socket;

pub use options::{AfXdp, Attach, Mode};

use super::ask::{Ask, Backend, ClockFit, Placement, Queues, check_max_frame};
use super::interface::{self, Watch};
use crate::claim::Claim;
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, Timestamps, refuse_count, refuse_length};
use crate::region::{Region, stride_for};
use crate::time::{Clock, Duration, Instant, sleep};
use attachment::Attachment;
use memory::{Descriptor, Mapping};
use socket::{BATCH, Frames, XdpSocket};
use std::io;
use std::sync::Arc;

impl Backend for AfXdp {
    const NAME: &'static str = "af_xdp";
    const DOC: &'static str = "A kernel interface through AF_XDP; needs root. What is not test traffic stays the kernel's.";
    const CLOCK: ClockFit = ClockFit::Real;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        let open = |ask: &Ask<'_, Self>| -> Result<Queues, PortError> {
            let AfXdp { interface, attach, mode } = ask.spec;
            let ports = AfXdpPort::open(ask.name, interface, *attach, *mode, ask.max_frame, ask.queues, ask.may_go)?;
            Ok(ports.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect())
        };
        asks.iter().map(open).collect()
    }
}

/// Fewest that a call sends which has not come to the end: `TX_BATCH_SIZE` of Linux before 5.11.
const A_CALL: u32 = 16;
/// Frames lent at once that were received: there is no call that sets a size.
const MOST_RECEIVED: usize = 256;
/// Ethernet header and one VLAN tag.
const HEADER_BYTES: u32 = 18;
/// Drivers that start anew with the program take some seconds to have a link again.
const CARRIER_ROUNDS: u32 = 250;
const CARRIER_PAUSE: Duration = Duration::from_ms(20);
/// How often the state of the interface is looked at: a system call that tells what receiving does not.
const LOOK: Duration = Duration::from_ms(10);

/// One queue of a kernel interface.
#[derive(Debug)]
pub struct AfXdpPort {
    info: PortInfo,
    interface: String,
    /// See `interface::BpfLink`.
    cable: bool,
    zero_copy: bool,
    socket: XdpSocket,
    frames: Frames,
    /// Offsets of frames to send from that are free, among those; the last was used last, and is still in the cache.
    free: Vec<u32>,
    /// Frames may be left in the ring that sends.
    unsent: bool,
    /// What is lent.
    slots: Vec<Slot>,
    tx_frames: u64,
    rx_frames: u64,
    tx_full: u64,
    /// Frames that a driver said it had dropped.
    tx_dropped: u64,
    tx_ahead: u64,
    rx_cut: u64,
    watch: Watch,
    /// What is lent without a carrier, and goes nowhere.
    nowhere: Option<Region>,
    /// When to look at the interface again.
    look_at: Instant,
    clock: Option<Clock>,
    /// Behind the socket: the program goes when the last queue has gone.
    attachment: Arc<Attachment>,
}

impl AfXdpPort {
    /// Opens the first `queues` queues of `interface` of the calling thread's network namespace as port `name`.
    ///
    /// A slot holds `max_frame` bytes without FCS, or what the interface can carry with one VLAN tag if that is less. `may_go`:
    /// see [`Ask::may_go`].
    ///
    /// # Errors
    /// If the interface does not exist, is down, has an XDP program or more queues than are opened; if the frames are too
    /// long, or the system refuses: what, and what to do.
    pub fn open(
        name: &str,
        interface: &str,
        attach: Attach,
        mode: Mode,
        max_frame: u32,
        queues: usize,
        may_go: bool,
    ) -> Result<Vec<Self>, PortError> {
        check_max_frame(name, max_frame)?;
        let unfit = |why: String| PortError::Unfit {
            port: name.to_owned(),
            why,
        };
        let link = interface::look_up(name, interface)?;
        let max_frame = max_frame.min(link.mtu + HEADER_BYTES);
        if open::chunk(max_frame, false).is_none() {
            let most = open::CHUNKS[1] - open::HEADROOM;
            return Err(unfit(format!(
                "frames of up to {max_frame} bytes without FCS; AF_XDP carries up to {most}: use `af_packet` for longer ones"
            )));
        }
        if let Some(there) = link.receive_queues.filter(|there| *there as usize != queues) {
            return Err(unfit(format!(
                "interface `{interface}` has {} and {} opened, so test frames would be missed or queues be idle; have as many \
                 workers, or make them as many: ethtool -L {interface} combined {queues}",
                some(there as usize, "receive queue"),
                if queues == 1 {
                    "one is".to_owned()
                } else {
                    format!("{queues} are")
                },
            )));
        }
        let watch =
            || Watch::new(interface, may_go).map_err(|source| PortError::system(format!("socket for interface `{interface}`"), source));
        let had_carrier = watch()?.has_carrier();
        let attachment = Attachment::new(name, interface, link.index, attach, link.cable, queues as u32)?;
        let mut ports = Vec::new();
        for queue in 0..queues as u32 {
            let (socket, frames) = open::queue(name, interface, (link.index, queue), max_frame, mode, attachment.native)?;
            attachment.serve(queue, &socket)?;
            let zero_copy = socket.is_zero_copy().unwrap_or(false);
            ports.push((socket, frames, zero_copy));
        }
        let mut rounds = 0;
        while had_carrier && rounds < CARRIER_ROUNDS && !watch()?.has_carrier() {
            sleep(CARRIER_PAUSE);
            rounds += 1;
        }
        let attachment = Arc::new(attachment);
        let port = |(socket, frames, zero_copy)| {
            Ok(Self {
                info: PortInfo {
                    name: name.to_owned(),
                    backend: AfXdp::NAME.to_owned(),
                    rate_bps: link.rate_bps,
                    max_frame,
                    time: Timestamps::Software,
                    detail: open::detail(zero_copy, attachment.native, frames),
                },
                interface: interface.to_owned(),
                cable: link.cable,
                zero_copy,
                socket,
                frames,
                free: (0..frames.send).rev().map(|frame| frame * frames.chunk).collect(),
                unsent: false,
                slots: vec![Slot::default(); MOST_RECEIVED],
                tx_frames: 0,
                rx_frames: 0,
                tx_full: 0,
                tx_dropped: 0,
                tx_ahead: 0,
                rx_cut: 0,
                watch: watch()?,
                nowhere: None,
                look_at: Instant::ZERO,
                clock: None,
                attachment: Arc::clone(&attachment),
            })
        };
        ports.into_iter().map(port).collect()
    }

    /// Takes back the frames that the kernel has sent.
    fn reclaim(&mut self) {
        let start = u64::from(self.frames.receive) * u64::from(self.frames.chunk);
        let done = self.socket.sent.ready(self.frames.send);
        for index in 0..done {
            self.free.push((self.socket.sent.peek(index) - start) as u32);
        }
        if done > 0 {
            self.socket.sent.release(done);
        }
    }

    /// Has the kernel send what is in the ring.
    fn kick(&mut self) -> Result<(), PortError> {
        let mut waiting = self.socket.send.waiting();
        // What calls may have sent without the ring saying so: kernels before 5.11 say how far they came once they came to
        // the end of it, and some later ones say nothing of a call that did no more than drop a frame. What a call answers
        // is no progress: a driver that is being set up anew may say that it is busy for as long as it likes, and takes
        // nothing.
        let mut unseen = 0;
        while waiting > 0 && unseen <= waiting && self.socket.send.wants_wakeup() {
            unseen += match self.socket.wake_to_send() {
                // To the end of the ring; or the driver sends by itself from here on.
                Ok(()) => waiting + 1,
                // In copy mode ended by a frame that was taken from the ring and dropped (`NET_XMIT_DROP`, net/xdp/xsk.c). A
                // veth has no ring of its own to be full: since Linux 6.2 it says so when its far end dropped a frame. That
                // frame was sent, and lost where the device takes frames in; any other is one that never was on the wire.
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    self.tx_dropped += u64::from(!self.cable && !self.zero_copy);
                    if self.zero_copy { A_CALL } else { 1 }
                }
                Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR)) => A_CALL,
                // Switched off, as it may be: what is in the ring leaves once there is a link again.
                Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) && self.watch.fault().is_none() => waiting + 1,
                Err(error) => return Err(self.failed("sendto", error)),
            };
            let before = std::mem::replace(&mut waiting, self.socket.send.waiting());
            if waiting < before {
                unseen = 0;
            }
        }
        self.unsent = waiting > 0 && !self.zero_copy;
        Ok(())
    }

    /// Takes frames that are due without a carrier: they are sent, and lost. In the ring they would leave behind those that
    /// are due once there is one again.
    #[cold]
    fn lose(&mut self, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let (max_frame, stride) = (self.info.max_frame, stride_for(self.info.max_frame as usize));
        let nowhere = self.nowhere.get_or_insert_with(|| Region::zeroed(BATCH * stride));
        let slots = &mut self.slots[..limit.min(BATCH)];
        for (place, slot) in slots.iter_mut().enumerate() {
            (slot.offset, slot.len) = ((place * stride) as u32, max_frame);
        }
        let lent = slots.len();
        let wrote = fill(&mut Burst::new(nowhere.bytes(), slots));
        if wrote > lent {
            return Err(refuse_count(&self.info, wrote, lent));
        }
        self.tx_frames += wrote as u64;
        Ok(wrote)
    }

    fn failed(&self, call: &str, error: io::Error) -> PortError {
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => PortError::Gone {
                port: self.info.name.clone(),
                why: format!("interface `{}` is down or was removed ({error})", self.interface),
            },
            _ => PortError::system(format!("{call} on interface `{}`", self.interface), error),
        }
    }

    /// Looks at the interface now and then.
    #[cold]
    fn look(&mut self, now: Instant) -> Result<(), PortError> {
        self.look_at = now + LOOK;
        if let Some(error) = self.socket.take_error() {
            return Err(self.failed("AF_XDP socket", error));
        }
        match self.watch.fault() {
            None => Ok(()),
            Some(fault) => Err(PortError::Gone {
                port: self.info.name.clone(),
                why: format!("interface `{}` {fault}", self.interface),
            }),
        }
    }
}

impl Port for AfXdpPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn ready(&mut self) -> Result<(), PortError> {
        self.tx_ahead = 0;
        Ok(())
    }

    fn claim(&mut self, claims: &[Claim]) -> Result<(), PortError> {
        self.attachment.claim(claims)
    }

    fn use_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.clock.map_or(now, |clock| clock.now().max(now))
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        if limit == 0 {
            return Ok(0);
        }
        self.reclaim();
        if self.watch.has_lost_carrier() {
            return self.lose(limit, fill);
        }
        if self.unsent {
            self.kick()?;
        }
        // What is left in the ring would only leave later than it says it does.
        let lent = if self.unsent { 0 } else { limit.min(BATCH).min(self.free.len()) };
        if lent == 0 {
            self.tx_full += 1;
            return Ok(0);
        }
        let max_frame = self.info.max_frame;
        let slots = &mut self.slots[..lent];
        for (slot, offset) in slots.iter_mut().zip(self.free.iter().rev()) {
            (slot.offset, slot.len) = (*offset, max_frame);
        }
        let start = self.frames.receive as usize * self.frames.chunk as usize;
        // SAFETY: the part of the memory behind what is received into. The kernel only reads there, from frames that are
        // not free; those that are lent are this port's alone (`&mut self`).
        let memory = unsafe { part(&self.socket.memory, start, self.socket.memory.len() - start) };
        let wrote = fill(&mut Burst::new(memory, slots));
        if wrote > lent {
            return Err(refuse_count(&self.info, wrote, lent));
        }
        for (index, slot) in slots[..wrote].iter().enumerate() {
            if !(MIN_SENT_BYTES..=max_frame).contains(&slot.len) {
                return Err(refuse_length(&self.info, index, slot.len));
            }
        }
        if wrote == 0 {
            return Ok(0);
        }
        let descriptor = |slot: &Slot| Descriptor {
            address: start as u64 + u64::from(slot.offset),
            len: slot.len,
            options: 0,
        };
        self.tx_ahead = self.tx_ahead.max(u64::from(self.frames.send) - self.free.len() as u64);
        // The ring has an entry for each frame there is.
        self.socket.send.put(slots[..wrote].iter().map(descriptor));
        self.free.truncate(self.free.len() - wrote);
        self.tx_frames += wrote as u64;
        self.kick()?;
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        if now >= self.look_at {
            self.look(now)?;
        }
        if self.unsent {
            self.kick()?;
        }
        loop {
            let ready = self.socket.received.ready(limit.min(MOST_RECEIVED) as u32);
            if ready == 0 {
                if self.zero_copy && self.socket.fill.wants_wakeup() {
                    self.socket.wake_to_receive();
                }
                return Ok(0);
            }
            let found = self.clock.map_or(now, |clock| clock.now());
            let mut kept = 0;
            for index in 0..ready {
                let frame = self.socket.received.peek(index);
                if frame.len > self.info.max_frame {
                    continue;
                }
                self.slots[kept] = Slot {
                    offset: frame.address as u32,
                    len: frame.len,
                    at: found,
                };
                kept += 1;
            }
            if kept > 0 {
                let bytes = self.frames.receive as usize * self.frames.chunk as usize;
                // SAFETY: the part of the memory that is received into. The kernel writes to frames that it was given; those
                // that are lent it has handed over, and they are this port's alone (`&mut self`) until given back below.
                let memory = unsafe { part(&self.socket.memory, 0, bytes) };
                read(&mut Burst::new(memory, &mut self.slots[..kept]));
            }
            let XdpSocket { received, fill, .. } = &mut self.socket;
            // Where a frame's memory begins; the ring has an entry for each there is.
            let chunk = !u64::from(self.frames.chunk - 1);
            fill.put((0..ready).map(|index| received.peek(index).address & chunk));
            received.release(ready);
            self.rx_frames += kept as u64;
            self.rx_cut += u64::from(ready) - kept as u64;
            // Frames that are all too long are no answer: 0 would say that nothing more waits.
            if kept > 0 {
                return Ok(kept);
            }
        }
    }

    fn counters(&self) -> PortCounters {
        let dropped = self.socket.dropped();
        // In copy mode a frame that found no place is counted already.
        let starved = if self.zero_copy { dropped.starved } else { 0 };
        PortCounters {
            tx_frames: self.tx_frames,
            rx_frames: self.rx_frames,
            rx_dropped: dropped.frames + starved,
            rx_cut: self.rx_cut,
            tx_full: self.tx_full,
            tx_dropped: self.tx_dropped + dropped.invalid,
            // What found no room is counted.
            rx_full: 0,
            rx_full_ns: 0,
            tx_ahead: self.tx_ahead,
            ..PortCounters::default()
        }
    }
}

/// # Safety
/// Nobody else of this process uses the range while what this returns is; the kernel uses none of the frames in it that
/// are looked at.
#[allow(clippy::mut_from_ref)] // the mapping is an address; who owns which frame, the rings say
unsafe fn part(memory: &Mapping, start: usize, bytes: usize) -> &mut [u8] {
    assert!(start + bytes <= memory.len());
    // SAFETY: inside the mapping by the assertion, zeroed by the kernel, exclusive by this function's contract.
    unsafe { std::slice::from_raw_parts_mut(memory.as_ptr().add(start), bytes) }
}

/// A number of things in words: `1 receive queue`, `4 receive queues`.
fn some(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
