//! Opening a queue: as much memory as may be locked, a queue that may still be busy, copying or not.

use super::Mode;
use super::socket::{Failure, Frames, XdpSocket};
use crate::port::PortError;
use crate::time::{Duration, sleep};
use std::io;

/// Frames of memory for a queue, to receive into and to send from: 16 ms of a million a second; and more on their way
/// than the 2,000 that a device on a core of its own takes in before it drops, or it would slow the sender instead.
const FRAMES: [u32; 2] = [16_384, 4096];
/// The same where memory may not be locked beyond the 8 MiB of a plain Debian: 4 MiB, and what was common before.
const FEW_BYTES: [usize; 2] = [4 << 20, 1 << 20];
/// A queue stays busy for some 100 ms after its last socket was closed.
const BUSY_ROUNDS: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_ms(20);

/// A socket with as much memory as may be locked.
pub(super) fn with_memory(interface: &str, chunk: u32) -> Result<(XdpSocket, Frames), PortError> {
    let [receive, send] = FRAMES;
    let few = FEW_BYTES.map(|bytes| bytes as u32 / chunk / 2).map(|half| Frames {
        receive: half,
        send: half,
        chunk,
    });
    let mut failure: Option<Failure> = None;
    for frames in [Frames { receive, send, chunk }].into_iter().chain(few) {
        match XdpSocket::new(frames) {
            Ok(socket) => return Ok((socket, frames)),
            Err(error) => {
                let locked = matches!(error.1.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM | libc::EPERM));
                failure = Some(error);
                if !locked {
                    break;
                }
            }
        }
    }
    let (what, source) = failure.expect("at least one size was tried");
    let hint = match source.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => " (this kernel has no AF_XDP sockets: use `af_packet`)",
        Some(libc::ENOBUFS | libc::ENOMEM) => " (less than 1 MiB may be locked: raise `ulimit -l`, or run as root)",
        Some(libc::EPERM | libc::EACCES) => " (needs CAP_NET_RAW: run as root)",
        _ => "",
    };
    Err(PortError::System {
        what: format!("{what} for interface `{interface}`{hint}"),
        source,
    })
}

/// Binds `socket` to a queue, without copying where that is asked for and can be.
pub(super) fn bind(
    name: &str,
    interface: &str,
    socket: &XdpSocket,
    index: i32,
    queue: u32,
    mode: Mode,
    native: bool,
) -> Result<(), PortError> {
    let attempts: &[bool] = match mode {
        Mode::Auto if native => &[true, false],
        Mode::Auto | Mode::Copy => &[false],
        Mode::ZeroCopy => &[true],
    };
    let mut last = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
    for &zero_copy in attempts {
        for _ in 0..BUSY_ROUNDS {
            match socket.bind(index, queue, zero_copy) {
                Ok(()) => return Ok(()),
                Err(error) => last = error,
            }
            if last.raw_os_error() != Some(libc::EBUSY) {
                break;
            }
            sleep(BUSY_PAUSE);
        }
    }
    let unfit = |why: String| PortError::Unfit {
        port: name.to_owned(),
        why,
    };
    Err(match last.raw_os_error() {
        Some(libc::EBUSY) => unfit(format!(
            "queue {queue} of interface `{interface}` is in use by another AF_XDP socket; end the program that has it"
        )),
        Some(libc::EINVAL) => unfit(format!(
            "interface `{interface}` has no queue {queue} to send and receive by; `ethtool -l {interface}` shows how many there are"
        )),
        Some(libc::EOPNOTSUPP) if mode == Mode::ZeroCopy => unfit(format!(
            "the driver of interface `{interface}` cannot do without copying: use mode `auto` or `copy`, and attach `native` where it can"
        )),
        _ => PortError::System {
            what: format!("binding an AF_XDP socket to queue {queue} of interface `{interface}`"),
            source: last,
        },
    })
}

/// What it turned out to be, for people.
pub(super) fn detail(zero_copy: bool, native: bool, frames: Frames) -> String {
    let copy = if zero_copy { "zero-copy" } else { "copy" };
    let attach = if native { "native" } else { "generic" };
    let short = if frames.receive < FRAMES[0] {
        format!(", only {} MiB of memory may be locked", frames.bytes() >> 20)
    } else {
        String::new()
    };
    format!("{copy}, {attach} attach, need-wakeup{short}")
}
