//! A port's VLANs as TAP interfaces, for the kernel's own protocols: a thread carries frames between the interface and the
//! TAPs, tags taken off and put on. For kernels without an 802.1Q driver, and for interfaces that test frames go by as well:
//! what comes up is what a classic BPF program passes, so test frames do not wake the thread.

mod tap;
mod waiting;

use crate::backend::af_packet::socket::{OFFLOAD_BYTES, PacketSocket};
use crate::backend::interface::look_up;
use crate::port::PortError;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tap::Links;
use waiting::{Bell, Waiting};

/// A TAP interface to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its name.
    pub name: String,
    /// Tag protocol identifier and VLAN of each tag, outermost first.
    pub tags: Vec<(u16, u16)>,
}

/// Frames that were carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Carried {
    /// From the interface to TAPs.
    pub up: u64,
    /// From TAPs to the interface.
    pub down: u64,
    /// Of a VLAN with a TAP, or from a TAP: lost on the way.
    pub dropped: u64,
}

/// The TAP interfaces of one interface, until it is closed or dropped.
#[derive(Debug)]
pub struct Taps {
    common: Arc<Common>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Common {
    bell: Bell,
    stop: AtomicBool,
    socket: PacketSocket,
    up: AtomicU64,
    down: AtomicU64,
    dropped: AtomicU64,
}

/// Addresses of an Ethernet header.
const ADDRESSES: usize = 12;
const TAG: usize = 4;
/// Room for tags before a frame.
const MOST_TAGS: usize = 8;
const HEADROOM: usize = MOST_TAGS * TAG;
/// What is put together of a TCP stream's segments, with its headers; the longest packet is 64 KiB.
const LONGEST: usize = OFFLOAD_BYTES + 14 + HEADROOM + (1 << 16);
/// Frames in a row before others have their turn.
const IN_A_ROW: usize = 64;
/// 802.1Q: the kernel grants such a frame the four bytes beyond the MTU, and no other tag.
const GRANTED: u16 = 0x8100;

impl Taps {
    /// Makes the TAPs in a network namespace (`/proc/PID/ns/net`), all with this MAC address and up, and begins.
    ///
    /// `interface` is one of the calling thread's namespace. Its MTU is that of the TAPs, less what further tags take.
    /// `filter` is the classic BPF program that passes what may come up.
    ///
    /// # Errors
    /// If the interface is missing or down; [`PortError::NoTap`] if the system gives no TAP interfaces there.
    pub fn start(interface: &str, namespace: &Path, mac: [u8; 6], taps: &[Tap], filter: &[(u16, u8, u8, u32)]) -> Result<Self, PortError> {
        if let Some(tap) = taps.iter().find(|tap| !(1..=MOST_TAGS).contains(&tap.tags.len())) {
            return Err(PortError::Unfit {
                port: tap.name.clone(),
                why: format!("{} tags; a TAP interface stands for 1 to {MOST_TAGS}", tap.tags.len()),
            });
        }
        let facts = look_up(interface, interface)?;
        let there = File::open(namespace).map_err(|source| PortError::system(format!("opening {}", namespace.display()), source))?;
        let common = Arc::new(Common {
            bell: Bell::new().map_err(|source| PortError::system("eventfd", source))?,
            stop: AtomicBool::new(false),
            socket: PacketSocket::open_filtered(interface, facts.index, filter)?,
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        });
        let (asked, its) = (taps.to_vec(), Arc::clone(&common));
        let (tell, told) = mpsc::channel();
        let carry = move || match Carrier::make(its, &there, mac, facts.mtu, &asked) {
            Ok(mut carrier) => {
                // An end that nobody waits for is the caller's.
                if tell.send(Ok(())).is_ok() {
                    carrier.run();
                }
            }
            Err(why) => drop(tell.send(Err(why))),
        };
        let spawned = std::thread::Builder::new().name("netdyno-taps".to_owned()).spawn(carry);
        let thread = spawned.map_err(|source| PortError::system("starting a thread for TAP interfaces", source))?;
        let mut started = Self {
            common,
            thread: Some(thread),
        };
        match told.recv() {
            Ok(Ok(())) => Ok(started),
            Ok(Err(why)) => Err(why),
            Err(_) => {
                started.close();
                Err(PortError::Gone {
                    port: interface.to_owned(),
                    why: "the thread of its TAP interfaces did not begin".to_owned(),
                })
            }
        }
    }

