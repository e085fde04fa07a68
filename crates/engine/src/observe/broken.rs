//! What came broken of each flow: of few most often, of all where a device breaks all it forwards.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Once one in so many flows is known here, a place for each takes less memory than looking them up.
const MANY: usize = 8;

/// What came broken of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfFlow {
    /// Distinct frames.
    pub count: u32,
    /// Where the last of those that were ahead of all others left the flow's next number, 0 if there was none; and what that
    /// would be then by the intact ones alone.
    pub next: u32,
    pub intact: u32,
}

/// Flows by number: each intact frame is looked up once something came broken.
#[derive(Clone, Copy, Debug, Default)]
struct ByNumber(u64);

impl Hasher for ByNumber {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4): the high bits are mixed well, and
        // the table looks at the low ones, too.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// Of all flows. Its memory grows with those of which something came broken.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    /// By flow, as long as they are few.
    few: HashMap<u32, OfFlow, BuildHasherDefault<ByNumber>>,
    /// Else one for each flow.
    all: Vec<OfFlow>,
}

impl Broken {
    /// What came broken of flow `flow`, if something did.
    #[inline]
    pub fn get(&self, flow: usize) -> Option<&OfFlow> {
        if self.all.is_empty() {
            self.few.get(&(flow as u32))
        } else {
            self.all.get(flow)
        }
    }

    /// As [`Self::get`].
    pub fn get_mut(&mut self, flow: usize) -> Option<&mut OfFlow> {
        if self.all.is_empty() {
            self.few.get_mut(&(flow as u32))
        } else {
            self.all.get_mut(flow)
        }
    }

    /// The place of flow `flow`, one of `flows`.
    pub fn of(&mut self, flow: usize, flows: usize) -> &mut OfFlow {
        if self.all.is_empty() && self.few.len() * MANY >= flows {
            self.all = vec![OfFlow::default(); flows];
            for (flow, found) in std::mem::take(&mut self.few) {
                self.all[flow as usize] = found;
            }
        }
        if self.all.is_empty() {
            self.few.entry(flow as u32).or_default()
        } else {
            &mut self.all[flow]
        }
    }

    /// The flows of which something came broken, and how many distinct frames.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let few = self.few.iter().map(|(&flow, found)| (flow as usize, found.count));
        let all = self.all.iter().map(|found| found.count).enumerate();
        few.chain(all).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_few_flows_stays_known_when_they_are_many() {
        let (flows, mut broken) = (100, Broken::default());
        for flow in (0..flows).step_by(3) {
            for more in 0..=flow {
                broken.of(flow, flows).count += 1;
                broken.of(flow, flows).next = more as u32;
            }
        }
        let mut found: Vec<_> = broken.counts().collect();
        found.sort_unstable();
        let told: Vec<_> = (0..flows).step_by(3).map(|flow| (flow, flow as u32 + 1)).collect();
        assert_eq!(found, told);
        assert!(
            told.iter()
                .all(|&(flow, count)| broken.get(flow).is_some_and(|one| one.next + 1 == count))
        );
    }

    #[test]
    fn memory_grows_with_the_flows_that_came_broken() {
        let (flows, mut broken) = (1 << 27, Broken::default());
        for flow in (0..flows).step_by(1 << 17) {
            broken.of(flow, flows).count += 1;
        }
        assert!(broken.few.capacity() < 4096 && broken.all.is_empty());
        assert_eq!(broken.counts().count(), 1024);
        assert!(broken.get(1).is_none());
    }
}
