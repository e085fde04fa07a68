//! Counts by place, in blocks that are there from when something is first counted in them.
//!
//! There may be thousands of streams with two histograms each, whose times lie in a few places of 25,600. As one array those
//! of a stream that left a second late were 170 kB, made when its frames were due and so late again.

use netdyno_io::region::prefetch;

/// Places of a block, half a kilobyte.
const BLOCK: usize = 64;

/// Counts of places below `MOST`.
#[derive(Clone, Debug)]
pub struct Places<const MOST: usize> {
    /// Where the block of each [`BLOCK`] places begins in this very list, four of them to a word, 0 where there is none; behind
    /// them the blocks. In one list, so that what changes with each frame lies in one line of the cache.
    words: Vec<u64>,
    /// The block counted in last, and where it begins: most often it is the next one too.
    block: u32,
    begins: u32,
}

impl<const MOST: usize> Places<MOST> {
    /// Words of the beginnings.
    const BEGINNINGS: usize = MOST.div_ceil(BLOCK).div_ceil(4);
    /// A beginning has 16 bits.
    const FITS: () = assert!(MOST.is_multiple_of(BLOCK) && Self::BEGINNINGS + MOST <= 1 << 16);

    pub fn new() -> Self {
        let () = Self::FITS;
        let mut words = Vec::with_capacity(Self::BEGINNINGS + BLOCK);
        words.resize(Self::BEGINNINGS, 0);
        Self {
            words,
            block: u32::MAX,
            begins: 0,
        }
    }

    /// Counts `count` in `place`. Whether there is such a place.
    #[inline(always)]
    pub fn add(&mut self, place: usize, count: u64) -> bool {
        if (place / BLOCK) as u32 != self.block && !self.turn(place) {
            return false;
        }
        self.words[self.begins as usize + place % BLOCK] += count;
        true
    }

    /// Prefetches `place`, if it is in the block that was counted in last.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) {
        if (place / BLOCK) as u32 == self.block
            && let Some(counted) = self.words.get(self.begins as usize + place % BLOCK)
        {
            prefetch(counted);
        }
    }

    /// Goes to the block of `place`. Whether there is such a place.
    #[inline(always)]
    fn turn(&mut self, place: usize) -> bool {
        let block = place / BLOCK;
        if place >= MOST {
            return false;
        }
        let begins = self.begins(block);
        (self.block, self.begins) = (block as u32, begins as u32);
        if begins == 0 {
            self.make_room(block);
        }
        true
    }

    #[inline(always)]
    fn begins(&self, block: usize) -> usize {
        (self.words[block / 4] >> (block % 4 * 16)) as usize & 0xffff
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, block: usize) {
        let begins = self.words.len();
        self.words.resize(begins + BLOCK, 0);
        self.words[block / 4] |= (begins as u64) << (block % 4 * 16);
        self.begins = begins as u32;
    }

    /// Places with a count, in their order, and the counts.
    pub fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let blocks = (0..MOST.div_ceil(BLOCK)).map(|block| (block * BLOCK, self.begins(block)));
        let counts = blocks
            .filter(|&(_, begins)| begins > 0)
            .flat_map(|(first, begins)| (first..).zip(self.words[begins..begins + BLOCK].iter().copied()));
        counts.filter(|&(_, count)| count > 0)
    }
}
