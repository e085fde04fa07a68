//! The packet socket itself: options, the two batch calls, and what the kernel says about a frame.

use crate::port::PortError;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h (5.0): do not receive what this machine sends.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// `PACKET_FANOUT_FLAG_IGNORE_OUTGOING` of linux/if_packet.h (5.10): as [`PACKET_IGNORE_OUTGOING`], which a group of sockets
/// does not heed.
const FANOUT_IGNORE_OUTGOING: libc::c_int = 0x4000;
/// `PACKET_FANOUT_FLAG_UNIQUEID` (4.12): the kernel finds a number for the group.
const FANOUT_UNIQUE: libc::c_int = 0x2000;
/// `PACKET_FANOUT_HASH`: a flow's frames go to one socket of the group.
const FANOUT_HASH: libc::c_int = 0;
/// Enough for a stall of some milliseconds at a million frames a second; the kernel counts about 768 bytes for a small frame.
const RECEIVE_BUFFER_BYTES: libc::c_int = 64 << 20;
const SEND_BUFFER_BYTES: libc::c_int = 4 << 20;

/// `PACKET_VNET_HDR` of linux/if_packet.h.
const PACKET_VNET_HDR: libc::c_int = 15;
/// `struct virtio_net_hdr` of linux/virtio_net.h.
pub(crate) const OFFLOAD_BYTES: usize = 10;

/// A control message header and a `tpacket_auxdata`, with the padding of cmsg(3): 16 + 24.
pub(crate) const CONTROL_BYTES: usize = 40;

const _: () = assert!(size_of::<libc::cmsghdr>() == 16 && size_of::<libc::tpacket_auxdata>() == 20);

/// A socket bound to one interface.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    socket: OwnedFd,
}

fn refused(interface: &str, call: &str, source: io::Error) -> PortError {
    let hint = match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Some("packet sockets need CAP_NET_RAW: run as root, or grant it to this process"),
        _ => None,
    };
    PortError::with_hint(format!("{call} on interface `{interface}`"), source, hint)
}

