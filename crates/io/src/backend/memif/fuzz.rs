//! Hostile peers: whatever a peer says or writes into the rings, this end goes on or says what is wrong, and no byte is
//! touched outside of what was agreed.

mod control;

use super::ends::{Buffers, Receiver, Sender};
use super::handshake::{Interface, Refusal, Talk, admit, check_init, client, greet};
use super::memory::{Shared, sealed_file};
use super::message::{AddRegion, AddRing, Hello, Init, MODE_ETHERNET, Message, Text, VERSION};
use super::ring::{Regions, Ring};
use super::socket::{Bell, Received};
use crate::port::{MIN_SENT_BYTES, Slot};
use crate::time::Instant;
use netdyno_fuzz::fuzz;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

const MESSAGE_BYTES: usize = 128;
const MAX_FRAME: u32 = 300;

/// A sentence as a number, without the numbers in it: which complaint it was.
fn complaint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect::<String>()
        .hash(&mut hasher);
    hasher.finish()
}

fn interface() -> Interface {
    Interface {
        name: "west".to_owned(),
        id: 0,
        queues: 1,
        ring_log2: 3,
        max_frame: MAX_FRAME,
        secret: String::new(),
    }
}

/// What each side says in a conversation that succeeds.
fn conversation() -> [Vec<Message>; 2] {
    let name = Text::new("peer");
    let ring = |from_client, offset| {
        Message::AddRing(AddRing {
            from_client,
            index: 0,
            region: 0,
            offset,
            ring_log2: 3,
            private_header: 0,
        })
    };
    let hello = Hello {
        name,
        min_version: VERSION,
        max_version: VERSION,
        max_region: 1,
        max_to_client: 0,
        max_from_client: 0,
        max_ring_log2: 10,
    };
    let init = Init {
        version: VERSION,
        id: 0,
        mode: MODE_ETHERNET,
        secret: Text::new(""),
        name,
    };
    let acks = [Message::Ack; 4];
    [
        [&[Message::Hello(hello)][..], &acks, &[Message::Connected(name)]].concat(),
        vec![
            Message::Init(init),
            Message::AddRegion(AddRegion { index: 0, size: 4096 }),
            ring(true, 0),
            ring(false, 1024),
            Message::Connect(name),
        ],
    ]
}

/// Messages of 128 bytes, one behind the other, each with a byte that says which file comes with it.
fn written(messages: &[Message]) -> Vec<u8> {
    let with_file = |message: &Message| match message {
        Message::AddRegion(_) => 1,
        Message::AddRing(_) => 2,
        _ => 0,
    };
    messages
        .iter()
        .flat_map(|message| message.write().into_iter().chain([with_file(message)]))
        .collect()
}

/// A peer that says what the input says.
struct Liar<'a> {
    input: &'a [u8],
    heard: usize,
}

impl Talk for Liar<'_> {
    fn hear(&mut self) -> Result<Received, String> {
        let Some((message, rest)) = self.input.split_at_checked(MESSAGE_BYTES) else {
            return Err("the peer is gone".to_owned());
        };
        self.heard += 1;
        let (file, rest) = rest.split_first().unwrap_or((&0, rest));
        self.input = rest;
        // None; memory with rings; a bell; one that is neither.
        let file: Option<OwnedFd> = match file % 4 {
            1 => Some(sealed_with_rings()),
            2 => Some(Bell::new().expect("a bell").into()),
            3 => Some(File::open("/dev/null").expect("there is one").into()),
            _ => None,
        };
        Ok(Received {
            message: Message::read(message),
            file,
        })
    }

    fn say(&mut self, _: &Message, _: Option<BorrowedFd<'_>>) -> Result<(), String> {
        Ok(())
    }
}

/// A file of one page with two empty rings, as a client makes it.
fn sealed_with_rings() -> OwnedFd {
    let file = sealed_file(4096).expect("a file");
    let regions: Regions = [Shared::map(&file, 4096, false).expect("mapped")].into();
    for offset in [0, 1024] {
        Ring::new(&regions, 0, offset, 3).expect("fits").initialize();
    }
    file
}

#[test]
fn messages_are_read_or_refused_with_a_reason() {
    let corpus: Vec<Vec<u8>> = conversation()
        .concat()
        .iter()
        .chain([&Message::disconnect("no such interface")])
        .map(|message| message.write().to_vec())
        .collect();
    fuzz("memif/message", &corpus, |bytes| match Message::read(bytes) {
        Err(why) => complaint(&why),
        Ok(message) => {
            assert_eq!(Message::read(&message.write()), Ok(message), "what is understood can be said again");
            complaint(message.name())
        }
    });
}