    /// What was carried so far.
    #[must_use]
    pub fn carried(&self) -> Carried {
        let common = &self.common;
        // Those that the socket had no room for; the kernel's figure starts again at each reading.
        let more = common.socket.take_dropped();
        let dropped = common.dropped.fetch_add(more, Ordering::Relaxed);
        Carried {
            up: common.up.load(Ordering::Relaxed),
            down: common.down.load(Ordering::Relaxed),
            dropped: dropped + more,
        }
    }

    /// Ends: the TAP interfaces are gone. Safe to call twice.
    pub fn close(&mut self) {
        self.common.stop.store(true, Ordering::Relaxed);
        self.common.bell.ring();
        if let Some(thread) = self.thread.take() {
            // A panic was reported by its thread, and nothing of it is left.
            let _ = thread.join();
        }
    }
}

impl Drop for Taps {
    fn drop(&mut self) {
        self.close();
    }
}

/// What the thread has.
struct Carrier {
    common: Arc<Common>,
    waiting: Waiting,
    links: Links,
    /// What the TAPs are to the kernel, together.
    group: u32,
    /// Each TAP, with the tags of its frames as they are on the wire.
    taps: Vec<(File, Vec<u8>)>,
    /// By protocol identifier and VLAN of each tag.
    places: HashMap<Vec<u32>, usize>,
    /// Protocol identifiers of all tags.
    tpids: Vec<u16>,
    memory: Vec<u8>,
}

/// What woke the thread, beside TAPs, which have their numbers.
const BELL: u64 = u64::MAX;
const SOCKET: u64 = u64::MAX - 1;

impl Carrier {
    fn make(common: Arc<Common>, namespace: &File, mac: [u8; 6], mtu: u32, asked: &[Tap]) -> Result<Self, PortError> {
        tap::enter(namespace)?;
        let links = Links::open()?;
        // Of all threads of this machine only one has this number.
        // SAFETY: no memory is passed.
        let group = unsafe { libc::gettid() } as u32;
        let epoll = |source| PortError::system("epoll", source);
        let waiting = Waiting::new().map_err(epoll)?;
        waiting.add(common.bell.as_raw_fd(), BELL).map_err(epoll)?;
        let (mut taps, mut places, mut tpids) = (Vec::new(), HashMap::new(), Vec::new());
        for (number, one) in asked.iter().enumerate() {
            let granted = usize::from(one.tags[0].0 == GRANTED);
            let room = mtu.saturating_sub(((one.tags.len() - granted) * TAG) as u32);
            let made = tap::make(&one.name)?;
            links.configure(&one.name, mac, room, group)?;
            waiting.add(made.as_raw_fd(), number as u64).map_err(epoll)?;
            let bytes = one.tags.iter().flat_map(|&(tpid, vid)| {
                let ([a, b], [c, d]) = (tpid.to_be_bytes(), vid.to_be_bytes());
                [a, b, c, d]
            });
            taps.push((made, bytes.collect()));
            places.insert(one.tags.iter().map(|&(tpid, vid)| key(tpid, vid)).collect(), number);
            tpids.extend(one.tags.iter().map(|(tpid, _)| *tpid));
        }
        tpids.sort_unstable();
        tpids.dedup();
        // Last, so that nothing comes up before there is a way.
        waiting.add(common.socket.descriptor(), SOCKET).map_err(epoll)?;
        Ok(Self {
            common,
            waiting,
            links,
            group,
            taps,
            places,
            tpids,
            memory: vec![0; LONGEST],
        })
    }

    fn run(&mut self) {
        while !self.common.stop.load(Ordering::Relaxed) {
            let Ok(woken) = self.waiting.wait() else { break };
            for place in woken {
                match place {
                    BELL => {}
                    SOCKET => self.lift(),
                    tap => self.lower(tap as usize),
                }
            }
        }
        // They would go with their descriptors as well, but slower.
        let _ = self.links.delete(self.group);
    }

