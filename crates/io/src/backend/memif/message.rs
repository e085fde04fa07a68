//! The control messages of memif 2.0: 128 bytes each, packed, in the byte order of the machine.
//!
//! Layouts as in DPDK's `drivers/net/memif/memif.h` and VPP's `memif.h`, which agree. All of a message that came in
//! is what somebody else wrote: numbers are taken as numbers, and checked where they are used.

use std::fmt;

/// Bytes of every message.
pub const MESSAGE_BYTES: usize = 128;
/// Version 2.0, the only one there is: major in the high byte.
pub const VERSION: u16 = 0x0200;
/// `ADD_RING`: the ring carries frames from the client to the server.
const FROM_CLIENT: u16 = 1;
/// `INIT`: frames are Ethernet frames.
pub const MODE_ETHERNET: u8 = 0;

/// Types of messages, as numbered on the wire.
mod kind {
    pub const ACK: u16 = 1;
    pub const HELLO: u16 = 2;
    pub const INIT: u16 = 3;
    pub const ADD_REGION: u16 = 4;
    pub const ADD_RING: u16 = 5;
    pub const CONNECT: u16 = 6;
    pub const CONNECTED: u16 = 7;
    pub const DISCONNECT: u16 = 8;
}

/// A text field of `N` bytes, up to its first zero. Without one, all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// As much of `text` as fits, with a zero behind it; cut between characters.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        let end = (0..N).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        Self(bytes)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    /// What the peer says is shown, but steers no terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        for character in String::from_utf8_lossy(&self.0[..end]).chars() {
            fmt::Write::write_char(f, if character.is_control() { '\u{fffd}' } else { character })?;
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The server's first message: what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its name, for people.
    pub name: Text<32>,
    /// Oldest version it speaks.
    pub min_version: u16,
    /// Newest version it speaks.
    pub max_version: u16,
    /// Highest index of a region.
    pub max_region: u16,
    /// Highest index of a ring to the client.
    pub max_to_client: u16,
    /// Highest index of a ring from the client.
    pub max_from_client: u16,
    /// Size of the largest ring, as a power of two.
    pub max_ring_log2: u8,
}

/// The client's first message: which interface it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init {
    /// Version it speaks.
    pub version: u16,
    /// Interface on this socket.
    pub id: u32,
    /// What frames are; [`MODE_ETHERNET`].
    pub mode: u8,
    /// Shared secret; all zero for none.
    pub secret: Text<24>,
    /// Its name, for people.
    pub name: Text<32>,
}

/// A region of memory that both can see; its file comes with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddRegion {
    /// Counted from 0.
    pub index: u16,
    /// Bytes.
    pub size: u64,
}

/// A ring in one of the regions; the file to wake its reader with comes with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddRing {
    /// From client to server, or the other way.
    pub from_client: bool,
    /// Counted from 0 in its direction.
    pub index: u16,
    /// Region it lies in.
    pub region: u16,
    /// Its first byte there.
    pub offset: u32,
    /// Descriptors, as a power of two.
    pub ring_log2: u8,
    /// Bytes of private data in front of every frame.
    pub private_header: u16,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The last message was taken.
    Ack,
    /// See [`Hello`].
    Hello(Hello),
    /// See [`Init`].
    Init(Init),
    /// See [`AddRegion`].
    AddRegion(AddRegion),
    /// See [`AddRing`].
    AddRing(AddRing),
    /// The client has said all: its interface's name.
    Connect(Text<32>),
    /// The server is ready: its interface's name.
    Connected(Text<32>),
    /// The end, with a code and the reason.
    Disconnect(u32, Text<96>),
}

impl Message {
    /// The end of a connection, with the reason.
    #[must_use]
    pub fn disconnect(why: &str) -> Self {
        Self::Disconnect(0, Text::new(why))
    }

