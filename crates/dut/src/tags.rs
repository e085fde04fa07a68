//! The VLAN tags of frames, and which subinterface of a port they name.

use crate::header::{ETHERNET, TAGS, be16, be32};
use crate::spec::DeviceTag;
use netdyno_frame::parse::ethertype::VLAN;

/// Tags a frame may have.
pub(crate) const DEEPEST: usize = 8;
/// Bytes of a tag.
pub(crate) const TAG: usize = 4;
/// Where the tags of a frame begin: behind both MAC addresses.
pub(crate) const TAGS_AT: usize = 12;
/// TPID and VID of a tag: all but PCP and DEI.
const NAME: u32 = 0xffff_0fff;

/// Tags as a frame has them, outermost first, PCP and DEI 0; 0 behind the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stack {
    tags: [u32; DEEPEST],
    depth: u8,
}

impl Stack {
    /// `None` if there are no tags or too many, or one that no frame may have.
    pub(crate) fn new(tags: &[DeviceTag]) -> Option<Self> {
        let mut stack = Self::default();
        for tag in tags {
            if tag.vid > 4095 || !TAGS.contains(&tag.tpid) {
                return None;
            }
            stack.push(u32::from(tag.tpid) << 16 | u32::from(tag.vid))?;
        }
        (stack.depth > 0).then_some(stack)
    }

    /// The tags of `frame`; `None` if they are too many, or the frame ends in them.
    #[inline]
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let mut stack = Self::default();
        let mut at = TAGS_AT;
        while TAGS.contains(&be16(frame.get(at..at + 2)?, 0)) {
            let tag = be32(frame.get(at..at + TAG)?, 0);
            stack.push(tag & NAME)?;
            at += TAG;
        }
        Some(stack)
    }

    #[inline(always)]
    fn push(&mut self, tag: u32) -> Option<()> {
        *self.tags.get_mut(usize::from(self.depth))? = tag;
        self.depth += 1;
        Some(())
    }

    /// Returns the bytes of all tags.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        usize::from(self.depth) * TAG
    }

    /// Returns the tags, outermost first.
    #[inline]
    pub(crate) fn words(&self) -> &[u32] {
        &self.tags[..usize::from(self.depth)]
    }

    /// Returns the tags as a specification has them.
    pub(crate) fn to_spec(self) -> Vec<DeviceTag> {
        let tag = |word: &u32| DeviceTag {
            vid: *word as u16,
            tpid: (word >> 16) as u16,
        };
        self.words().iter().map(tag).collect()
    }

    #[inline]
    fn hash(&self) -> usize {
        let mixed = self
            .words()
            .iter()
            .fold(0, |hash: u64, word| (hash ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (mixed >> 32) as usize
    }
}

/// The subinterfaces of a port, found by their tags in a table of our own (open addressing).
#[derive(Debug)]
pub(crate) struct Tags {
    stacks: Vec<Stack>,
    /// Number plus one; 0 is empty. At most half full.
    table: Vec<u32>,
    /// The same of those with one 802.1Q tag, by its VID; empty if there are none.
    by_vid: Vec<u32>,
}

/// Whose a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The port's own: it has no tags.
    Port,
    /// That of a subinterface, by its number, with so many bytes of tags.
    Subinterface(usize, usize),
    /// Nobody's.
    Unknown,
}

impl Tags {
    /// # Errors
    /// The second of two that have the same tags.
    pub(crate) fn new(stacks: Vec<Stack>) -> Result<Self, usize> {
        let size = (stacks.len() * 2 + 1).next_power_of_two();
        let mut tags = Self {
            stacks,
            table: vec![0; size],
            by_vid: Vec::new(),
        };
        for number in 0..tags.stacks.len() {
            let place = tags.place(&tags.stacks[number]);
            if tags.table[place] != 0 {
                return Err(number);
            }
            tags.table[place] = number as u32 + 1;
            if let [tag] = *tags.stacks[number].words()
                && (tag >> 16) as u16 == VLAN
            {
                tags.by_vid.resize(4096, 0);
                tags.by_vid[tag as usize & 0x0fff] = number as u32 + 1;
            }
        }
        Ok(tags)
    }

    pub(crate) fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns the tags of each subinterface, in the order of the specification.
    pub(crate) fn stacks(&self) -> &[Stack] {
        &self.stacks
    }

    /// Whose `frame` is.
    #[inline(always)]
    pub(crate) fn whose(&self, frame: &[u8]) -> Whose {
        if let Some(head) = frame.first_chunk::<{ TAGS_AT + TAG + 2 }>() {
            let (kind, behind) = (be16(head, TAGS_AT), be16(head, TAGS_AT + TAG));
            if !TAGS.contains(&kind) {
                return Whose::Port;
            }
            let number = self.by_vid.get(usize::from(be16(head, TAGS_AT + 2)) & 0x0fff).copied().unwrap_or(0);
            if number > 0 && kind == VLAN && !TAGS.contains(&behind) {
                return Whose::Subinterface(number as usize - 1, TAG);
            }
        }
        self.whose_any(frame)
    }

    /// The same of any frame at all.
    #[inline(never)]
    fn whose_any(&self, frame: &[u8]) -> Whose {
        match Stack::of(frame) {
            Some(stack) if stack.bytes() == 0 => Whose::Port,
            Some(stack) => self
                .find(&stack)
                .map_or(Whose::Unknown, |number| Whose::Subinterface(number, stack.bytes())),
            None => Whose::Unknown,
        }
    }

