//! A kernel interface through a packet socket: works on any interface, with one system call a burst.
//!
//! Sends with `sendmmsg`, receives with `recvmmsg` (packet(7)). No memory is allocated and nothing is
//! copied by netdyno on the way, but for the twelve address bytes of a frame whose VLAN tag the kernel
//! took off and which is put back.
//!
//! `Slot::at` is not honoured on transmit; on receive it is the time of the poll that found the frame.

pub(crate) mod socket;

use super::ask::{Ask, Backend, ClockFit, Placement, Queues, check_max_frame};
use super::interface::{self, Hold, InterfaceFacts, Watch};
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, Timestamps, refuse_count, refuse_length};
use crate::region::{Region, stride_for};
use crate::time::{Clock, Instant};
use serde::{Deserialize, Serialize};
use socket::{CONTROL_BYTES, PacketSocket};
use std::cell::Cell;
use std::io;
use std::os::fd::RawFd;

/// A kernel interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AfPacket {
    /// Interface name.
    pub interface: String,
}

impl Backend for AfPacket {
    const NAME: &'static str = "af_packet";
    const DOC: &'static str = "A kernel interface through a packet socket; needs CAP_NET_RAW (root, or a user namespace).";
    const CLOCK: ClockFit = ClockFit::Real;

    fn open(asks: &[Ask<'_, Self>], _: &Placement) -> Result<Vec<Queues>, PortError> {
        let open = |ask: &Ask<'_, Self>| -> Result<Queues, PortError> {
            let queues = AfPacketPort::open_queues(ask.name, &ask.spec.interface, ask.max_frame, ask.queues, ask.may_go)?;
            Ok(queues.into_iter().map(|queue| Box::new(queue) as Box<dyn Port>).collect())
        };
        asks.iter().map(open).collect()
    }
}

/// Frames a system call: 64 reach nearly all of what 256 do, and keep the frames in the cache.
const BATCH: usize = 64;
/// Ethernet header of an untagged frame.
const ETHERNET_BYTES: u32 = 14;
/// A VLAN tag: TPID and TCI (IEEE 802.1Q clause 9.3), between the addresses and the type.
const TAG_BYTES: usize = 4;
const ADDRESSES_BYTES: usize = 12;

/// A port on a kernel interface.
#[derive(Debug)]
pub struct AfPacketPort {
    info: PortInfo,
    interface: String,
    socket: PacketSocket,
    /// See `interface::InterfaceFacts`.
    cable: bool,
    tx: Batch,
    rx: Batch,
    tx_frames: u64,
    rx_frames: u64,
    tx_full: u64,
    /// Frames longer than a slot.
    rx_cut: u64,
    /// What the socket has dropped; the kernel's figure starts again at each reading.
    rx_dropped: Cell<u64>,
    clock: Option<Clock>,
    watch: Watch,
    _hold: Hold,
}

impl AfPacketPort {
    /// Opens `interface` of the calling thread's network namespace as port `name`.
    ///
    /// A slot holds `max_frame` bytes without FCS, or what the interface can carry with one VLAN tag if
    /// that is less; `info().max_frame` says which.
    ///
    /// # Errors
    /// If the interface does not exist (the message lists those that do), is down or another tester's, or the system refuses.
    pub fn open(name: &str, interface: &str, max_frame: u32) -> Result<Self, PortError> {
        let mut queues = Self::open_queues(name, interface, max_frame, 1, false)?;
        Ok(queues.swap_remove(0))
    }

    fn open_queue(
        name: &str,
        interface: &str,
        max_frame: u32,
        link: &InterfaceFacts,
        hold: &Hold,
        may_go: bool,
    ) -> Result<Self, PortError> {
        let socket = PacketSocket::open(interface, link.index)?;
        let mut watch =
            Watch::new(interface, may_go).map_err(|source| PortError::system(format!("socket for interface `{interface}`"), source))?;
        // A link that is up now can be lost.
        let _ = watch.fault();
        let max_frame = max_frame.min(link.mtu + ETHERNET_BYTES + TAG_BYTES as u32);
        Ok(Self {
            info: PortInfo {
                name: name.to_owned(),
                backend: AfPacket::NAME.to_owned(),
                rate_bps: link.rate_bps,
                max_frame,
                time: Timestamps::Software,
                detail: String::new(),
            },
            interface: interface.to_owned(),
            socket,
            cable: link.cable,
            tx: Batch::new(max_frame, 0),
            rx: Batch::new(max_frame, TAG_BYTES),
            tx_frames: 0,
            rx_frames: 0,
            tx_full: 0,
            rx_cut: 0,
            rx_dropped: Cell::new(0),
            clock: None,
            watch,
            _hold: hold.clone(),
        })
    }

