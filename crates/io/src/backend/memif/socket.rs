//! The control connection: a unix socket of packets, on which messages and files are passed. Nothing here waits but
//! [`wait`].

use super::message::{MESSAGE_BYTES, Message};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Files taken with one message; a peer that sends more gets an error.
const MOST_FILES: usize = 4;
/// Peers that wait to be accepted.
const BACKLOG: libc::c_int = 8;

/// Room for the files of one message, aligned as control messages are.
#[repr(C, align(8))]
struct Control([u8; 64]);

const _: () = assert!(size_of::<Control>() >= 16 + size_of::<libc::c_int>() * MOST_FILES);

/// Where a socket is: a path, or with `@` in front a name in the abstract space of the network namespace.
fn address(place: &str) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all-zero is a valid address to write into.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let before = std::mem::offset_of!(libc::sockaddr_un, sun_path);
    // Abstract names begin with a zero byte and end with their length, unix(7); paths end with a zero byte.
    let (bytes, len) = match place.strip_prefix('@') {
        Some(name) => ([b"\0", name.as_bytes()].concat(), before + 1 + name.len()),
        None => ([place.as_bytes(), b"\0"].concat(), size_of::<libc::sockaddr_un>()),
    };
    if place.len() < 2 || bytes.len() > address.sun_path.len() || bytes[1..bytes.len() - 1].contains(&0) {
        let most = address.sun_path.len() - 1;
        let why = format!("a socket's path or `@name` has 2 to {most} bytes, this one {}", place.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    for (to, from) in address.sun_path.iter_mut().zip(&bytes) {
        *to = *from as libc::c_char;
    }
    Ok((address, len as libc::socklen_t))
}

fn new_socket() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// A socket that peers connect to. Its file is removed when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    /// Path, device and inode of the file this socket made.
    file: Option<(String, u64, u64)>,
}

