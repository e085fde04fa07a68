//! What the queues of one port share: the program in the interface's receive path and the map it looks up sockets in.

use super::bpf::{BpfLink, Program, SocketMap};
use super::options::Attach;
use super::program::assemble;
use crate::claim::Claim;
use crate::port::PortError;
use crate::time::{Duration, sleep};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

/// How long whoever was there before has to go.
const OCCUPIED_ROUNDS: u32 = 25;
const OCCUPIED_PAUSE: Duration = Duration::from_ms(20);

/// A program of ours in the receive path of an interface, for as long as this lives.
#[derive(Debug)]
pub(super) struct Attachment {
    port: String,
    interface: String,
    map: SocketMap,
    link: BpfLink,
    /// Taken out behind the frames' driver, in what all drivers share.
    pub native: bool,
    claims: Mutex<Vec<Claim>>,
    /// Frames to other stations' addresses are let in while this is open.
    _promiscuous: Option<OwnedFd>,
}

impl Attachment {
    /// Puts a program that claims nothing into the receive path of interface `index`, which is a veth if it is a `cable`.
    pub fn new(port: &str, interface: &str, index: i32, attach: Attach, cable: bool, queues: u32) -> Result<Self, PortError> {
        let map = SocketMap::new(queues).map_err(|error| {
            let none = error.raw_os_error() == Some(libc::EINVAL);
            let hint = if none {
                " (this kernel has no AF_XDP: use `af_packet`)"
            } else {
                ""
            };
            refused(&format!("making a BPF map{hint}"), interface, error)
        })?;
        let program = load(port, interface, &map, &[])?;
        // A veth hands frames on as the kernel's own packets, which generic XDP takes as they are and its native one copies;
        // but only the native one knows which of several queues they came in by.
        let must_be_native = cable && queues > 1;
        let native = match attach {
            Attach::Generic if must_be_native => return Err(only_native(port, interface, queues, "`attach: generic` was asked for")),
            Attach::Generic => false,
            Attach::Native => true,
            Attach::Auto => !cable || must_be_native,
        };
        let create = |native| link(&program, index, native).map(|link| (link, native));
        let mut made = create(native);
        if attach == Attach::Auto && native && !must_be_native && made.as_ref().is_err_and(|error| !is_occupied(error)) {
            made = create(false);
        }
        let (link, native) = made.map_err(|error| match error.raw_os_error() {
            // ERANGE: from Linux 5.16 on; before it EINVAL.
            Some(libc::ERANGE | libc::EINVAL | libc::EOPNOTSUPP) if must_be_native => {
                only_native(port, interface, queues, &error.to_string())
            }
            _ => cannot_attach(port, interface, native, error),
        })?;
        Ok(Self {
            port: port.to_owned(),
            interface: interface.to_owned(),
            map,
            link,
            native,
            claims: Mutex::default(),
            _promiscuous: promiscuous(index).ok(),
        })
    }

    /// Frames that come in by `queue` and are claimed go to `socket`.
    pub fn serve(&self, queue: u32, socket: &impl AsRawFd) -> Result<(), PortError> {
        let failed = |error| refused("giving the socket to the XDP program", &self.interface, error);
        self.map.set(queue, socket).map_err(failed)
    }

    /// Claims these frames and no others.
    pub fn claim(&self, claims: &[Claim]) -> Result<(), PortError> {
        // Each queue of a port asks; the first one does it for all.
        let mut before = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if *before == claims {
            return Ok(());
        }
        let program = load(&self.port, &self.interface, &self.map, claims)?;
        self.link.update(&program).map_err(|error| match error.raw_os_error() {
            Some(libc::ENOLINK) => PortError::Gone {
                port: self.port.clone(),
                why: format!("interface `{}` was removed", self.interface),
            },
            _ => refused("replacing the XDP program", &self.interface, error),
        })?;
        claims.clone_into(&mut before);
        Ok(())
    }
}

/// Why there is no way but a native program, and it cannot be had.
fn only_native(port: &str, interface: &str, queues: u32, why: &str) -> PortError {
    PortError::Unfit {
        port: port.to_owned(),
        why: format!(
            "the {queues} queues of the veth `{interface}` are told apart by a native XDP program only (to a generic one every frame \
             comes by queue 0), and that cannot be had: {why}; lower the MTU of both ends below 3500, or use one worker and one queue, \
             or `af_packet`"
        ),
    }
}

/// Attaches `program`; one that was killed a moment ago may not have gone yet.
fn link(program: &Program, index: i32, native: bool) -> io::Result<BpfLink> {
    let mut made = BpfLink::create(program, index, native);
    for _ in 0..OCCUPIED_ROUNDS {
        if !made.as_ref().is_err_and(is_occupied) {
            break;
        }
        sleep(OCCUPIED_PAUSE);
        made = BpfLink::create(program, index, native);
    }
    made
}

fn load(port: &str, interface: &str, map: &SocketMap, claims: &[Claim]) -> Result<Program, PortError> {
    let too_many = || PortError::Unfit {
        port: port.to_owned(),
        why: format!(
            "the kernel takes no program that tells {} kinds of test frames from its own; send fewer streams, or use `af_packet`",
            claims.len()
        ),
    };
    let code = assemble(map.descriptor(), claims).ok_or_else(too_many)?;
    Program::load(&code).map_err(|error| match error.kind() {
        io::ErrorKind::ArgumentListTooLong => too_many(),
        _ => refused("loading an XDP program", interface, error),
    })
}

fn refused(what: &str, interface: &str, error: io::Error) -> PortError {
    let hint = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Some(
            "XDP programs need CAP_BPF and CAP_NET_ADMIN of the machine, those of a user namespace do not count: run as root of the \
             machine, or use `backend: af_packet`",
        ),
        Some(libc::ENOSYS) => Some("this kernel has no bpf(2): use `backend: af_packet`"),
        _ => None,
    };
    PortError::with_hint(format!("{what} on interface `{interface}`"), error, hint)
}

fn is_occupied(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}

fn cannot_attach(port: &str, interface: &str, native: bool, error: io::Error) -> PortError {
    let unfit = |why: String| PortError::Unfit {
        port: port.to_owned(),
        why,
    };
    match error.raw_os_error() {
        _ if is_occupied(&error) => unfit(format!(
            "interface `{interface}` has an XDP program already, which is not ours to take out; `ip link show dev {interface}` names \
             it, and `ip link set dev {interface} xdp off` (or `xdpgeneric off`) removes one that no other program holds"
        )),
        Some(libc::ENOSPC) if native => unfit(format!(
            "interface `{interface}` has fewer receive queues than its far end sends by, so frames would go past an XDP program: make \
             them as many (ethtool -L), at the far end too"
        )),
        Some(libc::EOPNOTSUPP | libc::EINVAL | libc::ERANGE) if native => unfit(format!(
            "the driver of interface `{interface}` does not take an XDP program ({error}): use `attach: generic`, or lower the MTU of \
             both ends below 3500 if the driver knows XDP"
        )),
        Some(libc::EINVAL) => unfit(format!(
            "this kernel attaches no XDP program to interface `{interface}` by a link, which is there from Linux 5.9 on: use `af_packet`"
        )),
        _ => refused("attaching an XDP program", interface, error),
    }
}

/// Lets the interface take frames for any address while what this returns is open: a packet socket that receives nothing
/// itself, and ends with the process.
fn promiscuous(index: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed. Protocol 0: no frame comes in.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened and owned by nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let membership = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    // SAFETY: `membership` is valid for reads of its length.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const membership).cast(),
            size_of_val(&membership) as libc::socklen_t,
        )
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
}
