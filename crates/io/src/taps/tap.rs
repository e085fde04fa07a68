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

/// Moves this thread to a network namespace (`/proc/PID/ns/net`), for good.
pub(super) fn enter(namespace: &File) -> Result<(), PortError> {
    // SAFETY: no memory is passed; changes this thread alone.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    Err(refused("entering the network namespace".to_owned(), io::Error::last_os_error()))
}

/// Makes a TAP interface in this thread's namespace. Reads and writes do not wait, and each frame has a header
/// before it (`struct virtio_net_hdr`), so that the kernel takes what it would have got from a card: checksums that are not
/// written yet, segments put together.
pub(super) fn make(name: &str) -> Result<File, PortError> {
    let mut request = request_for(name).ok_or_else(|| PortError::Unfit {
        port: name.to_owned(),
        why: "the name of an interface has 1 to 15 characters".to_owned(),
    })?;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE);
    let tap = opened.map_err(|source| refused(format!("opening {DEVICE}"), source))?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | EXCLUSIVE) as libc::c_short;
    // SAFETY: the call takes an `ifreq`, valid for reads and writes.
    if unsafe { libc::ioctl(tap.as_raw_fd(), TUNSETIFF, &raw mut request) } < 0 {
        return Err(refused(format!("making interface `{name}`"), io::Error::last_os_error()));
    }
    Ok(tap)
}

/// The kernel's configuration of links in this thread's namespace (rtnetlink(7)).
#[derive(Debug)]
pub(super) struct Links(OwnedFd);

impl Links {
    pub fn open() -> Result<Self, PortError> {
        // SAFETY: no memory is passed.
        let socket = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
        if socket < 0 {
            return Err(refused("opening a netlink socket".to_owned(), io::Error::last_os_error()));
        }
        // SAFETY: just opened and owned by nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// Gives an interface a MAC address and an MTU, makes it one of a group of interfaces, and takes it up.
    pub fn configure(&self, name: &str, mac: [u8; 6], mtu: u32, group: u32) -> Result<(), PortError> {
        let attributes: [(u16, &[u8]); 4] = [
            (libc::IFLA_IFNAME, &[name.as_bytes(), b"\0"].concat()),
            (libc::IFLA_ADDRESS, &mac),
            (libc::IFLA_MTU, &mtu.to_ne_bytes()),
            (libc::IFLA_GROUP, &group.to_ne_bytes()),
        ];
        self.ask(libc::RTM_SETLINK, libc::IFF_UP as u32, &attributes)
            .map_err(|source| refused(format!("configuring interface `{name}`"), source))
    }

    /// Deletes all interfaces of a group at once. One by one the kernel takes 18 ms each.
    pub fn delete(&self, group: u32) -> io::Result<()> {
        self.ask(libc::RTM_DELLINK, 0, &[(libc::IFLA_GROUP, &group.to_ne_bytes())])
    }

    /// flags: of an interface, to set.
    fn ask(&self, kind: u16, flags: u32, attributes: &[(u16, &[u8])]) -> io::Result<()> {
        // `struct nlmsghdr`, of which the length is filled in last, and `struct ifinfomsg`; then each attribute with its length
        // and kind, padded to four bytes.
        let asked = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut message = [&[0; 4], &kind.to_ne_bytes()[..], &asked.to_ne_bytes(), &[0; 16]].concat();
        message.extend([flags.to_ne_bytes(), flags.to_ne_bytes()].concat());
        for (kind, value) in attributes {
            let len = 4 + value.len();
            message.extend([&(len as u16).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat());
            message.resize(message.len().next_multiple_of(4), 0);
        }
        let len = message.len() as u32;
        message[..4].copy_from_slice(&len.to_ne_bytes());
        // SAFETY: `message` is valid for reads of its length.
        if unsafe { libc::send(self.0.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // The answer is there when the question was taken: a header, and the error as a negative number.
        let mut answer = [0_u8; 1024];
        // SAFETY: `answer` is valid for writes of its length.
        let got = unsafe { libc::recv(self.0.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), libc::MSG_DONTWAIT) };
        match answer[16..].first_chunk().map(|bytes| i32::from_ne_bytes(*bytes)) {
            _ if got < 20 => Err(io::Error::last_os_error()),
            Some(0) => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error.unwrap_or(-libc::EPROTO))),
        }
    }
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

fn refused(what: String, source: io::Error) -> PortError {
    PortError::NoTap { what, source }
}
