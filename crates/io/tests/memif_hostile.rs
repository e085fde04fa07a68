//! Peers that lie: in their messages, in their rings, on the socket. Each lie ends the connection with the reason, and
//! the next peer is served.

mod support;

use netdyno_io::backend::memif::{Memif, MemifPort, Role, open};
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Clock, Instant};
use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Mutex;
use support::{PATIENCE, abstract_socket, collect, frame, send_all, send_at};

/// The ring to the client follows that from it: 128 bytes and 1024 descriptors of 16.
const TO_CLIENT: u64 = 128 + 16 * 1024;
const HEAD: u64 = 6;
const TAIL: u64 = 64;
const DESCRIPTORS: u64 = 128;

/// Shared memory of this process is told apart by its file, so one test at a time has any.
static ALONE: Mutex<()> = Mutex::new(());

fn one(socket: &str, role: Role) -> MemifPort {
    let mut spec = Memif::new(socket, role);
    spec.ring_log2 = 10;
    open("west", &spec, 1514, 1).expect("opens").remove(0)
}

/// A server and its client.
fn connected() -> (MemifPort, MemifPort) {
    let socket = abstract_socket();
    let (mut server, mut client) = (one(&socket, Role::Server), one(&socket, Role::Client));
    server.ready().expect("comes");
    client.ready().expect("comes");
    (server, client)
}

/// The memory of the one connection there is, to lie in: this process's own, and where the region begins.
struct Memory(File, u64);

impl Memory {
    fn shared() -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("reads");
        let line = maps
            .lines()
            .find(|it| it.contains("/memfd:netdyno memif"))
            .expect("there is a connection");
        let start = line.split('-').next().expect("an address");
        let memory = File::options().read(true).write(true).open("/proc/self/mem").expect("opens");
        Self(memory, u64::from_str_radix(start, 16).expect("an address"))
    }

    fn put(&self, at: u64, bytes: &[u8]) {
        self.0.write_all_at(bytes, self.1 + at).expect("writes");
    }

    fn get(&self, at: u64) -> [u8; 8] {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, self.1 + at).expect("reads");
        bytes
    }
}

/// A client that never says that a frame ends with its buffer where one once did not: what the server has read it gives back
/// with nothing left of that, and keeps the region and the length.
#[test]
fn buffers_that_were_joined_are_given_back_parted() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (mut server, mut client) = connected();
    let memory = Memory::shared();
    send_all(&mut client, &[frame(1, 60), frame(2, 70), frame(3, 80)]);
    // The first two are one frame, which ends with the second.
    memory.put(DESCRIPTORS, &[1, 0]);
    let joined = [frame(1, 60), frame(2, 70)].concat();
    assert_eq!(collect(&mut server, 2), [joined, frame(3, 80)]);
    for (index, len) in [(0, 60), (1, 70), (2, 80)] {
        assert_eq!(memory.get(DESCRIPTORS + 16 * index), [0, 0, 0, 0, len, 0, 0, 0]);
    }
}

