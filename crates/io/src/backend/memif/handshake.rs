//! How two ends come to share rings: the dialogue of each role, and the memory a client makes.
//!
//! The server says what it can do; the client asks for an interface, passes its memory and its rings, each answered, and
//! both say that they are connected. Whatever does not fit ends the dialogue with the reason, which is sent to the other.

use super::ends::{Buffers, Receiver, Sender};
use super::memory::{self, Shared};
use super::message::{AddRegion, AddRing, Hello, Init, MODE_ETHERNET, Message, Text, VERSION};
use super::ring::{MOST_LOG2, Regions, Ring};
use super::socket::{Bell, Received, is_bell};
use crate::region::stride_for;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What we call ourselves.
const NAME: &str = concat!("netdyno ", env!("CARGO_PKG_VERSION"));
/// The most regions a client may have, as with DPDK and VPP.
const MOST_REGIONS: usize = 256;
/// The most memory of a peer that is mapped: address space, not memory of ours.
const MOST_BYTES: u64 = 1 << 36;
/// Regions are made present at once while all of a peer's together are no more than this. Making a page present takes
/// memory, even where the peer has none of its own behind it (a sparse file); and more is that of a whole packet processor,
/// whose pages are there.
const PRESENT_BYTES: u64 = 1 << 26;
/// Rings begin at a multiple of this: a pair of cache lines, since neighbours are fetched together.
const RING_ALIGN: usize = 128;

/// What this end is.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The port's name, for people.
    pub name: String,
    /// Which interface of the socket.
    pub id: u32,
    /// Rings each way.
    pub queues: u16,
    /// Descriptors of a ring, as a power of two (client).
    pub ring_log2: u8,
    /// The longest frame, without FCS.
    pub max_frame: u32,
    /// Shared secret, or nothing.
    pub secret: String,
}

/// Both ends of one queue.
#[derive(Debug)]
pub struct Ends {
    /// Writes frames.
    pub sender: Sender,
    /// Reads frames.
    pub receiver: Receiver,
}

/// What the two ends agreed on.
#[derive(Debug)]
pub struct Established {
    /// Ends by queue.
    pub ends: Vec<Ends>,
    /// What wakes the peer's reader, by queue.
    pub bells: Vec<OwnedFd>,
    /// What the peer calls itself.
    pub peer: String,
}

/// Why the two ends did not come together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In words, sent to the peer too if it was not the one who said them.
    pub text: String,
    /// Whether it is because the peer has fewer queues than this end.
    pub has_fewer_queues: bool,
}

impl Refusal {
    fn fewer_queues(text: String) -> Self {
        Self {
            text,
            has_fewer_queues: true,
        }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self {
            text,
            has_fewer_queues: false,
        }
    }
}

