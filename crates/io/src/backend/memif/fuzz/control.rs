//! Hostile peers on real control sockets: packets that are truncated, too long, out of order, without their files, with too
//! many of them, or without end. Each dialogue ends in time with a connection or a reason, every file is closed, and a
//! server serves the next client.

use super::super::attached::Attached;
use super::super::conversation::Conversation;
use super::super::handshake::{Established, Refusal, client};
use super::super::message::{AddRegion, MESSAGE_BYTES, Message};
use super::super::role::Role;
use super::super::socket::{self, Bell, Channel};
use super::{complaint, conversation, interface, sealed_with_rings};
use crate::time::{Clock, Duration, Instant, sleep};
use netdyno_fuzz::fuzz;
use std::fs::File;
use std::io::{self, pipe};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicBool;

/// What a step may take on a busy machine before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most files with one packet.
const MOST_FILES: usize = 8;
/// How often an endless peer says its last packet: more than a client may have regions.
const ENDLESS: usize = 300;
/// In the byte of a packet's files: it is the last, said without end.
const IS_ENDLESS: u8 = 0x80;
/// Kinds of files: none; memory with rings; a bell; one that is neither; a pipe, which shows whether it was closed.
const KINDS: u8 = 5;

/// One packet as the input has it: kind and number of its files, two bytes of length, the bytes.
fn packet(kind: u8, files: u8, bytes: &[u8]) -> Vec<u8> {
    let len = (bytes.len() as u16).to_le_bytes();
    [&[kind + KINDS * (files.max(1) - 1)][..], &len, bytes].concat()
}

/// A message as one packet, with the file it is to have.
fn said(message: &Message) -> Vec<u8> {
    let kind = match message {
        Message::AddRegion(_) => 1,
        Message::AddRing(_) => 2,
        _ => 0,
    };
    packet(kind, 1, &message.write())
}

/// What is right, and one input of each kind of wrong.
fn corpus(right: &[Message]) -> Vec<Vec<u8>> {
    let all = |packets: &[Vec<u8>]| packets.concat();
    let each: Vec<Vec<u8>> = right.iter().map(said).collect();
    let backwards: Vec<_> = each.iter().rev().cloned().collect();
    let with = |kind: u8, files: u8, len: usize| {
        let changed = right.iter().map(|message| {
            let mut bytes = message.write().to_vec();
            bytes.resize(len, 0);
            packet(kind, files, &bytes)
        });
        changed.collect::<Vec<_>>().concat()
    };
    let mut endless = said(&right[0]);
    let mut last = said(&Message::AddRegion(AddRegion { index: 0, size: 4096 }));
    last[0] |= IS_ENDLESS;
    endless.extend(last);
    vec![
        all(&each),
        all(&backwards),
        with(0, 1, MESSAGE_BYTES),
        with(4, 1, MESSAGE_BYTES),
        with(4, MOST_FILES as u8, MESSAGE_BYTES),
        with(0, 1, MESSAGE_BYTES - 1),
        with(0, 1, MESSAGE_BYTES + 1),
        with(0, 1, 0),
        endless,
        Vec::new(),
    ]
}

/// Sends one packet with these files. Whether the peer still takes any.
fn send(to: &OwnedFd, bytes: &[u8], files: &[OwnedFd]) -> bool {
    #[repr(C, align(8))]
    struct Control([u8; 64]);
    const _: () = assert!(size_of::<Control>() >= 16 + size_of::<libc::c_int>() * MOST_FILES);
    let mut vector = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = Control([0; 64]);
    // SAFETY: all-zero is a valid message header: no name, no data, no control.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    if !files.is_empty() {
        let len = size_of_val(files) as u32;
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: computes a size.
        header.msg_controllen = unsafe { libc::CMSG_SPACE(len) } as _;
        // SAFETY: `control` has room for one control message with the most files, and is aligned for it.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(len) as _;
            let data = libc::CMSG_DATA(first).cast::<libc::c_int>();
            for (index, file) in files.iter().enumerate() {
                data.add(index).write_unaligned(file.as_raw_fd());
            }
        }
    }
    let clock = Clock::start();
    loop {
        // SAFETY: the header leads to the vector, the bytes and the control message above, which all live.
        let sent = unsafe { libc::sendmsg(to.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
        if sent >= 0 {
            return true;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock {
            return false;
        }
        assert!(clock.now() < Instant::ZERO + PATIENCE, "the victim neither reads nor closes");
        sleep(Duration::from_us(50));
    }
}

/// Says what the input says, and then that it has no more to say. The pipes whose other ends went along.
fn lie(to: &OwnedFd, mut input: &[u8]) -> Vec<io::PipeReader> {
    let mut pipes = Vec::new();
    while let Some((&[files, low, high], rest)) = input.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([low, high]) % 1024);
        let (bytes, rest) = rest.split_at(len.min(rest.len()));
        input = rest;
        let (kind, count) = (files % IS_ENDLESS % KINDS, usize::from(files % IS_ENDLESS / KINDS) % MOST_FILES + 1);
        let times = if files & IS_ENDLESS == 0 { 1 } else { ENDLESS };
        for _ in 0..times {
            let mut file = || -> OwnedFd {
                match kind {
                    1 => sealed_with_rings(),
                    2 => Bell::new().expect("a bell").into(),
                    3 => File::open("/dev/null").expect("there is one").into(),
                    _ => {
                        let (reader, writer) = pipe().expect("a pipe");
                        pipes.push(reader);
                        writer.into()
                    }
                }
            };
            let files: Vec<OwnedFd> = if kind == 0 {
                Vec::new()
            } else {
                (0..count).map(|_| file()).collect()
            };
            if !send(to, bytes, &files) {
                return pipes;
            }
        }
    }
    // SAFETY: no memory is passed.
    unsafe { libc::shutdown(to.as_raw_fd(), libc::SHUT_WR) };
    pipes
}

