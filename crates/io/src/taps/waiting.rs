//! A thread that sleeps until one of many descriptors has something to read (epoll(7)), or another thread rings.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Wakes a thread that waits for it.
#[derive(Debug)]
pub(super) struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let made = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened and owned by nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(made) }))
    }

    pub fn ring(&self) {
        let one = 1_u64;
        // SAFETY: `one` is valid for reads of its size. A bell that rings already refuses, and need not take it.
        let _ = unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), size_of_val(&one)) };
    }
}

impl AsRawFd for Bell {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The descriptors that a thread waits for.
#[derive(Debug)]
pub(super) struct Waiting(OwnedFd);

/// Descriptors that a wait returns at most; the others are first at the next.
const MOST: usize = 64;

impl Waiting {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let made = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened and owned by nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(made) }))
    }

    /// Waits for this one too, which is called `name`.
    pub fn add(&self, descriptor: RawFd, name: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: name,
        };
        // SAFETY: `event` is valid for reads.
        let answer = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, descriptor, &raw mut event) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits for this one no more.
    pub fn remove(&self, descriptor: RawFd) {
        // SAFETY: no memory is passed; one that is not waited for is refused.
        let _ = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_DEL, descriptor, std::ptr::null_mut()) };
    }

    /// Sleeps until something can be read: the names of what.
    pub fn wait(&self) -> io::Result<impl Iterator<Item = u64> + use<>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        loop {
            // SAFETY: `events` is valid for writes of MOST events.
            let count = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), MOST as libc::c_int, -1) };
            if count >= 0 {
                return Ok(events.into_iter().take(count as usize).map(|event| event.u64));
            }
            let why = io::Error::last_os_error();
            if why.kind() != io::ErrorKind::Interrupted {
                return Err(why);
            }
        }
    }
}