    /// Which subinterface has these tags.
    fn find(&self, stack: &Stack) -> Option<usize> {
        (self.table[self.place(stack)] as usize).checked_sub(1)
    }

    #[inline]
    fn place(&self, stack: &Stack) -> usize {
        let mask = self.table.len() - 1;
        let mut at = stack.hash() & mask;
        while self.table[at] != 0 && self.stacks[self.table[at] as usize - 1] != *stack {
            at = (at + 1) & mask;
        }
        at
    }
}

/// Where the packet in a frame without tags ends: what is behind is padding. Of other than IP, where the frame does.
pub(crate) fn packet_end(frame: &[u8]) -> usize {
    let length = |at: usize, header: usize| {
        let bytes = frame.get(at..at + 2)?;
        Some(ETHERNET + header + usize::from(be16(bytes, 0)))
    };
    let end = match frame.get(TAGS_AT..ETHERNET) {
        Some([0x08, 0x00]) => length(ETHERNET + 2, 0),
        Some([0x86, 0xdd]) => length(ETHERNET + 4, 40),
        _ => None,
    };
    end.unwrap_or(frame.len()).clamp(ETHERNET.min(frame.len()), frame.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tag(vid: u16, tpid: u16) -> DeviceTag {
        DeviceTag { vid, tpid }
    }

    fn frame(tags: &[DeviceTag], tci: u16) -> Vec<u8> {
        let mut frame = vec![0xff; 12];
        for tag in tags {
            frame.extend(tag.tpid.to_be_bytes());
            frame.extend((tag.vid | tci).to_be_bytes());
        }
        frame.extend([8, 0, 0x45]);
        frame
    }

    #[test]
    fn tags_of_any_priority_name_their_subinterface() {
        let stacks = [
            vec![tag(7, 0x8100)],
            vec![tag(7, 0x88a8)],
            vec![tag(7, 0x88a8), tag(7, 0x8100)],
            vec![tag(4095, 0x9100); DEEPEST],
        ];
        let tags = Tags::new(stacks.iter().map(|tags| Stack::new(tags).unwrap()).collect()).unwrap();
        for (number, stack) in stacks.iter().enumerate() {
            for tci in [0, 0x1000, 0xf000] {
                let found = Whose::Subinterface(number, 4 * stack.len());
                let frame = frame(stack, tci);
                assert_eq!((tags.whose(&frame), tags.whose_any(&frame)), (found, found));
                assert_eq!(Stack::of(&frame).unwrap().to_spec(), *stack);
            }
        }
        for other in [vec![tag(8, 0x8100)], vec![tag(7, 0x8100); 2], vec![tag(7, 0x9200)]] {
            assert_eq!(tags.whose(&frame(&other, 0)), Whose::Unknown, "{other:?}");
        }
        assert_eq!(tags.whose(&frame(&[], 0)), Whose::Port);
    }

    #[test]
    fn tags_that_no_frame_may_have_are_refused() {
        assert_eq!(Stack::new(&[]), None);
        assert_eq!(Stack::new(&[tag(4096, 0x8100)]), None);
        assert_eq!(Stack::new(&[tag(1, 0x0800)]), None);
        assert_eq!(Stack::new(&[tag(1, 0x8100); 9]), None);
        let twice = vec![Stack::new(&[tag(1, 0x8100)]).unwrap(); 2];
        assert_eq!(Tags::new(twice).map(|tags| tags.len()), Err(1));
        assert_eq!(Stack::of(&frame(&[tag(1, 0x8100); 9], 0)), None, "too deep");
        assert_eq!(Stack::of(&frame(&[tag(1, 0x8100)], 0)[..16]), None, "the frame ends behind its tag");
    }

    proptest! {
        #[test]
        fn tags_of_many_are_all_found(vids in prop::collection::btree_set((0..4096_u16, prop::sample::select(vec![0x8100, 0x88a8])), 1..500)) {
            let stacks: Vec<Stack> = vids.iter().map(|(vid, tpid)| Stack::new(&[tag(*vid, *tpid)]).unwrap()).collect();
            let tags = Tags::new(stacks.clone()).unwrap();
            for (number, stack) in stacks.iter().enumerate() {
                prop_assert_eq!(tags.find(stack), Some(number));
            }
        }

        #[test]
        fn frames_go_the_short_way_as_they_go_the_other(
            frame in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 0x81, 0x88, 0xa8, 0x91]), 0..30),
            stacks in prop::collection::btree_set(
                prop::collection::vec((0..2_u16, prop::sample::select(vec![0x8100, 0x88a8, 0x9100])), 1..3),
                0..6,
            ),
        ) {
            let spec = |tags: &Vec<(u16, u16)>| tags.iter().map(|(vid, tpid)| tag(*vid, *tpid)).collect::<Vec<_>>();
            let stacks = stacks.iter().map(|tags| Stack::new(&spec(tags)).unwrap());
            let tags = Tags::new(stacks.collect()).unwrap();
            prop_assert_eq!(tags.whose(&frame), tags.whose_any(&frame));
        }

        #[test]
        fn packets_end_within_their_frame(frame in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(packet_end(&frame) <= frame.len());
        }
    }
}
