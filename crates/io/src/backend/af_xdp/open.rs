//! Opening a queue: as much memory as may be locked, a queue that may still be busy, copying or not.

use super::options::Mode;
use super::socket::{Failure, Frames, XdpSocket};
use crate::port::PortError;
use crate::time::{Duration, sleep};
use std::io;

/// The sizes a frame's memory may have.
pub(super) const CHUNKS: [u32; 2] = [2048, 4096];
/// Of which the kernel keeps this much in front of what it receives (`XDP_PACKET_HEADROOM`).
pub(super) const HEADROOM: u32 = 256;
/// Frames of memory for a queue, to receive into and to send from: 16 ms of a million a second; and more on their way
/// than the 2,000 that a device on a core of its own takes in before it drops, or it would slow the sender instead.
const FRAMES: [u32; 2] = [16_384, 4096];
/// The same where memory may not be locked beyond the 8 MiB of a plain Debian: 4 MiB, and what was common before.
const FEW_BYTES: [usize; 2] = [4 << 20, 1 << 20];
/// A queue stays busy for some 100 ms after its last socket was closed.
const BUSY_ROUNDS: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_ms(20);

/// The least memory a frame may have, of the sizes there are, for frames of up to `max_frame` bytes without FCS.
///
/// Cards take in KiB the length of the memory that they write to: igb, igc and 82598s would cut a frame of 1514 bytes
/// where 1792 are left of 2048.
pub(super) fn chunk(max_frame: u32, zero_copy: bool) -> Option<u32> {
    let room = |chunk: u32| match chunk - HEADROOM {
        room if zero_copy => room / 1024 * 1024,
        room => room,
    };
    CHUNKS.into_iter().find(|chunk| max_frame <= room(*chunk))
}

/// A socket with as much memory as may be locked.
fn with_memory(interface: &str, chunk: u32) -> Result<(XdpSocket, Frames), PortError> {
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
        Some(libc::EAFNOSUPPORT) => Some("this kernel has no AF_XDP sockets: use `backend: af_packet`"),
        Some(libc::ENOBUFS | libc::ENOMEM) => Some("less than 1 MiB may be locked: raise `ulimit -l`, or grant CAP_IPC_LOCK"),
        Some(libc::EPERM | libc::EACCES) => Some("AF_XDP sockets need CAP_NET_RAW: run as root, or grant it to this process"),
        _ => None,
    };
    Err(PortError::with_hint(format!("{what} for interface `{interface}`"), source, hint))
}

/// A socket with its memory, bound to a queue; without copying where that is asked for and can be.
pub(super) fn queue(
    name: &str,
    interface: &str,
    (index, queue): (i32, u32),
    max_frame: u32,
    mode: Mode,
    native: bool,
) -> Result<(XdpSocket, Frames), PortError> {
    let attempts: &[bool] = match mode {
        Mode::Auto if native => &[true, false],
        Mode::Auto | Mode::Copy => &[false],
        Mode::ZeroCopy => &[true],
    };
    let mut last = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
    for &zero_copy in attempts {
        let Some(chunk) = chunk(max_frame, zero_copy) else { continue };
        let (socket, frames) = with_memory(interface, chunk)?;
        for _ in 0..BUSY_ROUNDS {
            match socket.bind(index, queue, zero_copy) {
                Ok(()) => return Ok((socket, frames)),
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
        // What is asked for is wrong for the driver too: a virtio card of a host that keeps its memory to itself.
        Some(libc::EOPNOTSUPP | libc::EINVAL) if mode == Mode::ZeroCopy => unfit(format!(
            "the driver of interface `{interface}` cannot do without copying: use mode `auto` or `copy`, and attach `native` where it can"
        )),
        Some(libc::EINVAL) => unfit(format!(
            "interface `{interface}` has no queue {queue} to send and receive by; `ethtool -l {interface}` shows how many there are"
        )),
        _ => PortError::system(
            format!("binding an AF_XDP socket to queue {queue} of interface `{interface}`"),
            last,
        ),
    })
}

/// Describes for people how the port was attached.
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

#[cfg(test)]
mod tests {
    use super::chunk;

    /// 82576 datasheet, SRRCTL.BSIZEPACKET: the length of a receive buffer, in KiB.
    #[test]
    fn frames_fit_in_the_buffer_of_a_card_in_whole_kib() {
        assert_eq!(chunk(1514, false), Some(2048));
        assert_eq!(chunk(1514, true), Some(4096));
        assert_eq!((chunk(1024, true), chunk(1025, true)), (Some(2048), Some(4096)));
        assert_eq!((chunk(3840, false), chunk(3841, false)), (Some(4096), None));
        assert_eq!((chunk(3072, true), chunk(3073, true)), (Some(4096), None));
    }
}