/// A conversation with the peer. Errors say why it is over.
pub trait Talk {
    /// Waits for the next message. One that cannot be read is an error.
    ///
    /// # Errors
    /// If none comes in time, or the peer has closed.
    fn hear(&mut self) -> Result<Received, String>;
    /// Says something.
    ///
    /// # Errors
    /// If the peer is gone.
    fn say(&mut self, message: &Message, file: Option<BorrowedFd<'_>>) -> Result<(), String>;
}

/// The next message, if it is no `DISCONNECT`.
fn hear(talk: &mut dyn Talk) -> Result<(Message, Option<OwnedFd>), String> {
    let Received { message, file } = talk.hear()?;
    match message? {
        Message::Disconnect(_, why) => Err(format!("the peer refused: {why}")),
        message => Ok((message, file)),
    }
}

fn unexpected(got: &Message, wanted: &str) -> String {
    format!("got {}, expected {wanted}", got.name())
}

/// The client's side, from the server's first message to its last.
///
/// # Errors
/// Why the two do not come together.
pub fn client(talk: &mut dyn Talk, interface: &Interface) -> Result<Established, Refusal> {
    let (first, _) = hear(talk)?;
    let Message::Hello(hello) = first else {
        return Err(unexpected(&first, "HELLO").into());
    };
    if hello.min_version > VERSION || hello.max_version < VERSION {
        return Err(format!(
            "the peer speaks memif {}.{} to {}.{}, we 2.0",
            hello.min_version >> 8,
            hello.min_version & 0xff,
            hello.max_version >> 8,
            hello.max_version & 0xff
        )
        .into());
    }
    let most = u32::from(hello.max_from_client.min(hello.max_to_client)) + 1;
    if most < u32::from(interface.queues) {
        return Err(Refusal::fewer_queues(format!(
            "the peer takes {most} at most and this port has {} queues: give both as many",
            interface.queues
        )));
    }
    let log2 = interface.ring_log2.min(hello.max_ring_log2);
    let memory = ClientMemory::new(interface, log2)?;
    let acknowledged = |talk: &mut dyn Talk| match hear(talk)? {
        (Message::Ack, _) => Ok(()),
        (other, _) => Err(unexpected(&other, "ACK")),
    };
    let init = Init {
        version: VERSION,
        id: interface.id,
        mode: MODE_ETHERNET,
        secret: Text::new(&interface.secret),
        name: Text::new(NAME),
    };
    talk.say(&Message::Init(init), None)?;
    acknowledged(talk)?;
    let region = AddRegion {
        index: 0,
        size: memory.regions[0].len() as u64,
    };
    talk.say(&Message::AddRegion(region), Some(std::os::fd::AsFd::as_fd(&memory.file)))?;
    acknowledged(talk)?;
    let mut bells = Vec::new();
    for from_client in [true, false] {
        for index in 0..interface.queues {
            let bell = Bell::new().map_err(|why| format!("no event file: {why}"))?;
            let ring = AddRing {
                from_client,
                index,
                region: 0,
                offset: memory.ring_at(from_client, index),
                ring_log2: log2,
                private_header: 0,
            };
            talk.say(&Message::AddRing(ring), Some(bell.fd()))?;
            // It took the first ring this way: what it has against the next is their number.
            acknowledged(talk).map_err(|why| match index {
                0 => Refusal::from(why),
                _ => Refusal::fewer_queues(why),
            })?;
            if from_client {
                bells.push(bell.into());
            }
        }
    }
    talk.say(&Message::Connect(Text::new(&interface.name)), None)?;
    match hear(talk)? {
        (Message::Connected(_), _) => Ok(Established {
            ends: memory.into_ends(),
            bells,
            peer: hello.name.to_string(),
        }),
        (other, _) => Err(unexpected(&other, "CONNECTED").into()),
    }
}

/// The memory of a client: one sealed region with all rings, then all buffers.
struct ClientMemory {
    file: OwnedFd,
    regions: Regions,
    queues: u16,
    ring_bytes: usize,
    ends: Vec<Ends>,
}

/// Where the parts of a client's memory lie: bytes of a ring, where the buffers begin, from one to the next, bytes in all.
fn layout(interface: &Interface, log2: u8) -> (usize, usize, usize, usize) {
    let rings = 2 * usize::from(interface.queues);
    let ring_bytes = Ring::bytes(log2).next_multiple_of(RING_ALIGN);
    let stride = stride_for(interface.max_frame as usize);
    let buffers = rings * ring_bytes;
    (ring_bytes, buffers, stride, buffers + rings * (stride << log2))
}

/// Whether offsets of 32 bits reach all of a client's memory.
///
/// # Errors
/// If not: how much it would be.
pub fn check_size(interface: &Interface) -> Result<(), String> {
    let (.., bytes) = layout(interface, interface.ring_log2);
    match u32::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "{} rings of 2^{} frames of {} bytes take {} MiB; memif reaches 4096 MiB",
            2 * interface.queues,
            interface.ring_log2,
            interface.max_frame,
            bytes >> 20
        )),
    }
}