    /// Carries what has come in by the interface to the TAPs.
    fn lift(&mut self) {
        for _ in 0..IN_A_ROW {
            let count = match self.common.socket.receive_one(&mut self.memory) {
                Ok((_, _, true)) => &self.common.dropped,
                Ok((len, taken, false)) => match self.hand_up(len, taken) {
                    None => continue,
                    Some(true) => &self.common.up,
                    Some(false) => &self.common.dropped,
                },
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                // Nothing more; or the interface was taken down, which is said once.
                Err(_) => return,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Has a TAP receive the frame in memory, and says whether it did; `None`: it is on the VLAN of none.
    fn hand_up(&mut self, len: usize, taken: Option<[u8; 4]>) -> Option<bool> {
        let tag = |bytes: [u8; 4]| {
            let [a, b, c, d] = bytes;
            (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]) & 0x0fff)
        };
        let mut tags = [0_u32; MOST_TAGS];
        let mut depth = 0;
        if let Some((tpid, vid)) = taken.map(tag) {
            (tags[0], depth) = (key(tpid, vid), 1);
        }
        let first = OFFLOAD_BYTES + ADDRESSES;
        let mut rest = first;
        while depth < MOST_TAGS {
            let Some(&bytes) = self.memory[..len].get(rest..).and_then(<[u8]>::first_chunk) else {
                break;
            };
            let (tpid, vid) = tag(bytes);
            if !self.tpids.contains(&tpid) {
                break;
            }
            tags[depth] = key(tpid, vid);
            depth += 1;
            rest += TAG;
        }
        let place = *self.places.get(&tags[..depth])?;
        let off = rest - first;
        if off > 0 {
            move_header(&mut self.memory, off);
        }
        Some(self.taps[place].0.write(&self.memory[off..len]).is_ok())
    }

    /// Carries what a TAP's kernel has sent to the interface.
    fn lower(&mut self, place: usize) {
        let (tap, tags) = &mut self.taps[place];
        let (start, first) = (HEADROOM - tags.len(), OFFLOAD_BYTES + ADDRESSES);
        for _ in 0..IN_A_ROW {
            let len = match tap.read(&mut self.memory[HEADROOM..]) {
                Ok(len) if len > first => len,
                Ok(_) => continue,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return,
                // Somebody deleted it.
                Err(_) => return self.waiting.remove(tap.as_raw_fd()),
            };
            // Nothing is left to do: a TAP that was asked for no offloads gets whole frames.
            self.memory[start..][..OFFLOAD_BYTES].fill(0);
            self.memory
                .copy_within(HEADROOM + OFFLOAD_BYTES..HEADROOM + first, start + OFFLOAD_BYTES);
            self.memory[start + first..HEADROOM + first].copy_from_slice(tags);
            let sent = self.common.socket.send_one(&self.memory[start..HEADROOM + len]);
            let count = if sent.is_ok() { &self.common.down } else { &self.common.dropped };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A tag for comparison: without its priority.
fn key(tpid: u16, vid: u16) -> u32 {
    u32::from(tpid) << 16 | u32::from(vid & 0x0fff)
}

/// Moves header and addresses over the tags behind them, `off` bytes, and has the header say where things are then.
fn move_header(memory: &mut [u8], off: usize) {
    // `struct virtio_net_hdr`: flags, kind of segments, length of the headers, size of a segment, where the checksum starts and
    // is, each in the machine's own order of bytes.
    const NEEDS_CHECKSUM: u8 = 1;
    const HEADERS: usize = 2;
    const CHECKSUM_START: usize = 6;
    let needs = memory[0] & NEEDS_CHECKSUM != 0;
    for place in [Some(HEADERS), needs.then_some(CHECKSUM_START)].into_iter().flatten() {
        let value = u16::from_ne_bytes([memory[place], memory[place + 1]]);
        memory[place..][..2].copy_from_slice(&value.saturating_sub(off as u16).to_ne_bytes());
    }
    memory.copy_within(..OFFLOAD_BYTES + ADDRESSES, off);
}