/// A pipe whose writing end went along ends once that is closed. All have ended when all is over.
fn check_closed(pipes: &[io::PipeReader]) {
    for pipe in pipes {
        let [has_ended] = socket::wait([pipe.as_fd()], Some(std::time::Duration::from_secs(5)));
        assert!(has_ended, "a file that went along is still open");
    }
}

/// All that the other end says until it closes: the messages' names, and of the last what it complains of.
fn replies(from: &Channel) -> u64 {
    let clock = Clock::start();
    let mut behaviour = 0_u64;
    loop {
        match from.receive() {
            Ok(Some(received)) => {
                let what = match received.message.expect("what we say can be read") {
                    Message::Disconnect(_, why) => complaint(&why.to_string()),
                    message => complaint(message.name()),
                };
                behaviour = behaviour.wrapping_mul(31).wrapping_add(what);
            }
            Ok(None) => {
                assert!(clock.now() < Instant::ZERO + PATIENCE, "the victim goes on for ever");
                socket::wait([from.fd()], Some(std::time::Duration::from_secs(1)));
            }
            Err(_) => return behaviour,
        }
    }
}

/// A pair of joined sockets of packets.
fn pair() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: two descriptors are valid for writes.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }, 0, "a pair");
    // SAFETY: just opened and owned by nobody else.
    unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) }
}

/// A client's dialogue on `channel`.
fn dial(channel: &Channel) -> Result<Established, Refusal> {
    let (stop, bell) = (AtomicBool::new(false), Bell::new().expect("a bell"));
    client(&mut Conversation::new(&stop, &bell, channel), &interface())
}

#[test]
fn client_of_a_hostile_server_connects_or_refuses_in_time() {
    let [from_server, _] = conversation();
    fuzz("memif/socket/client", &corpus(&from_server), |input| {
        let (ours, theirs) = pair();
        let channel = Channel::from(ours);
        // All of it waits in the socket before we listen, unless there is no room for so much.
        let (met, pipes) = std::thread::scope(|scope| {
            let liar = scope.spawn(|| lie(&theirs, input));
            let met = dial(&channel);
            drop(channel);
            (met, liar.join().expect("does not panic"))
        });
        let behaviour = match &met {
            Ok(established) => {
                assert_eq!(established.ends.len(), 1, "as many queues as asked for");
                1
            }
            Err(why) => complaint(&why.text) & !1,
        };
        drop((met, theirs));
        check_closed(&pipes);
        behaviour
    });
}

#[test]
fn server_of_a_hostile_client_serves_the_next_one() {
    let place = format!("@netdyno-fuzz-{}", std::process::id());
    let attached = Attached::start(interface(), &place, Role::Server).expect("listens");
    let [_, from_client] = conversation();
    fuzz("memif/socket/server", &corpus(&from_client), |input| {
        let liar = socket::connect(&place).expect("somebody listens");
        let pipes = lie(liar.socket(), input);
        let behaviour = replies(&liar);
        drop(liar);
        let clock = Clock::start();
        loop {
            let channel = socket::connect(&place).expect("still listens");
            match dial(&channel) {
                Ok(_) => break,
                // The server has yet to notice that the last one went.
                Err(why) => assert!(clock.now() < Instant::ZERO + PATIENCE, "an honest client is refused: {}", why.text),
            }
        }
        check_closed(&pipes);
        behaviour
    });
    drop(attached);
}