/// What the victim says once `lie` was written to the shared memory; the liar gets the same.
fn caught(victim_is: Role, lie: impl Fn(&Memory)) -> String {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (mut server, mut client) = connected();
    let memory = Memory::shared();
    let (victim, liar) = match victim_is {
        Role::Server => (&mut server, &mut client),
        Role::Client => (&mut client, &mut server),
    };
    send_all(liar, &[frame(1, 60)]);
    lie(&memory);
    let clock = Clock::start();
    let gone = |port: &mut MemifPort| loop {
        let answers = [
            port.receive(Instant::ZERO, 64, &mut |_| {}),
            send_at(port, Instant::ZERO, &[frame(2, 60)]),
        ];
        for answer in answers {
            match answer {
                Ok(_) => assert!(clock.now() < Instant::ZERO + PATIENCE, "nothing was noticed"),
                Err(PortError::Gone { why, .. }) => return why,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let why = gone(victim);
    let told = gone(liar);
    let (_, violation) = why.split_once("its peer broke the rules of memif: ").expect("says so");
    assert!(told.contains("disconnected: ") && told.contains(violation), "{told}");
    // Who lied once is served again.
    victim.ready().expect("comes back");
    liar.ready().expect("comes back");
    send_all(liar, &[frame(3, 60)]);
    assert_eq!(collect(victim, 1), [frame(3, 60)]);
    violation.to_owned()
}

/// As [`caught`], with one number written.
fn lie(victim_is: Role, at: u64, bytes: &[u8]) -> String {
    caught(victim_is, |memory| memory.put(at, bytes))
}

#[test]
fn a_client_that_lies_in_its_rings() {
    assert_eq!(
        lie(Role::Server, HEAD, &5000_u16.to_ne_bytes()),
        "head 5000 of a ring of 1024 that was read up to 0"
    );
    assert_eq!(
        lie(Role::Server, HEAD, &0xffff_u16.to_ne_bytes()),
        "head 65535 of a ring of 1024 that was read up to 0"
    );
    // Flags 0, region 9; then the length; then the offset.
    assert_eq!(
        lie(Role::Server, DESCRIPTORS + 2, &9_u16.to_ne_bytes()),
        "a descriptor names region 9, which does not exist"
    );
    assert!(lie(Role::Server, DESCRIPTORS + 4, &u32::MAX.to_ne_bytes()).starts_with("a descriptor of 4294967295 bytes at offset"));
    assert!(lie(Role::Server, DESCRIPTORS + 8, &u32::MAX.to_ne_bytes()).starts_with("a descriptor of 60 bytes at offset 4294967295"));
    // Buffers for us: none can be filled, or more than there are.
    let room = TO_CLIENT + DESCRIPTORS;
    assert_eq!(lie(Role::Server, room + 4, &0_u32.to_ne_bytes()), "a buffer of no bytes");
    assert_eq!(
        lie(Role::Server, room + 2, &1_u16.to_ne_bytes()),
        "a descriptor names region 1, which does not exist"
    );
    assert_eq!(
        lie(Role::Server, TO_CLIENT + HEAD, &5000_u16.to_ne_bytes()),
        "head 5000 of a ring of 1024 whose other index is 1024"
    );
}

#[test]
fn a_server_that_lies_in_our_rings() {
    assert_eq!(
        lie(Role::Client, TO_CLIENT + TAIL, &1025_u16.to_ne_bytes()),
        "tail 1025 of a ring of 1024 that was read up to 0"
    );
    assert_eq!(
        lie(Role::Client, TO_CLIENT + DESCRIPTORS + 4, &5000_u32.to_ne_bytes()),
        "5000 bytes in a buffer of 1600"
    );
}

/// A ring whose frames go on and on.
#[test]
fn a_frame_without_end() {
    let endless = |memory: &Memory| {
        for index in 0..1024 {
            memory.put(DESCRIPTORS + 16 * index, &[1, 0]);
        }
        memory.put(HEAD, &1024_u16.to_ne_bytes());
    };
    assert_eq!(caught(Role::Server, endless), "a frame that takes the whole ring and does not end");
}

/// A bare socket: what a peer says that knows no rules.
struct Bare(OwnedFd);

impl Bare {
    fn connect(name: &str) -> Self {
        // SAFETY: all-zero is a valid address; no other memory is passed.
        unsafe {
            let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0));
            let mut address: libc::sockaddr_un = std::mem::zeroed();
            address.sun_family = libc::AF_UNIX as libc::sa_family_t;
            for (to, from) in address.sun_path[1..].iter_mut().zip(name[1..].bytes()) {
                *to = from as libc::c_char;
            }
            let len = (2 + name.len()) as libc::socklen_t;
            assert_eq!(libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len), 0);
            Self(socket)
        }
    }

    fn say(&self, bytes: &[u8]) {
        // SAFETY: the bytes are valid for reads of their length.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        assert_eq!(sent, bytes.len() as isize);
    }

    /// As [`Self::say`], with a file.
    fn pass(&self, bytes: &[u8], file: &File) {
        // Aligned as the header of a control message, and longer than one with a file.
        let mut control = [0_u64; 4];
        // SAFETY: all-zero is a valid header; it leads to buffers that live, of the lengths it says.
        let sent = unsafe {
            let mut vector = libc::iovec {
                iov_base: bytes.as_ptr().cast_mut().cast(),
                iov_len: bytes.len(),
            };
            let mut header: libc::msghdr = std::mem::zeroed();
            (header.msg_iov, header.msg_iovlen) = (&raw mut vector, 1);
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
            libc::CMSG_DATA(message).cast::<libc::c_int>().write_unaligned(file.as_raw_fd());
            libc::sendmsg(self.0.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
        };
        assert_eq!(sent, bytes.len() as isize);
    }

    /// Whether there is something to hear: a message, or that the other end has gone.
    fn has_news(&self) -> bool {
        let mut polled = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry is valid for reads and writes.
        unsafe { libc::poll(&raw mut polled, 1, 0) > 0 }
    }

    /// The type and the text of the next message.
    fn hear(&self) -> (u16, String) {
        let mut bytes = [0_u8; 256];
        // SAFETY: the bytes are valid for writes of their length.
        let got = unsafe { libc::recv(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        assert_eq!(got, 128);
        let text = bytes[6..102].split(|byte| *byte == 0).next().unwrap_or_default();
        (u16::from_ne_bytes([bytes[0], bytes[1]]), String::from_utf8_lossy(text).into_owned())
    }
}

#[test]
fn peers_that_send_nonsense_are_refused_and_the_next_one_is_served() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let socket = abstract_socket();
    let mut server = one(&socket, Role::Server);
    let padded = |bytes: &[u8]| {
        let mut message = bytes.to_vec();
        message.resize(128, 0);
        message
    };
    let nonsense: [(Vec<u8>, &str); 6] = [
        (vec![3], "a message of 1 bytes; they have 128"),
        (vec![3; 200], "a message of 129 bytes; they have 128"),
        (padded(&[99, 0]), "unknown message type 99"),
        (padded(&[6, 0]), "got CONNECT, expected INIT"),
        (padded(&[3, 0, 0, 3]), "memif 3.0 is not supported, 2.0 is"),
        (
            padded(&[3, 0, 0, 2, 0, 0, 0, 0, 1]),
            "interface mode 1 is not supported, Ethernet (0) is",
        ),
    ];
    for (said, answer) in nonsense {
        let peer = Bare::connect(&socket);
        assert_eq!(peer.hear().0, 2, "HELLO");
        peer.say(&said);
        assert_eq!(peer.hear(), (8, answer.to_owned()));
    }
    // After a good INIT: a region and a ring without their files, rings before regions.
    for (said, answer) in [
        (padded(&[4, 0, 0, 0, 0, 16]), "region 0 without its file"),
        (padded(&[5, 0, 1, 0, 0, 0, 0, 0]), "ring 0 from the client without its event file"),
        (padded(&[6, 0]), "0 of 1 queues have their rings: give both ends as many queues"),
    ] {
        let peer = Bare::connect(&socket);
        assert_eq!(peer.hear().0, 2, "HELLO");
        peer.say(&padded(&[3, 0, 0, 2]));
        assert_eq!(peer.hear().0, 1, "ACK");
        peer.say(&said);
        assert_eq!(peer.hear(), (8, answer.to_owned()));
    }
    // One that goes without a word, and one that knows how.
    drop(Bare::connect(&socket));
    let mut client = one(&socket, Role::Client);
    client.ready().expect("its turn");
    server.ready().expect("comes");
    send_all(&mut client, &[frame(1, 60)]);
    assert_eq!(collect(&mut server, 1), [frame(1, 60)]);
}

/// A client that says nothing, and one that stops half way, each at an interface of a socket that others share: the
/// others are served while these still have time to speak.
#[test]
fn silent_clients_delay_no_other_client() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let socket = abstract_socket();
    let end = |role, id| {
        let mut spec = Memif::new(&socket, role);
        spec.id = id;
        open("west", &spec, 1514, 1).expect("opens").remove(0)
    };
    let (_zero, mut one) = (end(Role::Server, 0), end(Role::Server, 1));
    let silent = Bare::connect(&socket);
    assert_eq!(silent.hear().0, 2, "HELLO");
    let halfway = Bare::connect(&socket);
    assert_eq!(halfway.hear().0, 2, "HELLO");
    let mut init = vec![3, 0, 0, 2];
    init.resize(128, 0);
    halfway.say(&init);
    assert_eq!(halfway.hear().0, 1, "ACK");
    let mut client = end(Role::Client, 1);
    client.ready().expect("its turn");
    assert!(!halfway.has_news(), "it was served only after the other had used up its time");
    one.ready().expect("comes");
    send_all(&mut client, &[frame(1, 60)]);
    assert_eq!(collect(&mut one, 1), [frame(1, 60)]);
    // More of them than are talked with at once.
    let crowd: Vec<_> = (0..20).map(|_| Bare::connect(&socket)).collect();
    drop(client);
    let mut next = end(Role::Client, 1);
    next.ready().expect("its turn");
    drop(crowd);
}

/// A file of 48 MiB costs nobody anything until it is touched: were each region made present, a peer of 256 would have us
/// fill the memory of the machine.
#[test]
fn sparse_regions_without_end_take_no_more_memory_than_declared() {
    const REGION: u64 = 48 << 20;
    let socket = abstract_socket();
    let _server = one(&socket, Role::Server);
    let padded = |bytes: &[u8]| {
        let mut message = bytes.to_vec();
        message.resize(128, 0);
        message
    };
    let peer = Bare::connect(&socket);
    assert_eq!(peer.hear().0, 2, "HELLO");
    peer.say(&padded(&[3, 0, 0, 2]));
    assert_eq!(peer.hear().0, 1, "ACK");
    let sparse = || {
        // SAFETY: the name is a C string; the file is owned by nobody else.
        let file = unsafe {
            let file = libc::memfd_create(c"sparse".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
            assert!(file >= 0);
            File::from(OwnedFd::from_raw_fd(file))
        };
        file.set_len(REGION).expect("grows");
        file
    };
    let files: Vec<File> = (0..6).map(|_| sparse()).collect();
    for (index, file) in files.iter().enumerate() {
        let message = [&[4, 0, index as u8, 0][..], &REGION.to_ne_bytes()].concat();
        peer.pass(&padded(&message), file);
        assert_eq!(peer.hear(), (1, String::new()), "ACK of region {index}");
    }
    // What the system says is behind each, in blocks of 512 bytes.
    let present: Vec<u64> = files.iter().map(|file| file.metadata().expect("is there").blocks() * 512).collect();
    assert_eq!(present, [REGION, 0, 0, 0, 0, 0]);
}