impl Listener {
    /// Listens at `place`. A socket file at which nobody listens any more is replaced.
    ///
    /// # Errors
    /// If somebody listens there, or the system refuses.
    pub fn open(place: &str) -> io::Result<Self> {
        let (address, len) = address(place)?;
        let socket = new_socket()?;
        let bind = || {
            // SAFETY: `address` is valid for `len` bytes.
            match unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        let mut bound = bind();
        if bound.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse) {
            match connect(place) {
                // What is left of a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && is_socket(place) => {
                    std::fs::remove_file(place)?;
                    bound = bind();
                }
                Err(_) if !place.starts_with('@') && !is_socket(place) => {
                    bound = Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path exists and is no socket"));
                }
                Ok(_) => bound = Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there already")),
                Err(_) => {}
            }
        }
        bound?;
        let file = (!place.starts_with('@')).then(|| identity(place).map(|(device, inode)| (place.to_owned(), device, inode)));
        let listener = Self {
            file: file.transpose()?,
            socket,
        };
        // SAFETY: no memory is passed.
        match unsafe { libc::listen(listener.socket.as_raw_fd(), BACKLOG) } {
            0 => Ok(listener),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The next peer that waits, if there is one.
    pub fn accept(&self) -> Option<Channel> {
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory is passed: the peer's address is not asked for.
        let socket = unsafe { libc::accept4(self.socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags) };
        // SAFETY: just opened and owned by nobody else.
        (socket >= 0).then(|| Channel(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// To wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.socket)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Only what we made: another may have replaced it since.
        if let Some((path, device, inode)) = &self.file
            && identity(path).is_ok_and(|it| it == (*device, *inode))
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn identity(path: &str) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::symlink_metadata(path).map(|it| (it.dev(), it.ino()))
}

fn is_socket(path: &str) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

/// Connects to the server at `place`.
///
/// # Errors
/// If nobody listens there.
pub fn connect(place: &str) -> io::Result<Channel> {
    let (address, len) = address(place)?;
    let socket = new_socket()?;
    // SAFETY: `address` is valid for `len` bytes.
    match unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len) } {
        0 => Ok(Channel(socket)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A connection to a peer.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// What came in.
#[derive(Debug)]
pub struct Received {
    /// The message, or what is wrong with it.
    pub message: Result<Message, String>,
    /// The file that came with it.
    pub file: Option<OwnedFd>,
}

/// For tests: a socket that is connected already.
#[cfg(test)]
impl From<OwnedFd> for Channel {
    fn from(socket: OwnedFd) -> Self {
        Self(socket)
    }
}

impl Channel {
    /// Returns the socket below, for tests.
    #[cfg(test)]
    pub fn socket(&self) -> &OwnedFd {
        &self.0
    }

    /// To wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }

    /// The process at the other end: of a client the one that connected, of a server the one that listened. `None` if the
    /// kernel does not say, as of one in another PID namespace.
    pub fn process(&self) -> Option<u32> {
        let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: `found` is valid for writes of `len` bytes, and so is `len`.
        let done = unsafe {
            let place = (&raw mut found).cast();
            libc::getsockopt(self.0.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut len)
        };
        u32::try_from(found.pid).ok().filter(|&pid| done == 0 && pid != 0)
    }

    /// Sends a message, with a file if there is one.
    ///
    /// # Errors
    /// If the peer is gone, or takes none.
    pub fn send(&self, message: &Message, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let mut bytes = message.write();
        let mut vector = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        let mut control = Control([0; 64]);
        // SAFETY: all-zero is a valid message header: no name, no data, no control.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &raw mut vector;
        header.msg_iovlen = 1;
        if let Some(file) = file {
            header.msg_control = control.0.as_mut_ptr().cast();
            // SAFETY: computes a size.
            header.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) } as _;
            // SAFETY: `control` has room for one control message with one file, and is aligned for it.
            unsafe {
                let first = libc::CMSG_FIRSTHDR(&raw const header);
                (*first).cmsg_level = libc::SOL_SOCKET;
                (*first).cmsg_type = libc::SCM_RIGHTS;
                (*first).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
                libc::CMSG_DATA(first).cast::<libc::c_int>().write_unaligned(file.as_raw_fd());
            }
        }
        // SAFETY: the header leads to the vector, the bytes and the control message above, which all live.
        let sent = unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        match sent {
            sent if sent == bytes.len() as isize => Ok(()),
            sent if sent < 0 => Err(io::Error::last_os_error()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// The next message, `None` if there is none now.
    ///
    /// # Errors
    /// If the peer has closed the connection.
    pub fn receive(&self) -> io::Result<Option<Received>> {
        // One byte more than a message has, to see that one is too long.
        let mut bytes = [0_u8; MESSAGE_BYTES + 1];
        let mut vector = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        let mut control = Control([0; 64]);
        // SAFETY: as in `send`.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &raw mut vector;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        // SAFETY: the header leads to buffers of the lengths it says, which live.
        let got = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
        if got < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            };
        }
        let mut files = files(&header);
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let cut = header.msg_flags & libc::MSG_CTRUNC != 0;
        let message = if files.len() > 1 || cut {
            Err("a message with more than one file".to_owned())
        } else {
            Message::read(&bytes[..got as usize])
        };
        Ok(Some(Received {
            message,
            file: files.pop(),
        }))
    }
}

/// Takes the files out of a message that was received: all of them, or they would stay open for good.
fn files(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut files = Vec::new();
    // SAFETY: the kernel has filled in the header and the control messages it leads to; the macros stay within their
    // length. Each file is owned by nobody else.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            if (*message).cmsg_level == libc::SOL_SOCKET && (*message).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*message).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let first = libc::CMSG_DATA(message).cast::<libc::c_int>();
                for index in 0..bytes / size_of::<libc::c_int>() {
                    files.push(OwnedFd::from_raw_fd(first.add(index).read_unaligned()));
                }
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    files
}

/// A bell: an event file that one thread rings and another waits for.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A new one.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let file = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened and owned by nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(file) }))
    }

    /// Rings it. Never waits: a bell that rings already rings.
    pub fn ring(&self) {
        ring(self.fd());
    }

    /// Stops its ringing.
    pub fn silence(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes are valid for writes.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    }

    /// To wait for, or to hand over.
    pub fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }
}

impl From<Bell> for OwnedFd {
    fn from(bell: Bell) -> Self {
        bell.0
    }
}

/// Rings the bell that `file` is.
pub fn ring(file: BorrowedFd<'_>) {
    let one = 1_u64;
    // SAFETY: eight bytes are valid for reads. That it fails when it would wait is as well.
    unsafe { libc::write(file.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
}

/// Whether a file that a peer sent is an event file, and not something that takes long to write to.
pub fn is_bell(file: &OwnedFd) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).is_ok_and(|it| it.as_os_str() == "anon_inode:[eventfd]")
}

/// Waits until one of `files` has something, or was closed by its peer, or `most` is over. Which have.
pub fn wait<const N: usize>(files: [BorrowedFd<'_>; N], most: Option<Duration>) -> [bool; N] {
    let mut polled = files.map(|file| libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    let timeout = most.map_or(-1, |most| most.as_micros().div_ceil(1000).min(60_000) as libc::c_int);
    // SAFETY: the array is valid for reads and writes of its length.
    unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, timeout) };
    polled.map(|file| file.revents != 0)
}