    /// As [`Self::open`], as `queues` sockets that receive some of the flows each (packet(7), `PACKET_FANOUT_HASH`). `may_go`:
    /// see [`Ask::may_go`].
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_queues(name: &str, interface: &str, max_frame: u32, queues: usize, may_go: bool) -> Result<Vec<Self>, PortError> {
        check_max_frame(name, max_frame)?;
        let link = interface::look_up(name, interface)?;
        let hold = Hold::take(name, interface, link.index)?;
        let opened = (0..queues).map(|_| Self::open_queue(name, interface, max_frame, &link, &hold, may_go));
        let mut ports = opened.collect::<Result<Vec<_>, _>>()?;
        if queues > 1 {
            let mut group = None;
            for port in &mut ports {
                let joined = port.socket.fan_out(group).map_err(|source| {
                    let hint = Some("several workers on packet sockets need Linux 5.10: take one worker");
                    PortError::with_hint(format!("PACKET_FANOUT on interface `{interface}`"), source, hint)
                })?;
                group = Some(joined);
                port.info.detail = format!("{queues} sockets, PACKET_FANOUT_HASH");
            }
            // Before they were a group each of them received everything.
            ports.iter().for_each(|port| port.socket.flush());
        }
        Ok(ports)
    }

    /// Hands the kernel the first `wrote` frames of the batch; how many it took.
    fn send(&mut self, wrote: usize) -> Result<usize, PortError> {
        let mut taken = 0;
        while taken < wrote {
            match self.socket.send(&mut self.tx.messages[taken..wrote]) {
                Ok(more) => taken += more,
                // A veth has no ring of its own to be full: since Linux 6.2 it says so when its far end
                // dropped a frame. That frame was sent, and lost where the device takes frames in; to
                // send it again would hide the device's loss in a tester that seems slow.
                Err(error) if self.cable && error.raw_os_error() == Some(libc::ENOBUFS) => taken += 1,
                // Without a carrier the kernel drops what is due: it is sent, and lost.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENETDOWN)) && self.lacks_carrier() => {
                    return Ok(wrote);
                }
                Err(error) if taken > 0 || would_wait(&error) => break,
                Err(error) => return Err(self.failed("sendmmsg", error)),
            }
            if !self.cable {
                break;
            }
        }
        Ok(taken)
    }

    /// Whether the link was lost.
    #[cold]
    fn lacks_carrier(&mut self) -> bool {
        self.watch.fault().is_none() && self.watch.has_lost_carrier()
    }

    fn failed(&self, call: &str, error: io::Error) -> PortError {
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => PortError::Gone {
                port: self.info.name.clone(),
                why: format!("interface `{}` is down or was removed ({error})", self.interface),
            },
            Some(libc::EMSGSIZE) => PortError::Unfit {
                port: self.info.name.clone(),
                why: format!(
                    "a frame is longer than interface `{}` sends; raise its MTU: ip link set {} mtu 9000",
                    self.interface, self.interface
                ),
            },
            _ => PortError::system(format!("{call} on interface `{}`", self.interface), error),
        }
    }
}

impl Port for AfPacketPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn use_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.clock.map_or(now, |clock| clock.now().max(now))
    }

    fn transmit(&mut self, _now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let lent = limit.min(BATCH);
        if lent == 0 {
            return Ok(0);
        }
        let max_frame = self.info.max_frame;
        for slot in &mut self.tx.slots[..lent] {
            slot.len = max_frame;
        }
        let wrote = fill(&mut Burst::new(self.tx.region.bytes(), &mut self.tx.slots[..lent]));
        if wrote > lent {
            return Err(refuse_count(&self.info, wrote, lent));
        }
        for (index, slot) in self.tx.slots[..wrote].iter().enumerate() {
            if !(MIN_SENT_BYTES..=max_frame).contains(&slot.len) {
                return Err(refuse_length(&self.info, index, slot.len));
            }
            self.tx.vectors[index].iov_len = slot.len as usize;
        }
        if wrote == 0 {
            return Ok(0);
        }
        let taken = self.send(wrote)?;
        // A short count hides the reason, which the next call reports if it lasts.
        self.tx_full += u64::from(taken < wrote);
        self.tx_frames += taken as u64;
        Ok(taken)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let wanted = limit.min(BATCH);
        if wanted == 0 {
            return Ok(0);
        }
        loop {
            for message in &mut self.rx.messages[..wanted] {
                message.msg_hdr.msg_controllen = CONTROL_BYTES as _;
            }
            let got = match self.socket.receive(&mut self.rx.messages[..wanted]) {
                Ok(got) => got,
                Err(error) if would_wait(&error) => 0,
                // Said once; nothing comes in until the interface is switched on again.
                Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) && self.lacks_carrier() => 0,
                Err(error) => return Err(self.failed("recvmmsg", error)),
            };
            if got == 0 {
                return Ok(0);
            }
            let found = self.clock.map_or(now, |clock| clock.now());
            let kept = self.rx.restore(got, found);
            self.rx_cut += (got - kept) as u64;
            // Frames that are all too long are no answer: 0 would say that nothing more waits.
            if kept > 0 {
                read(&mut Burst::new(self.rx.region.bytes(), &mut self.rx.slots[..kept]));
                self.rx_frames += kept as u64;
                return Ok(kept);
            }
        }
    }

    fn socket(&self) -> Option<RawFd> {
        Some(self.socket.descriptor())
    }

    fn counters(&self) -> PortCounters {
        self.rx_dropped.set(self.rx_dropped.get() + self.socket.take_dropped());
        PortCounters {
            tx_frames: self.tx_frames,
            rx_frames: self.rx_frames,
            rx_dropped: self.rx_dropped.get(),
            rx_cut: self.rx_cut,
            tx_full: self.tx_full,
            // What the kernel or its driver does not take it says (ENOBUFS), and the frame is sent again.
            ..PortCounters::default()
        }
    }
}