#[test]
fn a_handshake_with_a_liar_ends_in_a_connection_or_a_reason() {
    let [from_server, from_client] = conversation();
    for (name, right) in [("memif/client", &from_server), ("memif/server", &from_client)] {
        let as_client = name == "memif/client";
        let talk = |liar: &mut Liar<'_>| -> Result<_, Refusal> {
            if as_client {
                client(liar, &interface())
            } else {
                let init = greet(liar, interface().queues)?;
                check_init(&init, &interface())?;
                admit(liar, &init, &interface())
            }
        };
        let input = written(right);
        let mut honest = Liar { input: &input, heard: 0 };
        if let Err(why) = talk(&mut honest) {
            panic!("{name}: what is right was refused after {} messages: {}", honest.heard, why.text);
        }
        fuzz(name, &[input], |input| {
            let mut liar = Liar { input, heard: 0 };
            let met = match talk(&mut liar) {
                Ok(established) => {
                    assert_eq!(established.ends.len(), 1, "as many queues as asked for");
                    1
                }
                Err(why) => complaint(&why.text) & !0xff,
            };
            met | liar.heard as u64
        });
    }
}

/// The rings and the memory behind them are what the input says, and change under our hands.
#[test]
fn rings_full_of_lies_are_read_and_written_within_their_bounds() {
    const RING: usize = 128 + 16 * 8;
    const BYTES: usize = 4096;
    let file = sealed_file(BYTES).expect("a file");
    let peer = File::from(file.try_clone().expect("a second one"));
    let regions: Regions = [Shared::map(&file, BYTES, false).expect("mapped")].into();
    let ring = || Ring::new(&regions, 0, 0, 3).expect("fits");
    // An honest ring of four frames behind it: cookie, head, and descriptors of flags, region, length, offset.
    ring().initialize();
    let mut right = vec![0; RING];
    {
        let memory = File::from(file.try_clone().expect("a third"));
        memory.read_exact_at(&mut right, 0).expect("read");
    }
    right[6..8].copy_from_slice(&4_u16.to_ne_bytes());
    for index in 0..8 {
        let at = 128 + 16 * index;
        right[at + 4..at + 8].copy_from_slice(&(60 + 30 * index as u32).to_ne_bytes());
        right[at + 8..at + 12].copy_from_slice(&(512 + 400 * index as u32).to_ne_bytes());
    }
    let mut chained = right.clone();
    chained[128] = 1;
    let own = Buffers::Own { first: 512, stride: 448 };
    let stride = Receiver::slot_bytes(MAX_FRAME);
    fuzz("memif/rings", &[right, chained], |input| {
        let mut memory = vec![0; stride * 8];
        let mut behaviour = 0_u64;
        let mut note = |what: u64| behaviour = behaviour.wrapping_mul(31).wrapping_add(what);
        for buffers in [own, Buffers::Peer] {
            let write = |bytes: &[u8]| peer.write_all_at(&bytes[..bytes.len().min(BYTES)], 0).expect("written");
            write(input);
            match Receiver::new(ring(), buffers, MAX_FRAME) {
                Err(why) => note(complaint(&why)),
                Ok(mut receiver) => {
                    for round in 0..3 {
                        // What comes now was not there when it was set up.
                        write(&input[..input.len().min(RING)]);
                        if let Err(why) = receiver.has_frames(round, Instant::ZERO, || Instant::ZERO) {
                            note(complaint(&why));
                            break;
                        }
                        let empty = Slot {
                            offset: 0,
                            len: 0,
                            at: Instant::ZERO,
                        };
                        let mut slots = [empty; 8];
                        match receiver.receive(&mut memory, &mut slots, Instant::ZERO) {
                            Err(why) => {
                                note(complaint(&why));
                                break;
                            }
                            Ok(found) => {
                                note(found.frames as u64 * 16 + found.cut as u64);
                                for slot in &slots[..found.frames] {
                                    assert!((MIN_SENT_BYTES..=MAX_FRAME).contains(&slot.len), "{slot:?}");
                                    assert!(slot.offset as usize + slot.len as usize <= memory.len(), "{slot:?}");
                                }
                            }
                        }
                    }
                }
            }
            write(input);
            match Sender::new(ring(), buffers) {
                Err(why) => note(complaint(&why)),
                Ok(mut sender) => {
                    write(&input[..input.len().min(RING)]);
                    let slots = [0, 1, 2].map(|index| Slot {
                        offset: index * stride as u32,
                        len: 60 + 100 * index,
                        at: Instant::ZERO,
                    });
                    let sent = sender.room_for(3, Instant::ZERO).and_then(|room| {
                        assert!(room <= 8, "{room} of 8");
                        sender.send(&memory, &slots)
                    });
                    match sent {
                        Err(why) => note(complaint(&why)),
                        Ok((sent, _)) => {
                            assert!(sent <= 3);
                            note(sent as u64);
                        }
                    }
                }
            }
        }
        behaviour
    });
}
