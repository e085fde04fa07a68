//! The AF_XDP socket itself: the memory of its frames, its rings, the queue it is bound to, and how to wake the kernel.

use super::memory::{Descriptor, Mapping, Ring};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Frames lent at once to send; a call of the kernel's sends 32 or, from Linux 6.18 on, as many as these.
pub const BATCH: usize = 64;
/// `XDP_MAX_TX_SKB_BUDGET` of linux/if_xdp.h (6.18): frames a call sends in copy mode; 32 before there was a choice.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;
/// Room for all of a socket's frames on their way through this machine; a frame of 64 bytes is counted as some 800.
const SEND_BUFFER_BYTES: libc::c_int = 64 << 20;

/// How many frames the memory of a socket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    /// To receive into; a power of two.
    pub receive: u32,
    /// To send from; a power of two.
    pub send: u32,
    /// Bytes of each.
    pub chunk: u32,
}

impl Frames {
    /// All of them.
    pub const fn bytes(self) -> usize {
        (self.receive as usize + self.send as usize) * self.chunk as usize
    }
}

/// A socket with its memory and rings.
#[derive(Debug)]
pub(super) struct XdpSocket {
    // Rings first: they are unmapped before the socket is closed, and it before the memory goes.
    /// Frames given to the kernel to receive into.
    pub fill: Ring<u64>,
    /// Frames received.
    pub received: Ring<Descriptor>,
    /// Frames to send.
    pub send: Ring<Descriptor>,
    /// Frames sent, to be used again.
    pub sent: Ring<u64>,
    socket: OwnedFd,
    /// Frames to receive into, then those to send from.
    pub memory: Mapping,
}

/// The last of what frames drop through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dropped {
    /// The kernel had a frame for this socket and no place to put it.
    pub frames: u64,
    /// The driver found no frame to receive into (zero-copy).
    pub starved: u64,
    /// Frames to send that the kernel could not make anything of, and dropped.
    pub invalid: u64,
}

/// What failed, and how.
pub(super) type Failure = (&'static str, io::Error);

impl XdpSocket {
    /// A socket with memory for `frames`, all that are for receiving given to the kernel; not bound yet.
    pub fn new(frames: Frames) -> Result<Self, Failure> {
        // SAFETY: no memory is passed.
        let socket = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(("opening an AF_XDP socket", io::Error::last_os_error()));
        }
        // SAFETY: just opened and owned by nobody else.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let memory = Mapping::anonymous(frames.bytes()).map_err(|it| ("mmap", it))?;
        let registration = libc::xdp_umem_reg {
            addr: memory.as_ptr() as u64,
            len: memory.len() as u64,
            chunk_size: frames.chunk,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration).map_err(|it| ("locking memory (XDP_UMEM_REG)", it))?;
        for (ring, count) in [
            (libc::XDP_UMEM_FILL_RING, frames.receive),
            (libc::XDP_UMEM_COMPLETION_RING, frames.send),
            (libc::XDP_RX_RING, frames.receive),
            (libc::XDP_TX_RING, frames.send),
        ] {
            set(&socket, libc::SOL_XDP, ring, &count).map_err(|it| ("making a ring", it))?;
        }
        let places = get::<libc::xdp_mmap_offsets>(&socket, libc::XDP_MMAP_OFFSETS).map_err(|it| ("XDP_MMAP_OFFSETS", it))?;
        let mapped = |it| ("mapping a ring", it);
        let (receive, send) = (libc::XDP_PGOFF_RX_RING as u64, libc::XDP_PGOFF_TX_RING as u64);
        let (fill, sent) = (libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING);
        let mut made = Self {
            fill: Ring::map(&socket, fill, places.fr, frames.receive).map_err(mapped)?,
            received: Ring::map(&socket, receive, places.rx, frames.receive).map_err(mapped)?,
            send: Ring::map(&socket, send, places.tx, frames.send).map_err(mapped)?,
            sent: Ring::map(&socket, sent, places.cr, frames.send).map_err(mapped)?,
            socket,
            memory,
        };
        made.fill
            .put((0..frames.receive).map(|frame| u64::from(frame) * u64::from(frames.chunk)));
        // These only make it better.
        let _ = set(&made.socket, libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &(BATCH as u32));
        if set(&made.socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER_BYTES).is_err() {
            let _ = set(&made.socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER_BYTES);
        }
        Ok(made)
    }

    /// Binds it to a queue of interface `index`.
    pub fn bind(&self, index: i32, queue: u32, zero_copy: bool) -> io::Result<()> {
        let copy = if zero_copy { libc::XDP_ZEROCOPY } else { libc::XDP_COPY };
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: copy | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: index as u32,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let len = size_of_val(&address) as libc::socklen_t;
        // SAFETY: `address` is valid for reads of its length.
        let answer = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), len) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Whether the driver shares the frames with us, as the kernel says.
    pub fn is_zero_copy(&self) -> io::Result<bool> {
        let options = get::<libc::xdp_options>(&self.socket, libc::XDP_OPTIONS)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    /// Returns what was dropped since the socket was made.
    pub fn dropped(&self) -> Dropped {
        get::<libc::xdp_statistics>(&self.socket, libc::XDP_STATISTICS).map_or_else(
            |_| Dropped::default(),
            |it| Dropped {
                frames: it.rx_dropped + it.rx_ring_full,
                starved: it.rx_fill_ring_empty_descs,
                invalid: it.tx_invalid_descs,
            },
        )
    }

    /// Has the kernel send what is in the ring, or some of it.
    pub fn wake_to_send(&self) -> io::Result<()> {
        // SAFETY: no memory is passed.
        let answer = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                std::ptr::null(),
                0,
            )
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Has the driver look for frames to receive into.
    pub fn wake_to_receive(&self) {
        let mut asked = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `asked` is valid for reads and writes. What it answers is seen in the ring.
        unsafe { libc::poll(&raw mut asked, 1, 0) };
    }

    /// What has befallen the socket since this was last asked: the interface was removed.
    pub fn take_error(&self) -> Option<io::Error> {
        let mut error: libc::c_int = 0;
        let mut len = size_of_val(&error) as libc::socklen_t;
        // SAFETY: `error` is valid for writes of `len` bytes.
        let answer = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut len,
            )
        };
        (answer == 0 && error != 0).then(|| io::Error::from_raw_os_error(error))
    }
}

impl AsRawFd for XdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

fn set<T>(socket: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is valid for reads of its length.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), len) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An option of level `SOL_XDP`; `T` is one of the structures of linux/if_xdp.h, which are plain integers.
fn get<T>(socket: &OwnedFd, option: libc::c_int) -> io::Result<T> {
    // SAFETY: all-zero is a valid value of these structures.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is valid for writes of `len` bytes.
    let answer = unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, (&raw mut value).cast(), &raw mut len) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
