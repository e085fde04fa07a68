//! One TAP interface (`Documentation/networking/tuntap.rst`): made, and gone when it is closed.

use crate::port::PortError;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

const DEVICE: &str = "/dev/net/tun";
/// `TUNSETIFF` of linux/if_tun.h.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
/// `IFF_TUN_EXCL`: not one that exists already.
const EXCLUSIVE: libc::c_int = 0x8000;
const ETHERNET: libc::c_ushort = libc::ARPHRD_ETHER;

/// Moves this thread to a network namespace (`/proc/PID/ns/net`), for good.
pub(super) fn enter(namespace: &File) -> Result<(), PortError> {
    // SAFETY: no memory is passed; changes this thread alone.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    Err(refused("entering the network namespace".to_owned()))
}

/// Makes a TAP interface in this thread's namespace, which is up. Reads and writes do not wait, and each frame has a header
/// before it (`struct virtio_net_hdr`), so that the kernel takes what it would have got from a card: checksums that are not
/// written yet, segments put together.
pub(super) fn make(name: &str, mac: [u8; 6], mtu: u32) -> Result<File, PortError> {
    let mut request = request_for(name).ok_or_else(|| PortError::Unfit {
        port: name.to_owned(),
        why: "the name of an interface has 1 to 15 characters".to_owned(),
    })?;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE);
    let tap = opened.map_err(|source| PortError::NoTap {
        what: format!("opening {DEVICE}"),
        source,
    })?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | EXCLUSIVE) as libc::c_short;
    ask(tap.as_raw_fd(), TUNSETIFF, &mut request).map_err(|source| PortError::NoTap {
        what: format!("making interface `{name}`"),
        source,
    })?;
    // SAFETY: no memory is passed.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(refused("opening a socket".to_owned()));
    }
    // SAFETY: just opened and owned by nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let set = |call: libc::Ioctl, what: &str, fill: &dyn Fn(&mut libc::ifreq)| {
        let mut request = request_for(name).unwrap_or_else(|| unreachable!("it was one before"));
        fill(&mut request);
        ask(socket.as_raw_fd(), call, &mut request).map_err(|source| PortError::NoTap {
            what: format!("{what} of interface `{name}`"),
            source,
        })
    };
    set(libc::SIOCSIFHWADDR, "the MAC address", &|request| {
        let mut address = libc::sockaddr {
            sa_family: ETHERNET,
            sa_data: [0; 14],
        };
        for (to, from) in address.sa_data.iter_mut().zip(mac) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_hwaddr = address;
    })?;
    set(libc::SIOCSIFMTU, "the MTU", &|request| {
        request.ifr_ifru.ifru_mtu = mtu as libc::c_int;
    })?;
    set(libc::SIOCSIFFLAGS, "the state", &|request| {
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    })?;
    Ok(tap)
}

/// A request about an interface; `None` if it is no name for one.
fn request_for(name: &str) -> Option<libc::ifreq> {
    // SAFETY: all-zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let fits = (1..libc::IFNAMSIZ).contains(&name.len()) && !name.contains('\0');
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    fits.then_some(request)
}

fn ask(descriptor: libc::c_int, call: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: all calls made here take an `ifreq`, valid for reads and writes.
    let answer = unsafe { libc::ioctl(descriptor, call, std::ptr::from_mut(request)) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn refused(what: String) -> PortError {
    PortError::NoTap {
        what,
        source: io::Error::last_os_error(),
    }
}