    /// Returns the message's name, for people.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ack => "ACK",
            Self::Hello(_) => "HELLO",
            Self::Init(_) => "INIT",
            Self::AddRegion(_) => "ADD_REGION",
            Self::AddRing(_) => "ADD_RING",
            Self::Connect(_) => "CONNECT",
            Self::Connected(_) => "CONNECTED",
            Self::Disconnect(..) => "DISCONNECT",
        }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// If it has another size or type: which.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let Ok(bytes) = <&[u8; MESSAGE_BYTES]>::try_from(bytes) else {
            return Err(format!("a message of {} bytes; they have {MESSAGE_BYTES}", bytes.len()));
        };
        Ok(match u16::from_ne_bytes(at(bytes, 0)) {
            kind::ACK => Self::Ack,
            kind::HELLO => Self::Hello(Hello {
                name: Text(at(bytes, 2)),
                min_version: u16::from_ne_bytes(at(bytes, 34)),
                max_version: u16::from_ne_bytes(at(bytes, 36)),
                max_region: u16::from_ne_bytes(at(bytes, 38)),
                max_to_client: u16::from_ne_bytes(at(bytes, 40)),
                max_from_client: u16::from_ne_bytes(at(bytes, 42)),
                max_ring_log2: bytes[44],
            }),
            kind::INIT => Self::Init(Init {
                version: u16::from_ne_bytes(at(bytes, 2)),
                id: u32::from_ne_bytes(at(bytes, 4)),
                mode: bytes[8],
                secret: Text(at(bytes, 9)),
                name: Text(at(bytes, 33)),
            }),
            kind::ADD_REGION => Self::AddRegion(AddRegion {
                index: u16::from_ne_bytes(at(bytes, 2)),
                size: u64::from_ne_bytes(at(bytes, 4)),
            }),
            kind::ADD_RING => Self::AddRing(AddRing {
                from_client: u16::from_ne_bytes(at(bytes, 2)) & FROM_CLIENT != 0,
                index: u16::from_ne_bytes(at(bytes, 4)),
                region: u16::from_ne_bytes(at(bytes, 6)),
                offset: u32::from_ne_bytes(at(bytes, 8)),
                ring_log2: bytes[12],
                private_header: u16::from_ne_bytes(at(bytes, 13)),
            }),
            kind::CONNECT => Self::Connect(Text(at(bytes, 2))),
            kind::CONNECTED => Self::Connected(Text(at(bytes, 2))),
            kind::DISCONNECT => Self::Disconnect(u32::from_ne_bytes(at(bytes, 2)), Text(at(bytes, 6))),
            other => return Err(format!("unknown message type {other}")),
        })
    }

    /// Writes the message.
    #[must_use]
    pub fn write(&self) -> [u8; MESSAGE_BYTES] {
        let mut bytes = [0; MESSAGE_BYTES];
        let mut put = |offset: usize, field: &[u8]| bytes[offset..][..field.len()].copy_from_slice(field);
        match self {
            Self::Ack => put(0, &kind::ACK.to_ne_bytes()),
            Self::Hello(hello) => {
                put(0, &kind::HELLO.to_ne_bytes());
                put(2, &hello.name.0);
                put(34, &hello.min_version.to_ne_bytes());
                put(36, &hello.max_version.to_ne_bytes());
                put(38, &hello.max_region.to_ne_bytes());
                put(40, &hello.max_to_client.to_ne_bytes());
                put(42, &hello.max_from_client.to_ne_bytes());
                put(44, &[hello.max_ring_log2]);
            }
            Self::Init(init) => {
                put(0, &kind::INIT.to_ne_bytes());
                put(2, &init.version.to_ne_bytes());
                put(4, &init.id.to_ne_bytes());
                put(8, &[init.mode]);
                put(9, &init.secret.0);
                put(33, &init.name.0);
            }
            Self::AddRegion(region) => {
                put(0, &kind::ADD_REGION.to_ne_bytes());
                put(2, &region.index.to_ne_bytes());
                put(4, &region.size.to_ne_bytes());
            }
            Self::AddRing(ring) => {
                put(0, &kind::ADD_RING.to_ne_bytes());
                put(2, &(u16::from(ring.from_client) * FROM_CLIENT).to_ne_bytes());
                put(4, &ring.index.to_ne_bytes());
                put(6, &ring.region.to_ne_bytes());
                put(8, &ring.offset.to_ne_bytes());
                put(12, &[ring.ring_log2]);
                put(13, &ring.private_header.to_ne_bytes());
            }
            Self::Connect(name) => {
                put(0, &kind::CONNECT.to_ne_bytes());
                put(2, &name.0);
            }
            Self::Connected(name) => {
                put(0, &kind::CONNECTED.to_ne_bytes());
                put(2, &name.0);
            }
            Self::Disconnect(code, why) => {
                put(0, &kind::DISCONNECT.to_ne_bytes());
                put(2, &code.to_ne_bytes());
                put(6, &why.0);
            }
        }
        bytes
    }
}