impl PacketSocket {
    /// Opens a socket on the interface with this index; `interface` is for messages.
    pub fn open(interface: &str, index: i32) -> Result<Self, PortError> {
        let socket = Self::unbound(interface)?;
        // These only make it better.
        // Without the queueing discipline a full transmit ring is ENOBUFS at once, not a queue that delays.
        let _ = socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1);
        socket.buffer(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF, RECEIVE_BUFFER_BYTES);
        socket.buffer(libc::SO_SNDBUFFORCE, libc::SO_SNDBUF, SEND_BUFFER_BYTES);
        socket.listen(interface, index)?;
        Ok(socket)
    }

    /// Opens a socket that receives what a program of classic BPF passes. Before each frame, both ways, there is a header of
    /// [`OFFLOAD_BYTES`] bytes: what is left to do to it (`struct virtio_net_hdr`).
    pub fn open_filtered(interface: &str, index: i32, program: &[(u16, u8, u8, u32)]) -> Result<Self, PortError> {
        let socket = Self::unbound(interface)?;
        let mut program: Vec<_> = program
            .iter()
            .map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k })
            .collect();
        let filter = libc::sock_fprog {
            len: program.len() as libc::c_ushort,
            filter: program.as_mut_ptr(),
        };
        socket
            .set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
            .map_err(|it| refused(interface, "SO_ATTACH_FILTER", it))?;
        socket
            .set(libc::SOL_PACKET, PACKET_VNET_HDR, &1)
            .map_err(|it| refused(interface, "PACKET_VNET_HDR", it))?;
        socket.buffer(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF, SEND_BUFFER_BYTES);
        socket.buffer(libc::SO_SNDBUFFORCE, libc::SO_SNDBUF, SEND_BUFFER_BYTES);
        socket.listen(interface, index)?;
        Ok(socket)
    }

    /// A socket that is bound to no interface yet, and so receives nothing.
    fn unbound(interface: &str) -> Result<Self, PortError> {
        // Protocol 0: nothing comes in, from any interface, before it is bound.
        // SAFETY: no memory is passed.
        let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
        if socket < 0 {
            return Err(refused(interface, "opening a packet socket", io::Error::last_os_error()));
        }
        let socket = Self {
            // SAFETY: just opened and owned by nobody else.
            socket: unsafe { OwnedFd::from_raw_fd(socket) },
        };
        let on: libc::c_int = 1;
        // Without these a capture is wrong: tags lost, or our own frames counted as received.
        socket
            .set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &on)
            .map_err(|it| refused(interface, "PACKET_AUXDATA", it))?;
        socket
            .set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &on)
            .map_err(|it| refused(interface, "PACKET_IGNORE_OUTGOING", it))?;
        Ok(socket)
    }

    /// Begins to receive, whatever a frame's destination is.
    fn listen(&self, interface: &str, index: i32) -> Result<(), PortError> {
        let membership = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
            .map_err(|it| refused(interface, "promiscuous mode", it))?;
        self.bind(index).map_err(|it| refused(interface, "bind", it))
    }

    /// Its number, to wait for frames by.
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Joins a group of sockets of which each receives some of the flows: this one, or a new one. Which one it is.
    pub fn fan_out(&self, group: Option<libc::c_int>) -> io::Result<libc::c_int> {
        let unique = if group.is_none() { FANOUT_UNIQUE } else { 0 };
        let asked = (FANOUT_HASH | FANOUT_IGNORE_OUTGOING | unique) << 16 | group.unwrap_or(0);
        self.set(libc::SOL_PACKET, libc::PACKET_FANOUT, &asked)?;
        let mut found: libc::c_int = 0;
        let mut len = size_of_val(&found) as libc::socklen_t;
        // SAFETY: `found` is valid for writes of `len` bytes.
        let answer = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_FANOUT,
                (&raw mut found).cast(),
                &raw mut len,
            )
        };
        if answer < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(found & 0xffff)
        }
    }

    /// Throws away the frames that came in so far.
    pub fn flush(&self) {
        let mut byte = 0_u8;
        // SAFETY: `byte` is valid for writes of its length; the rest of a frame is cut off by the kernel.
        while unsafe { libc::recv(self.socket.as_raw_fd(), (&raw mut byte).cast(), 1, libc::MSG_DONTWAIT) } >= 0 {}
    }

    fn bind(&self, index: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid address of this kind.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        let len = size_of_val(&address) as libc::socklen_t;
        // SAFETY: `address` is valid for reads of its length.
        let answer = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), len) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let len = size_of::<T>() as libc::socklen_t;
        // SAFETY: `value` is valid for reads of its length.
        let answer = unsafe { libc::setsockopt(self.socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), len) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn buffer(&self, force: libc::c_int, plain: libc::c_int, bytes: libc::c_int) {
        if self.set(libc::SOL_SOCKET, force, &bytes).is_err() {
            let _ = self.set(libc::SOL_SOCKET, plain, &bytes);
        }
    }

    /// Sends these frames; how many were taken.
    pub fn send(&self, messages: &mut [libc::mmsghdr]) -> io::Result<usize> {
        let count = messages.len() as libc::c_uint;
        // SAFETY: the messages and what they point to are valid and owned by the caller's batch.
        let taken = unsafe { libc::sendmmsg(self.socket.as_raw_fd(), messages.as_mut_ptr(), count, libc::MSG_DONTWAIT as _) };
        if taken < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(taken as usize)
        }
    }

    /// Receives into these messages without waiting; returns how many came.
    pub fn receive(&self, messages: &mut [libc::mmsghdr]) -> io::Result<usize> {
        let count = messages.len() as libc::c_uint;
        let flags = libc::MSG_DONTWAIT as _;
        // SAFETY: the messages and the memory they point to are valid for writes and owned by the caller's batch.
        let got = unsafe { libc::recvmmsg(self.socket.as_raw_fd(), messages.as_mut_ptr(), count, flags, std::ptr::null_mut()) };
        if got < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(got as usize)
        }
    }

    /// Receives one frame and its header into `memory`, without waiting: how long it is with its header, the tag that the kernel
    /// took off, and whether it was cut.
    pub fn receive_one(&self, memory: &mut [u8]) -> io::Result<(usize, Option<[u8; 4]>, bool)> {
        let mut control = [0_u64; CONTROL_BYTES / 8];
        let mut vector = libc::iovec {
            iov_base: memory.as_mut_ptr().cast(),
            iov_len: memory.len(),
        };
        // SAFETY: all-zero is a valid message header: no name, no data, no control.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: the message points to `memory` and `control`, which are valid for writes of the lengths it says.
        let got = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        if got < 0 {
            return Err(io::Error::last_os_error());
        }
        let tag = stripped_tag(&control, message.msg_controllen);
        Ok((got as usize, tag, message.msg_flags & libc::MSG_TRUNC != 0))
    }

    /// Sends one frame behind its header, without waiting.
    pub fn send_one(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: `frame` is valid for reads of its length.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Frames the socket dropped since this was last asked; the kernel starts again at each reading.
    pub fn take_dropped(&self) -> u64 {
        let mut statistics = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut len = size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: `statistics` is valid for writes of `len` bytes.
        let answer = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut len,
            )
        };
        if answer < 0 { 0 } else { u64::from(statistics.tp_drops) }
    }
}

/// The VLAN tag the kernel took off a frame, as its four bytes on the wire, from the control message.
pub(crate) fn stripped_tag(control: &[u64; CONTROL_BYTES / 8], len: usize) -> Option<[u8; 4]> {
    if len < size_of::<libc::cmsghdr>() + size_of::<libc::tpacket_auxdata>() {
        return None;
    }
    // SAFETY: the words are initialized, aligned for a header, and long enough for both structures, which are
    // plain integers; the auxiliary data follow the header, itself a multiple of its alignment.
    let (header, auxiliary) = unsafe {
        let start = control.as_ptr();
        (
            start.cast::<libc::cmsghdr>().read(),
            start.add(2).cast::<libc::tpacket_auxdata>().read(),
        )
    };
    if header.cmsg_level != libc::SOL_PACKET || header.cmsg_type != libc::PACKET_AUXDATA {
        return None;
    }
    if auxiliary.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    // A kernel that does not name the TPID knows only 802.1Q.
    let named = auxiliary.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let tpid = if named { auxiliary.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    let ([a, b], [c, d]) = (tpid.to_be_bytes(), auxiliary.tp_vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}
