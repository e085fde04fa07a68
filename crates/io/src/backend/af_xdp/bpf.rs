//! The calls of bpf(2) that an AF_XDP port needs: a map of sockets, a program, and its place in an interface's receive path.

use super::program::Instruction;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEMENT: libc::c_int = 2;
const PROGRAM_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const LINK_UPDATE: libc::c_int = 29;
const LINK_DETACH: libc::c_int = 34;

/// `BPF_MAP_TYPE_XSKMAP`: queue number to AF_XDP socket.
const MAP_OF_SOCKETS: u32 = 17;
/// `BPF_PROG_TYPE_XDP`.
const PROGRAM_XDP: u32 = 6;
/// `BPF_XDP`, as an attach type.
const ATTACH_XDP: u32 = 37;
/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE` of linux/if_link.h.
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// What `ip link` and `bpftool` call the program.
const NAME: [u8; 16] = *b"netdyno\0\0\0\0\0\0\0\0\0";
/// None of the functions we call asks for more.
const LICENSE: &[u8] = b"Dual MIT/GPL\0";
/// The verifier's words, when it refuses.
const LOG_BYTES: usize = 1 << 16;

// The members of `union bpf_attr` that are used, each up to the last field that is not zero.

#[repr(C)]
struct CreateMap {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner_map: u32,
    numa_node: u32,
    name: [u8; 16],
}

#[repr(C)]
struct UpdateElement {
    map: u32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct LoadProgram {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
}

#[repr(C)]
struct CreateLink {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

#[repr(C)]
struct UpdateLink {
    link: u32,
    program: u32,
    flags: u32,
    old_program: u32,
}

#[repr(C)]
struct DetachLink {
    link: u32,
}

/// # Safety
/// `attributes` is the member of `union bpf_attr` for `command`, and what it points to is valid as the command asks.
unsafe fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<libc::c_long> {
    let bytes = size_of::<T>() as libc::c_uint;
    // SAFETY: `attributes` is valid for reads and writes of its size, and right for the command by this function's contract.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), bytes) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// # Safety
/// As [`bpf`], with a command that answers with a new descriptor.
unsafe fn descriptor<T>(command: libc::c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: by this function's contract.
    let answer = unsafe { bpf(command, attributes) }?;
    // SAFETY: just opened by the kernel and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(answer as libc::c_int) })
}

/// The same, of what before Linux 5.11 is locked memory, of which plain Debian allows little even to root.
///
/// # Safety
/// As [`descriptor`].
unsafe fn locked<T>(command: libc::c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: by this function's contract.
    let made = unsafe { descriptor(command, attributes) };
    if made.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EPERM)) && allow_locked_memory() {
        // SAFETY: by this function's contract.
        return unsafe { descriptor(command, attributes) };
    }
    made
}

fn allow_locked_memory() -> bool {
    let all = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `all` is valid for reads.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const all) == 0 }
}

fn number(descriptor: &impl AsRawFd) -> u32 {
    descriptor.as_raw_fd() as u32
}

/// A map from queue numbers to sockets.
#[derive(Debug)]
pub(super) struct SocketMap(OwnedFd);

impl SocketMap {
    /// A map for queues 0 to `queues - 1`.
    pub fn new(queues: u32) -> io::Result<Self> {
        let mut attributes = CreateMap {
            kind: MAP_OF_SOCKETS,
            key_bytes: 4,
            value_bytes: 4,
            entries: queues,
            flags: 0,
            inner_map: 0,
            numa_node: 0,
            name: NAME,
        };
        // SAFETY: the attributes are the command's and point to nothing.
        unsafe { locked(MAP_CREATE, &mut attributes) }.map(Self)
    }

    /// Frames of `queue` go to `socket`, which is bound to it; until either is closed.
    pub fn set(&self, queue: u32, socket: &impl AsRawFd) -> io::Result<()> {
        let socket = number(socket);
        let mut attributes = UpdateElement {
            map: number(&self.0),
            reserved: 0,
            key: std::ptr::from_ref(&queue) as u64,
            value: std::ptr::from_ref(&socket) as u64,
            flags: 0,
        };
        // SAFETY: key and value are valid for reads of four bytes each, as the map was made.
        unsafe { bpf(MAP_UPDATE_ELEMENT, &mut attributes) }.map(|_| ())
    }

    /// Returns the descriptor by which programs name the map.
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// A program that the kernel has accepted.
#[derive(Debug)]
pub(super) struct Program(OwnedFd);

impl Program {
    /// Loads a program. If the kernel finds fault with the program itself, its words are in the error.
    pub fn load(instructions: &[Instruction]) -> io::Result<Self> {
        let mut attributes = LoadProgram {
            kind: PROGRAM_XDP,
            count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: NAME,
        };
        // SAFETY: `instructions` is valid for reads of `count` instructions, the license ends with a zero.
        let refused = match unsafe { locked(PROGRAM_LOAD, &mut attributes) } {
            Ok(loaded) => return Ok(Self(loaded)),
            Err(error) if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EACCES | libc::E2BIG)) => return Err(error),
            Err(error) => error,
        };
        let mut log = vec![0_u8; LOG_BYTES];
        (attributes.log_level, attributes.log_bytes, attributes.log) = (1, LOG_BYTES as u32, log.as_mut_ptr() as u64);
        // SAFETY: as above; `log` is valid for writes of `log_bytes`.
        match unsafe { descriptor(PROGRAM_LOAD, &mut attributes) } {
            Ok(loaded) => Ok(Self(loaded)),
            Err(_) => {
                let text = String::from_utf8_lossy(&log);
                let lines = text.trim_end_matches('\0').lines().rev();
                let said: Vec<&str> = lines.filter(|line| !line.starts_with("processed ")).take(2).collect();
                Err(io::Error::new(
                    refused.kind(),
                    format!("{refused}; the kernel says: {}", said.join("; ")),
                ))
            }
        }
    }
}

/// A program in the receive path of an interface. It is taken out when this is dropped, or when the process ends, however
/// it ends.
#[derive(Debug)]
pub(super) struct BpfLink(OwnedFd);

impl BpfLink {
    /// Puts `program` into the receive path of interface `index`: of its driver, or behind it.
    pub fn create(program: &Program, index: i32, native: bool) -> io::Result<Self> {
        let mut attributes = CreateLink {
            program: number(&program.0),
            interface: index as u32,
            attach_type: ATTACH_XDP,
            flags: if native { NATIVE } else { GENERIC },
        };
        // SAFETY: the attributes are the command's and point to nothing.
        unsafe { descriptor(LINK_CREATE, &mut attributes) }.map(Self)
    }

    /// Puts another program in the place of the one before, between two frames.
    pub fn update(&self, program: &Program) -> io::Result<()> {
        let mut attributes = UpdateLink {
            link: number(&self.0),
            program: number(&program.0),
            flags: 0,
            old_program: 0,
        };
        // SAFETY: the attributes are the command's and point to nothing.
        unsafe { bpf(LINK_UPDATE, &mut attributes) }.map(|_| ())
    }
}

impl Drop for BpfLink {
    fn drop(&mut self) {
        // Closing it would do, but not at once where a child of this process is about to be another program and has it
        // still. What fails is a link whose interface has gone.
        let mut attributes = DetachLink { link: number(&self.0) };
        // SAFETY: the attributes are the command's and point to nothing.
        let _ = unsafe { bpf(LINK_DETACH, &mut attributes) };
    }
}