/// The field of `N` bytes at `offset`.
fn at<const N: usize>(bytes: &[u8; MESSAGE_BYTES], offset: usize) -> [u8; N] {
    bytes[offset..][..N].try_into().expect("every field lies inside a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes a C compiler makes of DPDK's packed structures.
    #[test]
    fn messages_lie_as_in_the_protocols_header() {
        let mut hello = [0; MESSAGE_BYTES];
        hello[..2].copy_from_slice(&[2, 0]);
        hello[2..6].copy_from_slice(b"peer");
        hello[34..45].copy_from_slice(&[0x00, 0x02, 0x00, 0x02, 0xff, 0x00, 0x03, 0x00, 0x01, 0x00, 14]);
        let read = Message::read(&hello).expect("reads");
        let Message::Hello(it) = read else { panic!("{read:?}") };
        assert_eq!(it.name.to_string(), "peer");
        assert_eq!((it.min_version, it.max_version, it.max_region), (VERSION, VERSION, 255));
        assert_eq!((it.max_to_client, it.max_from_client, it.max_ring_log2), (3, 1, 14));
        assert_eq!(read.write(), hello);

        let mut ring = [0; MESSAGE_BYTES];
        ring[..15].copy_from_slice(&[5, 0, 1, 0, 7, 0, 2, 0, 0x78, 0x56, 0x34, 0x12, 10, 0x02, 0x01]);
        let read = Message::read(&ring).expect("reads");
        let Message::AddRing(it) = read else { panic!("{read:?}") };
        assert_eq!((it.from_client, it.index, it.region), (true, 7, 2));
        assert_eq!((it.offset, it.ring_log2, it.private_header), (0x1234_5678, 10, 0x0102));
        assert_eq!(read.write(), ring);

        let mut init = [0; MESSAGE_BYTES];
        init[..9].copy_from_slice(&[3, 0, 0x00, 0x02, 4, 3, 2, 1, 0]);
        init[9..15].copy_from_slice(b"secret");
        init[33..37].copy_from_slice(b"name");
        let read = Message::read(&init).expect("reads");
        let Message::Init(it) = read else { panic!("{read:?}") };
        assert_eq!((it.version, it.id, it.mode), (VERSION, 0x0102_0304, MODE_ETHERNET));
        assert_eq!(
            (it.secret.to_string(), it.name.to_string()),
            ("secret".to_owned(), "name".to_owned())
        );
        assert_eq!(read.write(), init);
    }

    #[test]
    fn texts_end_at_a_zero_or_with_their_field_and_steer_no_terminal() {
        let mut bytes = Message::disconnect(&"ä".repeat(60)).write();
        let Ok(Message::Disconnect(0, why)) = Message::read(&bytes) else {
            panic!()
        };
        assert_eq!(why.to_string(), "ä".repeat(47), "cut between characters, a zero behind it");
        bytes[6..102].fill(b'x');
        bytes[7] = 0x1b;
        let Ok(Message::Disconnect(0, why)) = Message::read(&bytes) else {
            panic!()
        };
        assert_eq!(why.to_string(), format!("x\u{fffd}{}", "x".repeat(94)));
    }
}