impl ClientMemory {
    fn new(interface: &Interface, log2: u8) -> Result<Self, String> {
        let (ring_bytes, buffers, stride, bytes) = layout(interface, log2);
        let failed = |what: &str, why| format!("{what} of {} KiB to share: {why}", bytes >> 10);
        let file = memory::sealed_file(bytes).map_err(|why| failed("a file", why))?;
        let shared = Shared::map(&file, bytes, true).map_err(|why| failed("a mapping", why))?;
        let mut memory = Self {
            file,
            regions: Regions::from([shared]),
            queues: interface.queues,
            ring_bytes,
            ends: Vec::new(),
        };
        for queue in 0..interface.queues {
            let end = |from_client: bool| {
                let number = memory.number(from_client, queue);
                let ring = Ring::new(&memory.regions, 0, memory.ring_at(from_client, queue), log2)?;
                ring.initialize();
                let first = buffers + number * (stride << log2);
                Ok::<_, String>((ring, Buffers::Own { first, stride }))
            };
            let (out, inward) = (end(true)?, end(false)?);
            memory.ends.push(Ends {
                sender: Sender::new(out.0, out.1)?,
                receiver: Receiver::new(inward.0, inward.1, interface.max_frame)?,
            });
        }
        Ok(memory)
    }

    /// The ends, once the peer is connected. DPDK's server sets both indices of a ring to zero before it says so: only now
    /// are the buffers given for good.
    fn into_ends(self) -> Vec<Ends> {
        for ends in &self.ends {
            ends.receiver.give_all();
        }
        self.ends
    }

    /// Rings from the client come first.
    fn number(&self, from_client: bool, index: u16) -> usize {
        usize::from(index) + if from_client { 0 } else { usize::from(self.queues) }
    }

    fn ring_at(&self, from_client: bool, index: u16) -> u32 {
        (self.number(from_client, index) * self.ring_bytes) as u32
    }
}

/// The server's first word, and what the client wants. `queues`: the most that any interface here has.
///
/// # Errors
/// Why the two do not come together; the client must be sent it.
pub fn greet(talk: &mut dyn Talk, queues: u16) -> Result<Init, String> {
    let hello = Hello {
        name: Text::new(NAME),
        min_version: VERSION,
        max_version: VERSION,
        max_region: MOST_REGIONS as u16 - 1,
        max_to_client: queues - 1,
        max_from_client: queues - 1,
        max_ring_log2: MOST_LOG2,
    };
    talk.say(&Message::Hello(hello), None)?;
    let (first, _) = hear(talk)?;
    match first {
        Message::Init(init) => Ok(init),
        other => Err(unexpected(&other, "INIT")),
    }
}

/// The server's side from there, once [`check_init`] found nothing, until the client has said all. Then the ends are there,
/// and the client must be sent [`connected`].
///
/// # Errors
/// Why the two do not come together; the client must be sent it.
pub fn admit(talk: &mut dyn Talk, init: &Init, interface: &Interface) -> Result<Established, Refusal> {
    talk.say(&Message::Ack, None)?;
    let mut offer = Offer::new(interface.queues);
    loop {
        match hear(talk)? {
            (Message::AddRegion(region), file) => offer.add_region(region, file)?,
            (Message::AddRing(ring), file) => offer.add_ring(ring, file)?,
            (Message::Connect(_), _) => return offer.accept(init.name.to_string(), interface.max_frame),
            (other, _) => return Err(unexpected(&other, "ADD_REGION, ADD_RING or CONNECT").into()),
        }
        talk.say(&Message::Ack, None)?;
    }
}

/// Builds the last message of a server.
pub fn connected(interface: &Interface) -> Message {
    Message::Connected(Text::new(&interface.name))
}

/// Whether what the client wants is what `interface` is, and it knows the secret.
///
/// # Errors
/// What is otherwise; the client must be sent it.
pub fn check_init(init: &Init, interface: &Interface) -> Result<(), String> {
    if init.version != VERSION {
        return Err(format!(
            "memif {}.{} is not supported, 2.0 is",
            init.version >> 8,
            init.version & 0xff
        ));
    }
    if init.id != interface.id {
        return Err(format!("no interface {} here; this one is {}", init.id, interface.id));
    }
    if init.mode != MODE_ETHERNET {
        return Err(format!("interface mode {} is not supported, Ethernet (0) is", init.mode));
    }
    if init.secret.to_string() != Text::<24>::new(&interface.secret).to_string() {
        return Err("the secret does not match".to_owned());
    }
    Ok(())
}

