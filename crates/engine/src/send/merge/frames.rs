//! Frames in an order: when each is due, whose it is, and of which size.

/// Frames that a window is to hold.
pub const FRAMES: usize = 512;
/// And about the most it does.
pub const MOST_FRAMES: usize = 2 * FRAMES;
/// So many frames at one instant are worth a look at nothing else.
pub const SOME: usize = 8;

/// Frames, so many of the room there is for them.
#[derive(Debug)]
pub struct Frames {
    pub count: usize,
    pub times: Vec<u64>,
    pub lanes: Vec<u16>,
    pub sizes: Vec<u16>,
}

impl Frames {
    pub fn with_room(room: usize) -> Self {
        Self {
            count: 0,
            times: vec![0; room],
            lanes: vec![0; room],
            sizes: vec![0; room],
        }
    }

    /// Goes past the first `count`.
    pub fn drop_first(&mut self, count: usize) {
        self.times.copy_within(count..self.count, 0);
        self.lanes.copy_within(count..self.count, 0);
        self.sizes.copy_within(count..self.count, 0);
        self.count -= count;
    }

    /// Puts those of `other` behind them.
    pub fn append(&mut self, other: &Self) {
        let to = self.count..self.count + other.count;
        self.times[to.clone()].copy_from_slice(&other.times[..other.count]);
        self.lanes[to.clone()].copy_from_slice(&other.lanes[..other.count]);
        self.sizes[to].copy_from_slice(&other.sizes[..other.count]);
        self.count += other.count;
    }
}
