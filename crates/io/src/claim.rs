//! Which frames are the tester's, on an interface that it shares with the kernel: plain data, compared byte by byte.

/// VLAN tags that are walked over.
pub const TAGS: usize = 2;
/// What announces a tag: 802.1Q, 802.1ad, and what came before that.
pub const TPIDS: [u16; 5] = [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300];

/// A kind of frame that is the tester's; a frame is of this kind if all that is said here is true of it.
///
/// Offsets count from layer 3: behind the addresses, up to two VLAN tags and the type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The type behind the tags; `None`: any.
    pub ethertype: Option<u16>,
    /// Bytes that are as they are said to be, in order of their offsets.
    pub bytes: Vec<ByteIs>,
    /// A sum that is as it is said to be.
    pub sum: Option<SumIs>,
}

/// The byte at `at` is `value` in the bits of `mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteIs {
    /// Offset from layer 3.
    pub at: u16,
    /// The bits that are compared.
    pub mask: u8,
    /// What they are; 0 elsewhere.
    pub value: u8,
}

/// The ones'-complement sum (RFC 1071) of `words` 16-bit words from `at` on is `sum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SumIs {
    /// Offset from layer 3.
    pub at: u16,
    /// How many words.
    pub words: u16,
    /// Their sum; 0 and 0xffff are the same.
    pub sum: u16,
}

impl Claim {
    /// Every frame.
    pub const EVERYTHING: Self = Self {
        ethertype: None,
        bytes: Vec::new(),
        sum: None,
    };

    /// Frames of this type.
    #[must_use]
    pub fn of_type(ethertype: u16) -> Self {
        Self {
            ethertype: Some(ethertype),
            ..Self::default()
        }
    }

    /// These of them whose bytes from `at` on are `value`.
    #[must_use]
    pub fn and(mut self, at: u16, value: &[u8]) -> Self {
        let bytes = (at..).zip(value).map(|(at, &value)| ByteIs { at, mask: 0xff, value });
        self.bytes.extend(bytes);
        self.bytes.sort_unstable();
        self
    }

    /// Whether it is true of `frame`. The definition, byte by byte; ports have faster ways, which are held to it.
    #[must_use]
    pub fn holds(&self, frame: &[u8]) -> bool {
        let word = |at: usize| frame.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        let mut at = 12;
        for _ in 0..TAGS {
            if word(at).is_some_and(|kind| TPIDS.contains(&kind)) {
                at += 4;
            }
        }
        let (Some(kind), Some(l3)) = (word(at), frame.get(at + 2..)) else {
            return false;
        };
        let byte_is = |is: &ByteIs| l3.get(usize::from(is.at)).is_some_and(|byte| byte & is.mask == is.value);
        let sum_is = |is: SumIs| {
            let Some(bytes) = l3.get(usize::from(is.at)..usize::from(is.at + 2 * is.words)) else {
                return false;
            };
            let sum: u64 = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair[1])).sum();
            sum % 0xffff == u64::from(is.sum) % 0xffff
        };
        self.ethertype.is_none_or(|it| it == kind) && self.bytes.iter().all(byte_is) && self.sum.is_none_or(sum_is)
    }

    /// How many bytes a frame has from layer 3 on, at least.
    #[must_use]
    pub fn reach(&self) -> u16 {
        let bytes = self.bytes.iter().map(|byte| byte.at + 1);
        bytes.chain(self.sum.map(|sum| sum.at + 2 * sum.words)).max().unwrap_or(0)
    }
}