/// What a client has offered so far.
struct Offer {
    regions: Vec<Shared>,
    bytes: u64,
    /// From the client and to it, by queue.
    rings: [Vec<Option<(AddRing, OwnedFd)>>; 2],
}

impl Offer {
    fn new(queues: u16) -> Self {
        Self {
            regions: Vec::new(),
            bytes: 0,
            rings: [(); 2].map(|()| (0..queues).map(|_| None).collect()),
        }
    }

    fn add_region(&mut self, region: AddRegion, file: Option<OwnedFd>) -> Result<(), String> {
        let AddRegion { index, size } = region;
        let Some(file) = file else {
            return Err(format!("region {index} without its file"));
        };
        if usize::from(index) != self.regions.len() || self.regions.len() >= MOST_REGIONS {
            return Err(format!("got region {index}, expected region {}", self.regions.len()));
        }
        self.bytes = self.bytes.saturating_add(size);
        if size == 0 || self.bytes > MOST_BYTES {
            return Err(format!("region {index} of {size} bytes; all together may have {MOST_BYTES}"));
        }
        // Else the peer could end this process by making it shorter. Only then is it measured.
        if !memory::keeps_its_length(&file) {
            return Err(format!("region {index} is not sealed (F_SEAL_SHRINK): connect without zero-copy"));
        }
        let there = memory::length(&file).map_err(|why| format!("region {index}: its file has no length: {why}"))?;
        if there < size {
            return Err(format!("region {index} of {size} bytes; its file has {there}"));
        }
        let mapped = Shared::map(&file, size as usize, self.bytes <= PRESENT_BYTES);
        self.regions.push(mapped.map_err(|why| format!("region {index}: {why}"))?);
        Ok(())
    }

    fn add_ring(&mut self, ring: AddRing, file: Option<OwnedFd>) -> Result<(), String> {
        let (index, way) = (ring.index, if ring.from_client { "from" } else { "to" });
        let Some(file) = file else {
            return Err(format!("ring {index} {way} the client without its event file"));
        };
        if !is_bell(&file) {
            return Err(format!("ring {index} {way} the client with a file that is no event file"));
        }
        if ring.private_header != 0 {
            return Err(format!(
                "ring {index} {way} the client with a private header, which is not supported"
            ));
        }
        let rings = &mut self.rings[usize::from(!ring.from_client)];
        let queues = rings.len();
        match rings.get_mut(usize::from(index)) {
            None => Err(format!(
                "ring {index} {way} the client; this port has only {queues} each way: give both as many queues"
            )),
            Some(Some(_)) => Err(format!("ring {index} {way} the client twice")),
            Some(place) => {
                *place = Some((ring, file));
                Ok(())
            }
        }
    }

    fn accept(self, peer: String, max_frame: u32) -> Result<Established, Refusal> {
        let regions: Regions = self.regions.into();
        let queues = self.rings[0].len();
        let mut established = Established {
            ends: Vec::new(),
            bells: Vec::new(),
            peer,
        };
        let place = |(ring, bell): (AddRing, OwnedFd)| {
            let placed = Ring::new(&regions, ring.region, ring.offset, ring.ring_log2)?;
            placed.check_cookie()?;
            Ok::<_, String>((placed, bell))
        };
        let [from, to] = self.rings;
        for pair in from.into_iter().zip(to) {
            let (Some(from), Some(to)) = pair else {
                let given = established.ends.len();
                return Err(Refusal::fewer_queues(format!(
                    "{given} of {queues} queues have their rings: give both ends as many queues"
                )));
            };
            let ((from, _), (to, bell)) = (place(from)?, place(to)?);
            established.ends.push(Ends {
                sender: Sender::new(to, Buffers::Peer)?,
                receiver: Receiver::new(from, Buffers::Peer, max_frame)?,
            });
            established.bells.push(bell);
        }
        Ok(established)
    }
}