/// No room, nothing there, or interrupted: all to be tried again at the next poll.
fn would_wait(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR))
}

/// The frames of one system call, with the structures that describe them to the kernel, built once.
struct Batch {
    region: Region,
    slots: Vec<Slot>,
    vectors: Box<[libc::iovec]>,
    messages: Box<[libc::mmsghdr]>,
    /// Where the kernel puts what it says about a frame; eight-byte words for their alignment.
    control: Box<[[u64; CONTROL_BYTES / 8]]>,
    stride: usize,
    headroom: usize,
    max_frame: u32,
}

// SAFETY: the pointers inside lead only to the boxes and the region that the batch itself owns and never moves.
unsafe impl Send for Batch {}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl Batch {
    fn new(max_frame: u32, headroom: usize) -> Self {
        let stride = stride_for(headroom + max_frame as usize);
        let region = Region::zeroed(BATCH * stride);
        let slot = |index: usize| Slot {
            offset: (index * stride + headroom) as u32,
            len: max_frame,
            at: Instant::ZERO,
        };
        let slots: Vec<Slot> = (0..BATCH).map(slot).collect();
        let vector = |slot: &Slot| libc::iovec {
            // SAFETY: the offset of a slot lies inside the region.
            iov_base: unsafe { region.as_ptr().add(slot.offset as usize) }.cast(),
            iov_len: max_frame as usize,
        };
        let mut vectors: Box<[libc::iovec]> = slots.iter().map(vector).collect();
        let mut control: Box<[[u64; CONTROL_BYTES / 8]]> = vec![[0; CONTROL_BYTES / 8]; BATCH].into();
        let vectors_start = vectors.as_mut_ptr();
        let control_start = control.as_mut_ptr();
        let message = |index: usize| {
            // SAFETY: all-zero is a valid message header: no name, no data, no control.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            // SAFETY: `index` is below BATCH, the length of both boxes.
            message.msg_hdr.msg_iov = unsafe { vectors_start.add(index) };
            message.msg_hdr.msg_iovlen = 1;
            if headroom > 0 {
                // SAFETY: as above.
                message.msg_hdr.msg_control = unsafe { control_start.add(index) }.cast();
                message.msg_hdr.msg_controllen = CONTROL_BYTES as _;
            }
            message
        };
        let messages = (0..BATCH).map(message).collect();
        Self {
            region,
            slots,
            vectors,
            messages,
            control,
            stride,
            headroom,
            max_frame,
        }
    }

    /// Describes the first `got` received frames by slots, tags put back; leaves out those that were cut short.
    fn restore(&mut self, got: usize, now: Instant) -> usize {
        let mut kept = 0;
        for index in 0..got {
            let message = &self.messages[index];
            let cut = message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
            let mut start = index * self.stride + self.headroom;
            let mut len = message.msg_len as usize;
            let tag = socket::stripped_tag(&self.control[index], message.msg_hdr.msg_controllen);
            if let Some(tag) = tag.filter(|_| len >= ADDRESSES_BYTES) {
                let memory = self.region.bytes();
                memory.copy_within(start..start + ADDRESSES_BYTES, start - TAG_BYTES);
                start -= TAG_BYTES;
                len += TAG_BYTES;
                memory[start + ADDRESSES_BYTES..][..TAG_BYTES].copy_from_slice(&tag);
            }
            if cut || len > self.max_frame as usize {
                continue;
            }
            self.slots[kept] = Slot {
                offset: start as u32,
                len: len as u32,
                at: now,
            };
            kept += 1;
        }
        kept
    }
}
